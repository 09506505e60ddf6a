"""Any model as one function of rows: few large calls, predictions that are checked."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Generic, TypeVar

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.clock import Clock
from clearwood._shared.errors import InputError, did_you_mean
from clearwood._shared.numbers import duration
from clearwood._shared.progress import progress
from clearwood.checks import Comparable, comparable
from clearwood.explanation.rows.compose import Compose, rows_of
from clearwood.explanation.rows.rows import label_rows
from clearwood.fitted import FittedModel, Scale, Scorer, Unit, own_names, user_columns
from clearwood.table import Column, Table, shown_name

__all__ = ["Evaluated", "Predictor", "evaluated_in_blocks", "limit_words", "predictor_of_anything"]

T = TypeVar("T")

#: Evaluations of a block: Ctrl-C waits for one. The same on every machine, as some models predict
#: a row slightly differently in the company of other rows.
_EVALUATIONS = 100_000
#: With a time limit, evaluations of the first block, and seconds that the others should take.
_FIRST = 2_000
_SECONDS = 0.5
#: Without this many rows there is no result, however short the time is.
_FEWEST = 20


@dataclass(frozen=True)
class Evaluated(Generic[T]):
    """What was computed, block by block: the rows, what each block gave and its size.

    ``stopped`` is why not all rows are there; None where they are.
    """

    rows: Index
    blocks: Sequence[T]
    sizes: Sequence[int]
    stopped: str | None = None


def evaluated_in_blocks(
    rows: Index,
    evaluate: Callable[[Index], T],
    *,
    per_row: int,
    seed: int,
    clock: Clock,
) -> Evaluated[T]:
    """Evaluate rows in random order until all are done, the time is over or the user stops it.

    Since the order is random, the rows that are done are a sample of all of them, so their sampling
    error can be stated. A row takes ``per_row`` evaluations.

    Examples
    --------
    >>> result = evaluated_in_blocks(
    ...     np.arange(5), lambda rows: rows**2, per_row=1, seed=0, clock=Clock()
    ... )
    >>> sorted(np.concatenate(result.blocks).tolist())
    [0, 1, 4, 9, 16]
    """
    order = np.random.default_rng(seed).permutation(rows)
    is_limited = clock.time_limit is not None
    size = max(_FEWEST, (_FIRST if is_limited else _EVALUATIONS) // max(per_row, 1))
    blocks: list[tuple[Index, T]] = []
    done, stopped = 0, None
    started = time.monotonic()
    with progress("predicting", total=len(rows)) as step:
        try:
            while done < len(order):
                # in their own order: rows that are alike often lie together, and go faster so
                part = np.sort(order[done : done + size])
                blocks.append((part, evaluate(part)))
                done += len(part)
                speed = done / max(time.monotonic() - started, 1e-6)
                step(len(part), note=f"{speed * per_row:,.0f} evaluations/s")
                if is_limited:
                    size = max(_FEWEST, int(_SECONDS * speed))
                if clock.is_over and done < len(order):
                    stopped = f"{limit_words(clock)} after {done:,} of {len(order):,} rows"
                    break
        except KeyboardInterrupt:
            done = sum(len(part) for part, _ in blocks)
            if done < _FEWEST:
                raise
            stopped = f"interrupted after {done:,} of {len(order):,} rows"
    parts = [part for part, _ in blocks]
    return Evaluated(
        np.concatenate(parts), [block for _, block in blocks], [len(p) for p in parts], stopped
    )


def limit_words(clock: Clock) -> str:
    """Say why work ended early."""
    assert clock.time_limit is not None
    return f"the time limit of {duration(clock.time_limit)} was reached"


#: Cells of one call: large enough that calls are few, small enough to stay in memory.
_CELLS_PER_CALL = 8_000_000


@dataclass(frozen=True, eq=False)
class Predictor:
    """A fitted model and rows whose columns can be exchanged before it predicts.

    Parameters
    ----------
    columns
        The user's columns at the rows.
    labels
        What the user calls the rows.
    weights
        Row weights that the data names; None where it names none.
    scorer
        From the model's input to numbers, with the names of the outputs and their unit.
    compose
        Makes the model's input.
    kind
        The model in words.
    is_step
        Whether the model is piecewise constant, as trees are.
    evaluations
        A counter of the rows that were predicted; each call of a verb has its own.
    """

    columns: tuple[Column, ...]
    labels: NDArray[Any]
    weights: Floats | None
    scorer: Scorer
    compose: Compose
    kind: str
    is_step: bool = False
    evaluations: list[int] = field(default_factory=lambda: [0])

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def names(self) -> tuple[str, ...]:
        """The user's names of the columns."""
        return tuple(column.name for column in self.columns)

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the outputs."""
        return self.scorer.outputs

    @property
    def unit(self) -> Unit:
        """What the numbers are."""
        return self.scorer.unit

    @cached_property
    def profiles(self) -> tuple[Comparable, ...]:
        """What is needed of each column to measure associations."""
        return tuple(comparable(column, self.weights) for column in self.columns)

    def position(self, name: Any) -> int:
        """Return the position of a column; the error for a wrong name offers the nearest."""
        if isinstance(name, int | np.integer) and not isinstance(name, bool):
            name = f"x{name}"
        name = shown_name(name, self.columns)
        if name not in self.names:
            raise InputError(
                f"there is no column {name!r}",
                parameter="columns",
                value=name,
                hint=did_you_mean(str(name), self.names),
            )
        return self.names.index(name)

    def predict(self, base: Index, held: Mapping[int, Index] | None = None) -> Floats:
        """Predict rows at positions, with some columns taken from other rows: (rows, outputs).

        ``held`` has, for some columns, the rows whose value they have instead, as many as ``base``.
        """
        held = held or {}
        if not len(base):  # few models take no rows
            return np.empty((0, len(self.outputs)))
        size = max(1, _CELLS_PER_CALL // max(len(self.columns), 1))
        self.evaluations[0] += len(base)
        if len(base) <= size:
            return self.scorer.checked(self.compose(base, held), len(base))
        predictions = np.empty((len(base), len(self.outputs)))
        started = time.monotonic()
        with progress("predicting", total=len(base)) as step:
            for first in range(0, len(base), size):
                part = slice(first, first + size)
                rows = self.compose(base[part], {k: v[part] for k, v in held.items()})
                predictions[part] = self.scorer.checked(rows, len(base[part]))
                speed = (first + len(base[part])) / max(time.monotonic() - started, 1e-6)
                step(len(base[part]), note=f"{speed:,.0f} evaluations/s")
        return predictions

    def taking(self, output: Any) -> "Predictor":
        """Return the predictor of one output; of two classes the second when None."""
        return replace(self, scorer=self.scorer.taking(output))

    def head(self, n_rows: int) -> "Predictor":
        """Return the first rows only."""
        part = slice(0, n_rows)
        return replace(
            self,
            columns=tuple(column.take(part) for column in self.columns),
            labels=self.labels[part],
            weights=None if self.weights is None else self.weights[part],
        )

    def fresh(self) -> "Predictor":
        """Return the same predictor with a counter of its own."""
        return replace(self, evaluations=[0])


def predictor_of_anything(model: Any, data: Any, scale: Scale | None) -> Predictor:
    """Call the model itself, with rows in the form that it takes.

    Examples
    --------
    >>> rows = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> predictor = predictor_of_anything(lambda X: X[:, 0] * X[:, 1], rows, None)
    >>> predictor.predict(np.array([0, 1]), {1: np.array([1, 1])}).ravel()
    array([ 4., 12.])
    """
    view = FittedModel(model)
    names = own_names(model) or view.features
    columns = user_columns(data, names or _column_names(data), by_position=names is None)
    if not columns or not len(columns[0]):
        raise InputError(
            "the data has no rows", parameter="data", hint="give the rows to average over."
        )
    n_rows = len(columns[0])
    compose = rows_of(view.inputs(data))
    scorer = view.scorer(scale)
    return Predictor(
        columns=columns,
        labels=label_rows(data, n_rows),
        weights=data.weights if isinstance(data, Table) else None,
        scorer=scorer.settled(compose(np.arange(min(n_rows, 3)), {})),
        compose=compose,
        kind=view.described,
    )


def _column_names(data: Any) -> tuple[str, ...]:
    if isinstance(data, Table):
        return data.features
    frame = nw.from_native(data, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return tuple(map(str, frame.columns))
    values = np.asarray(data)
    if values.ndim != 2:
        raise InputError(
            f"the data is an array of {values.ndim} dimensions; rows and columns are needed",
            hint="for one column: data.reshape(-1, 1).",
        )
    return tuple(f"x{k}" for k in range(values.shape[1]))
