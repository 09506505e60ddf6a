"""Any model as one function of rows: few large calls, predictions that are checked."""

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.errors import InputError, did_you_mean
from clearwood._shared.progress import progress
from clearwood.checks import Comparable, comparable
from clearwood.explanation.rows.compose import ArrayRows, Compose, TableRows, frame_rows
from clearwood.explanation.rows.rows import label_rows
from clearwood.fitted import Scale, Scorer, Unit, model_input, scorer_of, user_columns
from clearwood.models import TableModel
from clearwood.table import Column, Table, shown_name

__all__ = ["Predictor", "predictor_of_anything"]

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
    named = _names_of(model)
    own = _column_names(data)
    names = tuple(named) if named is not None else own
    columns = user_columns(data, names, by_position=named is None)
    if not columns or not len(columns[0]):
        raise InputError(
            "the data has no rows", parameter="data", hint="give the rows to average over."
        )
    n_rows = len(columns[0])
    scorer = scorer_of(model, scale)
    compose = _accepted(scorer, _forms(model, data, names, named), n_rows)
    return Predictor(
        columns=columns,
        labels=label_rows(data, n_rows),
        weights=data.weights if isinstance(data, Table) else None,
        scorer=scorer.settled(compose(np.arange(min(n_rows, 3)), {})),
        compose=compose,
        kind=_name(model),
    )


def _names_of(model: Any) -> Sequence[str] | None:
    inner = getattr(model, "best_estimator_", model)
    names = getattr(inner, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


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


def _forms(
    model: Any, data: Any, names: tuple[str, ...], named: Sequence[str] | None
) -> list[Callable[[], Compose]]:
    """Return the forms in which the model may want its rows, the likeliest first."""

    def frame() -> Compose:
        return frame_rows(model_input(data, names))

    def array() -> Compose:
        if isinstance(data, np.ndarray):
            return ArrayRows(data)
        frame = nw.from_native(model_input(data, names), eager_only=True)
        return ArrayRows(frame.to_numpy())

    if isinstance(data, Table) and isinstance(model, TableModel):
        return [lambda: TableRows(data.by_header().select(names))]
    if named is not None:
        return [frame, array]
    given_array = isinstance(data, np.ndarray)
    fitted_to_array = hasattr(model, "n_features_in_")
    return [array, frame] if given_array or fitted_to_array else [frame, array]


def _accepted(scorer: Scorer, forms: Sequence[Callable[[], Compose]], n_rows: int) -> Compose:
    """Find the form that the model takes, by predicting a few rows."""
    first: Exception | None = None
    few = np.arange(min(n_rows, 3))
    for form in forms:
        try:
            compose = form()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                scorer.call(compose(few, {}))
        except Exception as error:  # any model may fail in any way
            first = first or error
        else:
            return compose
    assert first is not None
    if type(first).__name__ == "NotFittedError":
        raise InputError(f"{first}", hint="call its fit(X, y) first.") from first
    raise InputError(
        f"the model cannot predict these rows, neither as a data frame nor as an array: "
        f"{type(first).__name__}: {first}",
        hint="give the columns that it was fitted with, in the same form.",
    ) from first


def _name(model: Any) -> str:
    if hasattr(model, "steps"):
        return f"a Pipeline that ends in {type(model.steps[-1][1]).__name__}"
    if hasattr(model, "__name__"):
        return "a function" if model.__name__ == "<lambda>" else f"function {model.__name__!r}"
    return type(model).__name__
