"""Numbers that a learner cannot hold, put in the words of the table."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import InputError
from clearwood.table import Encoder

__all__ = ["too_large_named"]


@contextmanager
def too_large_named(name: str, encoder: Encoder, encoded: Floats) -> Iterator[None]:
    """Name the column whose numbers are too large for single precision.

    Trees of scikit-learn and the boosting libraries hold columns in single precision, and say of a
    larger number no more than that there is one.

    Parameters
    ----------
    name
        The learner's.
    encoder, encoded
        What made its columns, and the columns.
    """
    try:
        yield
    except ValueError as error:
        if "too large for dtype" not in str(error):
            raise
        at = int(np.nanargmax(np.nanmax(np.abs(encoded), axis=0)))
        largest = float(np.nanmax(np.abs(encoded[:, at])))
        raise InputError(
            f"learner {name!r} cannot take numbers as large as {largest:.3g}, which column "
            f"{encoder.columns_[at].source!r} has",
            hint="write the column in larger units, or take a learner that standardises.",
        ) from error
