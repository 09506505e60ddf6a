"""What a network sees of encoded rows: numbers on one scale, and codes of categories."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.errors import InputError, Setting, words

__all__ = [
    "centre_and_spread",
    "checked_grid",
    "embedding_widths",
    "fits",
    "level_codes",
    "positions",
    "scaled",
]

#: Beyond this the square would be infinite, and the result is the bound to the last digit.
_FARTHEST = 1e100
_WIDEST = 16


def centre_and_spread(values: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Return weighted means of columns, and what to divide them by: their standard deviations.

    The two values of a column that has no others, such as an indicator of missing values, end one
    apart however rare one of them is: divided by its standard deviation, the indicator of two rows
    among 200 would be 10, and those two would decide for all rows to come. Columns that do not vary
    are divided by 1.

    Examples
    --------
    >>> rare = np.array([[0.0], [0.0], [0.0], [1.0]])
    >>> centre_and_spread(np.hstack([rare, [[2.0], [4.0], [6.0], [8.0]]]), np.ones(4))
    (array([0.25, 5.  ]), array([1.        , 2.23606798]))
    """
    share = weight / weight.sum()
    centre = share @ values
    spread = np.sqrt(share @ (values - centre) ** 2)
    counted = values[weight > 0]
    low, high = counted.min(axis=0), counted.max(axis=0)
    are_two = ((counted == low) | (counted == high)).all(axis=0)
    # what rounding leaves of a column that is constant
    still = spread <= 1e-12 * np.abs(values).max(axis=0, initial=0.0)
    return centre, np.where(still, 1.0, np.where(are_two, high - low, spread))


def scaled(values: Any, centre: Any, spread: Any, far: float) -> Any:
    """Standardise arrays or tensors, and draw far values in: z / √(1 + (z/far)²).

    The order of values is kept, and none is further from zero than ``far``, so that a single far
    value does not decide a prediction (Holzmüller, Grinsztajn and Steinwart 2024).

    Examples
    --------
    >>> scaled(np.array([5.0, 6.0, 1e9]), 5.0, 1.0, far=3.0).round(3)
    array([0.   , 0.949, 3.   ])
    """
    z = ((values - centre) / spread).clip(-_FARTHEST, _FARTHEST)
    return z / (1 + (z / far) ** 2) ** 0.5


def level_codes(values: Floats, levels: Sequence[int]) -> NDArray[np.int64]:
    """Return codes of categories; missing and unseen levels have the number after the last.

    Examples
    --------
    >>> level_codes(np.array([[1.0], [np.nan], [7.0]]), [3])
    array([[1],
           [3],
           [3]])
    """
    most = np.asarray(levels, np.float64).reshape(1, -1)
    known = (values >= 0) & (values < most)  # False where missing
    return np.where(known, values, most).astype(np.int64)


def embedding_widths(levels: Sequence[int], width: int | None) -> list[int]:
    """Return the length of the vectors of each category: half as many as levels, 2 to 16."""
    return [min(_WIDEST, max(2, (n + 1) // 2)) if width is None else width for n in levels]


def checked_grid(grid: Any, n_columns: int) -> tuple[int, int]:
    """Return the rows and columns of a grid that as many columns fill.

    Examples
    --------
    >>> checked_grid("2x3", 6), checked_grid(None, 64)
    ((2, 3), (8, 8))
    """
    value = grid
    if value is None:
        side = round(n_columns**0.5)
        if side**2 != n_columns:
            raise InputError(
                words(
                    f"{n_columns} columns form no square, and ",
                    Setting("grid"),
                    " does not say how they are arranged",
                ),
                parameter="grid",
                value=grid,
                hint=words(
                    "set the rows and columns that the cells fill row by row, such as ",
                    Setting("grid", (1, n_columns)),
                    ".",
                ),
            )
        return side, side
    if isinstance(value, str):
        value = [int(part) if part.isdigit() else part for part in value.split("x")]
    is_pair = isinstance(value, Sequence | np.ndarray) and len(value) == 2
    if not is_pair or not all(
        isinstance(one, int | np.integer) and not isinstance(one, bool) and one > 0 for one in value
    ):
        raise InputError(
            words(Setting("grid", grid), ": it must be two whole numbers above 0"),
            parameter="grid",
            value=grid,
            hint=words("write it as ", Setting("grid", (8, 8)), "."),
        )
    height, across = int(value[0]), int(value[1])
    if height * across != n_columns:
        raise InputError(
            words(
                Setting("grid", grid),
                f" has {height * across} cells, and the table has {n_columns} columns",
            ),
            parameter="grid",
            value=grid,
            hint="leave out the columns that are not cells, or correct the grid.",
        )
    return height, across


def fits(grid: Any, n_columns: int) -> bool:
    """Whether as many columns fill a grid."""
    try:
        checked_grid(grid, n_columns)
    except InputError:
        return False
    return True


def positions(categorical: Sequence[int], n_columns: int) -> tuple[Index, Index]:
    """Return the positions of numbers and of categories."""
    held = np.asarray(sorted(categorical), np.intp)
    return np.setdiff1d(np.arange(n_columns), held), held
