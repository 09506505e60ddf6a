"""Training rows of readable models: what a weight counts, and which columns hold codes."""

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import qr
from sklearn.utils.validation import _check_sample_weight

from clearwood._shared import checks
from clearwood._shared.arrays import Bools, Floats, Index
from clearwood._shared.errors import InputError, Setting
from clearwood._shared.weights import checked_weights

__all__ = [
    "check_choice",
    "check_classes",
    "check_counts",
    "check_real",
    "check_size",
    "check_whole",
    "in_levels",
    "independent_columns",
    "level_counts",
    "row_weights",
]


# Checks of the settings of learners: those of options, which name a setting.


check_whole = partial(checks.check_whole, kind=Setting)
check_real = partial(checks.check_real, kind=Setting)
check_choice = partial(checks.check_choice, kind=Setting)


# Which columns are linearly independent, to leave out the others.


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


def row_weights(sample_weight: ArrayLike | None, X: Floats) -> tuple[Floats, Bools]:
    """Return how many rows each row stands for, and which rows stand for any.

    Whole numbers are counts: a row of weight 2 is the same as two rows. Weights that are not whole
    numbers are scaled to a mean of 1, so that only their ratios matter.

    Examples
    --------
    >>> row_weights([2, 0, 1], np.zeros((3, 1)))
    (array([2., 1.]), array([ True, False,  True]))
    >>> row_weights([0.1, 0.3], np.zeros((2, 1)))[0].round(3)
    array([0.5, 1.5])
    """
    if sample_weight is None:
        return np.ones(len(X)), np.ones(len(X), bool)
    weight = checked_weights(_check_sample_weight(sample_weight, X, dtype=np.float64), len(X))
    used: Bools = weight > 0
    weight = weight[used]
    if not np.array_equal(weight, np.round(weight)):
        weight = weight / weight.mean()
    return weight, used


def level_counts(X: Floats, categorical: Sequence[int]) -> NDArray[np.int32]:
    """Return the number of levels of each column of codes, and 0 for columns of numbers.

    Examples
    --------
    >>> level_counts(np.array([[0.5, 2.0], [1.5, np.nan]]), [1])
    array([0, 3], dtype=int32)
    """
    levels = np.zeros(X.shape[1], np.int32)
    for column in categorical:
        codes = X[:, column]
        known = codes[~np.isnan(codes)]
        # a column without any code still is one of categories
        levels[column] = max(int(known.max(initial=0)) + 1, 1)
    return levels


def in_levels(member: Bools, codes: Floats) -> Bools:
    """Return which codes are in a set; its last entry is for missing and unseen levels.

    Examples
    --------
    >>> in_levels(np.array([True, False, True]), np.array([0.0, 1.0, 7.0, np.nan]))
    array([ True, False,  True,  True])
    """
    last = len(member) - 1
    known = (codes >= 0) & (codes < last)  # False where missing
    return np.asarray(member[np.where(known, codes, last).astype(np.intp)])


def check_counts(target: Floats) -> None:
    """Refuse targets that a log link cannot predict."""
    if target.min() < 0:
        raise InputError(
            f"counts must not be negative, and the smallest is {target.min():g}",
            parameter="target",
            value=float(target.min()),
            hint="use the task 'regression' for targets of either sign.",
        )
    if not target.any():
        raise InputError(
            "every target is zero", parameter="target", hint="there is nothing to learn."
        )


def check_size(target: Floats, weight: Floats, *, twice: bool = False) -> None:
    """Refuse targets whose squares, or with ``twice`` the squares of those, are infinite."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = float(weight @ target ** (4 if twice else 2))
    if not np.isfinite(total):
        raise InputError(
            f"the target is too large: {'squares of ' if twice else ''}its squares are infinite",
            parameter="target",
            value=float(np.abs(target).max()),
            hint="divide it by a power of ten.",
        )


def check_classes(n_classes: int) -> None:
    """Refuse a target of a single class."""
    if n_classes < 2:
        raise InputError(
            "the target has one class only",
            parameter="target",
            hint="a classifier needs rows of two classes or more.",
        )
