"""Units of work: one learner, fitted on some rows and judged on others."""

import hashlib
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import InputError
from clearwood.benchmarking.fitting.contenders import Contender
from clearwood.benchmarking.fitting.target import target_codes
from clearwood.checks import LevelWarning
from clearwood.fitted import FittedModel
from clearwood.losses import Loss
from clearwood.models import TableModel
from clearwood.table import Table

__all__ = [
    "LOSSES_FOR_FEW_TREES",
    "Context",
    "Outcome",
    "Rows",
    "Trial",
    "Tuning",
    "Unit",
    "collected",
    "in_words",
    "judge",
    "outer_key",
    "row_losses",
    "seed_of",
]

Rows = NDArray[np.int64]
Purpose = Literal["outer", "pair", "final"]

#: Losses that a few trees serve as well as many. The log loss and the Poisson deviance do not: few
#: trees predict 0 now and then, which they punish without limit.
LOSSES_FOR_FEW_TREES = ("squared", "absolute", "brier", "zero-one")


@dataclass(frozen=True)
class Tuning:
    """How settings are chosen.

    Parameters
    ----------
    search
        Which configurations are tried: see `clearwood.benchmarking.tuning.searches.SEARCHES`.
    trials
        How many.
    inner
        Folds of the cross-validation they are judged by.
    rule
        "best" takes the smallest risk; "one_se" the simplest within one standard error of it.
    racing
        Give up configurations that are clearly worse before all folds are done.
    time_limit
        Seconds after which no further configuration is begun.
    """

    search: str = "random"
    trials: int = 30
    inner: int = 5
    rule: Literal["best", "one_se"] = "best"
    racing: bool = True
    time_limit: float | None = None


@dataclass(frozen=True)
class Trial:
    """One configuration that tuning has tried.

    Parameters
    ----------
    settings
        The values tried.
    risk, se
        Mean loss on held-out inner folds, and its standard error over rows.
    folds
        How many inner folds it was judged on; racing stops hopeless ones early.
    share
        The share of the training rows it was fitted on (below 1 in halving and Hyperband).
    seconds
        How long it took.
    failure
        Why it has no risk, if it has none.
    is_past_best
        Whether it has no risk because growing ended before its number of trees: more trees had
        stopped helping. That is not an error.
    """

    settings: Mapping[str, Any]
    risk: float
    se: float
    folds: int
    share: float = 1.0
    seconds: float = 0.0
    failure: str | None = None
    is_past_best: bool = False


@dataclass(frozen=True)
class Unit:
    """Fit one contender on ``train`` and judge it on ``test``.

    Parameters
    ----------
    learner
        The contender's name.
    purpose
        "outer" is a fold of plain cross-validation; "pair" leaves two folds out, for the nested
        interval, and judges on both.
    repeat, fold, other
        Which split; ``other`` is the second fold of a pair.
    train, test
        Rows by position; those of a pair's first fold come before those of the second.
    first
        How many of the test rows belong to the first fold.
    settings
        Settings to use for the first and for the second part of the test rows; None tunes.
    """

    learner: str
    purpose: Purpose
    repeat: int
    fold: int
    train: Rows
    test: Rows
    other: int = -1
    first: int = 0
    settings: tuple[Mapping[str, Any], ...] | None = None

    @property
    def split(self) -> str:
        """The split, in a few characters; the same for every learner."""
        pair = f"+{self.other}" if self.other >= 0 else ""
        return f"{self.purpose}/{self.repeat}/{self.fold}{pair}"

    @property
    def key(self) -> str:
        """The name of the unit, unique in the run."""
        return f"{self.learner}/{self.split}"


def outer_key(unit: Unit, fold: int) -> str:
    """Return the key of the unit of the same learner and repeat that leaves out one fold."""
    return replace(unit, purpose="outer", fold=fold, other=-1).key


