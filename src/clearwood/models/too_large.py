"""Numbers too large for a learner, with the column that holds them."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import InputError
from clearwood._shared.numbers import number
from clearwood.table import Encoder

__all__ = ["too_large_named"]


@contextmanager
def too_large_named(name: str, encoder: Encoder, encoded: Floats) -> Iterator[None]:
    """Name the column whose numbers are too large for single precision.

    Trees of scikit-learn and the boosting libraries hold columns in single precision; their error
    for a larger number does not name the column.
    """
    try:
        yield
    except ValueError as error:
        largest = np.nanmax(np.abs(encoded), axis=0, initial=0.0)
        at = int(np.argmax(largest))
        if largest[at] <= np.finfo(np.float32).max:
            raise
        column = encoder.columns_[at].source
        raise InputError(
            f"learner {name!r} cannot use numbers as large as {number(largest[at])}, which column "
            f"{column!r} has",
            parameter=column,
            value=float(largest[at]),
            hint="write the column in larger units, or choose a learner that standardises.",
        ) from error
