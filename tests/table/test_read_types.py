"""What type checkers know about what is read: mypy reads this file, pytest runs it."""

from typing import assert_type

import numpy as np
import pandas as pd

import clearwood as cw
from clearwood.table import Parts, Table


def test_the_type_of_what_is_read_follows_from_the_verb() -> None:
    data = pd.DataFrame({"a": np.arange(8) / 3, "y": [0.5, 1.5] * 4})
    assert_type(cw.read(data, target="y"), Table)
    assert_type(cw.read([data, data], target="y"), Table)
    assert_type(cw.scan([data, data], target="y"), Parts)
    assert isinstance(cw.read([data, data]), Table)
    assert isinstance(cw.scan([data, data]), Parts)
