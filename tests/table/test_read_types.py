"""What type checkers know about the result of `read`: mypy reads this file, pytest runs it."""

from typing import Any, assert_type

import numpy as np
import pandas as pd

import clearwood as cw
from clearwood.table import Parts, Table


def test_the_type_of_what_is_read_follows_from_the_options() -> None:
    data = pd.DataFrame({"a": np.arange(8) / 3, "y": [0.5, 1.5] * 4})
    assert_type(cw.read(data, target="y"), Table | Any)
    assert_type(cw.read([data, data], parts=True), Parts)
    assert_type(cw.read([data, data], parts=False, target="y"), Table)
    assert_type(cw.read(data, draw_rows=3), Table)
    table = cw.read(data, target="y")
    assert table.y.sum() == 8.0  # of a table without having to rule out parts
    assert isinstance(cw.read([data, data], parts=True), Parts)