@dataclass(frozen=True)
class Outcome:
    """The result of a unit.

    Parameters
    ----------
    losses
        Of each test row; None where the unit failed.
    predictions
        Of each test row (numbers, or probabilities with a column a class); None for pairs of
        large tables, where they would only take memory.
    reference
        Losses to compare those of pairs with, where pairs have fewer trees than the model: its
        losses with that many of its trees. None otherwise.
    selected
        The columns that the learner chose; None where it does not select.
    settings
        What tuning chose; for a pair that reuses settings, those of its first fold.
    seconds, fit_seconds
        How long everything took, and how long the last fit took.
    failure
        The error, in words, if there was one.
    archive
        Every configuration tried.
    notes
        Warnings raised by the learner, each once.
    """

    losses: Floats | None
    predictions: Floats | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    fit_seconds: float = 0.0
    failure: str | None = None
    archive: tuple[Trial, ...] = ()
    notes: tuple[str, ...] = ()
    reference: Floats | None = None
    selected: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Context:
    """What every unit of a run shares.

    Parameters
    ----------
    table, loss, seed
        Of the run.
    codes, classes
        The target: numbers, or positions in the labels, which are None for numbers.
    contenders
        By name.
    tuning
        How settings are chosen; None takes the defaults.
    """

    table: Table
    codes: NDArray[Any]
    classes: NDArray[Any] | None
    loss: Loss
    contenders: Mapping[str, Contender]
    tuning: Tuning | None
    seed: int

    def __sizeof__(self) -> int:
        """Return the bytes of the table, by which schedulers decide to send an object once."""
        return object.__sizeof__(self) + sum(c.values.nbytes for c in self.table.columns)


#: Runs calls, perhaps in parallel, and returns their results in order.
Spread = Callable[[Callable[..., Any], Iterable[tuple[Any, ...]]], list[Any]]


def in_turn(call: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]) -> list[Any]:
    """Run calls one after the other."""
    return [call(*each) for each in arguments]


def judge(
    model: Any, table: Table, codes: NDArray[Any], loss: Loss, classes: NDArray[Any] | None
) -> tuple[Floats, Floats]:
    """Return the loss and the prediction (a row of probabilities, for classes) of each row.

    A class that the model has never seen has probability zero.
    """
    needs = "probability" if loss.needs == "label" and loss.threshold != 0.5 else loss.needs
    predicted, _ = FittedModel(model, table, classes=classes).for_loss(table, needs)
    if needs != loss.needs:
        predicted = (predicted[:, 1] > loss.threshold).astype(np.float64)
    losses = np.asarray(loss.per_row(codes, predicted), dtype=np.float64)
    if not np.isfinite(losses).all():
        raise InputError(
            f"the {loss.name} loss of {int((~np.isfinite(losses)).sum())} of {len(losses)} rows "
            "is not a finite number"
        )
    return losses, predicted


def row_losses(model: Any, data: Table, loss: Loss) -> Floats:
    """Return the loss of each row of a table under a fitted learner.

    Parameters
    ----------
    model
        A fitted learner.
    data
        Rows with the target.
    loss
        What to judge by.

    Examples
    --------
    >>> import clearwood as cw
    >>> from clearwood.losses import find_loss
    >>> wine = cw.datasets.load("wine")
    >>> int(row_losses(cw.learner("lda").fit(wine), wine, find_loss("zero-one")).sum())
    1
    """
    if isinstance(model, TableModel):
        model.check_outcome(data)
    codes, classes = target_codes(data)
    return judge(model, data, codes, loss, classes)[0]


def seed_of(*parts: Any) -> int:
    """Return a seed that depends on all parts and on nothing else: not on order or workers.

    Examples
    --------
    >>> seed_of(0, "gbm", "outer/0/1") == seed_of(0, "gbm", "outer/0/1")
    True
    >>> seed_of(0, "gbm", "outer/0/1") == seed_of(0, "gbm", "outer/0/2")
    False
    """
    text = "\x1f".join(map(str, parts))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") >> 1


def in_words(error: BaseException) -> str:
    """Describe an error in one line, with its type unless it is one of Clearwood's."""
    text = " ".join(str(error).split()) or "no message"
    text = text if len(text) <= 300 else text[:299] + "…"
    return text if isinstance(error, InputError) else f"{type(error).__name__}: {text}"


@contextmanager
def collected() -> Iterator[list[str]]:
    """Keep warnings for the result: those of a worker would be lost, and many are repeated.

    Deprecations are for developers and are dropped.
    """
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield notes
        finally:
            for warning in caught:
                text = str(warning.message).strip().partition("\n")[0]
                shown = issubclass(warning.category, UserWarning | RuntimeWarning)
                # the level is stated out of fold
                shown = shown and not issubclass(warning.category, LevelWarning)
                if shown and text not in notes:
                    notes.append(text)
