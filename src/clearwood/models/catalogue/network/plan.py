"""How a network is trained: settings, what those that are None become, and the rows held out."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Index
from clearwood._shared.errors import InputError, Setting, words
from clearwood._shared.numbers import count

__all__ = ["OPTIMIZERS", "SCHEDULES", "Plan", "held_out_rows", "usual_settings"]

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
class Plan:
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
