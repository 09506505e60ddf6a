"""Which columns are linearly independent, to leave out the others."""

import numpy as np
from scipy.linalg import qr

from clearwood._shared.arrays import Floats, Index

__all__ = ["independent_columns"]


def independent_columns(X: Floats) -> Index:
    """Return positions of columns that, with a constant, are independent and span the others.

    Examples
    --------
    >>> first = np.array([0.0, 1.0, 0.0, 1.0])
    >>> second = np.array([1.0, 1.0, 0.0, 0.0])
    >>> independent_columns(np.column_stack([first, 1 - first, second, np.ones(4)])).tolist()
    [0, 2]
    """
    centred = X - X.mean(axis=0)
    size = np.sqrt((centred**2).mean(axis=0))
    # a column that varies by rounding only is constant; the others count alike, whatever their unit
    varies = size > 1e-12 * np.maximum(1.0, np.abs(X).max(axis=0, initial=0.0))
    scaled = np.where(varies, centred / np.where(varies, size, 1.0), 0.0)
    _, triangle, order = qr(scaled, mode="economic", pivoting=True)
    diagonal = np.abs(np.diag(triangle))
    rank = np.count_nonzero(diagonal > 1e-9 * max(diagonal[0], 1e-300)) if diagonal.size else 0
    return np.sort(order[:rank])
