"""What a network is given, and how it is trained where nothing else is chosen."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.errors import InputError, Setting, words
from clearwood._shared.numbers import count

__all__ = [
    "OPTIMIZERS",
    "SCHEDULES",
    "TrainingPlan",
    "centre_and_spread",
    "checked_grid",
    "embedding_widths",
    "fits",
    "held_out_rows",
    "level_codes",
    "positions",
    "scaled",
    "usual_settings",
]


# How a network is trained: settings, what those that are None become, and the rows held out.


OPTIMIZERS = ("adam", "adamw", "sgd")
SCHEDULES = ("constant", "cosine", "step", "plateau")

#: From so many rows on, some are held out to decide when to stop. For classes early: a network that
#: goes on learning is soon certain of wrong answers, which the log loss of new rows shows first.
_ENOUGH_ROWS, _ENOUGH_FOR_CLASSES = 1_000, 200
#: The smallest batch of feed-forward networks: smaller ones take longer and predict no better.
_LEAST_BATCH = 128
#: Weight decay; where it is a penalty it weighs as much as this many rows.
_DECAY, _PENALTY = 0.01, 5.0
#: Fewer rows than this cannot tell one epoch from another.
_FEWEST_HELD_OUT = 8


@dataclass(frozen=True)
class TrainingPlan:
    """Settings of the training loop, with a value for each."""

    optimizer: str
    learning_rate: float
    momentum: float
    weight_decay: float
    schedule: str
    batch: int
    epochs: int
    patience: int
    clip: float


def usual_settings(
    n_rows: int, *, classes: int = 1, feed_forward: bool = False, monotone: bool = False
) -> dict[str, Any]:
    """Return settings for a number of rows, for those that are None.

    Parameters
    ----------
    n_rows
        Rows of training.
    classes
        How many; 1 for numbers, and 3 stands for more than two.
    feed_forward
        Whether it is the feed-forward network, whose weight decay is a penalty.
    monotone
        Whether it has to keep directions, which takes more steps to learn.

    Examples
    --------
    >>> usual_settings(400)
    {'batch_size': 64, 'epochs': 150, 'early_stopping': False, 'weight_decay': 0.01}
    >>> usual_settings(20_000, feed_forward=True)
    {'batch_size': 256, 'epochs': 60, 'early_stopping': True, 'weight_decay': 0.00025}
    """
    sizes = ((300, 32, 150), (1_000, 64, 150), (10_000, 128, 100), (np.inf, 256, 60))
    batch, epochs = next((batch, epochs) for below, batch, epochs in sizes if n_rows < below)
    enough = _ENOUGH_FOR_CLASSES if classes > 1 else _ENOUGH_ROWS
    decay = _DECAY
    if feed_forward:
        # few rows of each of several classes are missed more than the penalty leaves to gain
        enough = _ENOUGH_FOR_CLASSES if classes == 2 else _ENOUGH_ROWS
        batch = batch if monotone else max(batch, _LEAST_BATCH)
        decay = min(_DECAY, _PENALTY / max(n_rows, 1))
    return {
        "batch_size": batch,
        "epochs": epochs,
        "early_stopping": n_rows >= enough,
        "weight_decay": decay,
    }


def held_out_rows(n_rows: int, share: float, classes: NDArray[Any] | None, seed: int) -> Index:
    """Draw the rows that decide when to stop, the same share of every class."""
    rng = np.random.default_rng([seed, 7])
    groups = np.zeros(n_rows, np.intp) if classes is None else np.asarray(classes)
    chosen = []
    for group in np.unique(groups):
        members = rng.permutation(np.flatnonzero(groups == group))
        # at least one row of every class stays for training
        chosen.append(members[: min(round(share * len(members)), len(members) - 1)])
    rows = np.sort(np.concatenate(chosen))
    if len(rows) < _FEWEST_HELD_OUT:
        raise InputError(
            words(
                Setting("early_stopping", value=True),
                f" holds out {count(len(rows), 'row')} of {n_rows}, too few to decide when to stop",
            ),
            parameter="early_stopping",
            value=True,
            hint=words(
                "set ",
                Setting("early_stopping", value=False),
                " with a number of ",
                Setting("epochs"),
                ", or hold out more rows by ",
                Setting("validation"),
                ".",
            ),
        )
    return np.asarray(rows, np.intp)


# What a network sees of encoded rows: numbers on one scale, and codes of categories.


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
