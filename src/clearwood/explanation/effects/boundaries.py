"""Where a classifier changes its class, as two columns vary and the others stay."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.checks import check_whole
from clearwood._shared.errors import InputError, Option, bad_value, did_you_mean, words
from clearwood._shared.numbers import cell, count, number, percent
from clearwood._shared.results import Result
from clearwood._shared.weights import quantiles
from clearwood.fitted import FittedModel
from clearwood.models import Learner
from clearwood.table import Column, Kind, Table, as_table

__all__ = ["Boundaries", "boundaries", "typical", "written"]

_NUMERIC = (Kind.NUMBER, Kind.WHOLE)
#: The missing value of columns that hold no numbers.
_NOTHING: dict[Kind, Any] = {
    **dict.fromkeys((Kind.YES_NO, Kind.CATEGORY, Kind.ORDERED), -1),
    Kind.DATE: np.datetime64("NaT"),
    Kind.TEXT: None,
}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Boundaries(Result):
    """The class that a model predicts on a grid of two columns.

    Made by `boundaries`. All other columns stay at one value, so the picture shows one
    slice through the model, not an average over rows.

    Parameters
    ----------
    model, outcome
        The learner, and what it predicts.
    columns
        The two columns, numbers both.
    x, y
        Their values on the grid.
    classes
        The labels.
    predicted
        Positions of the predicted class, of shape (values of y, values of x).
    certainty
        The probability of that class; NaN for models without probabilities.
    held
        The value at which each other column is held, as text.
    rows
        Values of the two columns, and the class, of each row of the data; NaN and -1 where missing.
    """

    model: str
    outcome: str
    columns: tuple[str, str]
    x: Floats
    y: Floats
    classes: tuple[str, ...]
    predicted: Index
    certainty: Floats
    held: Mapping[str, str]
    rows: Floats
    _omitted = ("rows",)

    def _columns(self) -> Mapping[str, Any]:
        first, second = np.meshgrid(self.x, self.y)
        labels = np.array(self.classes, dtype=object)
        return {
            self.columns[0]: first.ravel(),
            self.columns[1]: second.ravel(),
            "class": labels[self.predicted.ravel()].tolist(),
            "probability": self.certainty.ravel(),
        }

    def shares(self) -> Floats:
        """Return the share of the grid on which each class is predicted."""
        return np.bincount(self.predicted.ravel(), minlength=len(self.classes)) / max(
            self.predicted.size, 1
        )

    def __repr__(self) -> str:
        parts = ", ".join(
            f"{name} {percent(share)}"
            for name, share in zip(self.classes, self.shares(), strict=True)
        )
        ranges = " and ".join(
            f"{name} from {number(grid[0])} to {number(grid[-1])}"
            for name, grid in zip(self.columns, (self.x, self.y), strict=True)
        )
        held = "; ".join(f"{name} {value}" for name, value in self.held.items())
        lines = [
            f"Decision boundaries of {self.model}: {self.outcome}",
            f"{ranges}; {count(self.predicted.size, 'point')}",
            f"share of the plane: {parts}",
        ]
        return "\n".join([*lines, f"held: {held}"] if held else lines)

    def plot(self) -> Any:
        """Draw the predicted classes, with the rows on top (Altair)."""
        from clearwood.plot import plot_boundaries

        return plot_boundaries(self)


def boundaries(
    model: Learner,
    data: Any,
    columns: Sequence[str],
    *,
    at: Mapping[str, Any] | None = None,
    points: int = 80,
) -> Boundaries:
    """Compute the class that a classifier predicts as two columns of numbers vary.

    Parameters
    ----------
    model
        A fitted learner of classes.
    data
        Rows that give the range of the two columns and the values at which others are held: the
        median of numbers, the most frequent level of others, by weight.
    columns
        Two columns of numbers.
    at
        Other values to hold columns at: ``{"region": "city"}``.
    points
        On each axis.

    Returns
    -------
    Boundaries

    Examples
    --------
    >>> import clearwood as cw
    >>> wine = cw.datasets.load("wine")
    >>> model = cw.learner("lda").fit(wine)
    >>> found = cw.explanation.boundaries(model, wine, ["alcohol", "flavanoids"], points=30)
    >>> found.predicted.shape
    (30, 30)
    """
    if not hasattr(model, "classes_") or not hasattr(model, "schema_"):
        name = getattr(model, "name", type(model).__name__)
        raise bad_value("model", name, "boundaries are of a fitted learner that predicts classes")
    check_whole("points", points, 2, 1000)
    table = as_table(data, schema=model.schema_)
    given = dict(at or {})
    names = list(table.features)
    pair = [columns] if isinstance(columns, str) else list(columns)
    for name in (*pair, *given):
        if name not in names:
            raise InputError(
                f"the model has no column {name!r}",
                parameter="columns" if name in pair else "at",
                value=name,
                hint=did_you_mean(name, names),
            )
    if len(set(pair)) != 2:
        raise bad_value("columns", pair, "name two different columns")
    by_name = {name: table.column(name) for name in names}
    for name in pair:
        if by_name[name].kind not in _NUMERIC:
            raise InputError(
                f"column {name!r} holds no numbers, so it has no axis",
                parameter="columns",
                value=name,
                hint=words("hold it at a level with ", Option("at", {name: "…"}), "."),
            )
        if name in given:
            raise bad_value("at", given, f"column {name!r} varies, so it cannot be held")
    weights = data.weights if isinstance(data, Table) else None
    held = {
        name: _code(by_name[name], given[name])
        if name in given
        else typical(by_name[name], weights)
        for name in names
        if name not in pair
    }
    x, y = (_range(by_name[name], points) for name in pair)
    first, second = np.meshgrid(x, y)
    n = first.size
    varied = {pair[0]: first.ravel(), pair[1]: second.ravel()}
    varied |= {name: np.full(n, value, by_name[name].values.dtype) for name, value in held.items()}
    grid = replace(
        table,
        columns=tuple(
            replace(one, values=varied[one.name])
            if one.name in varied
            else one.take(np.zeros(n, int))
            for one in table
        ),
    )
    view = FittedModel(model)
    known = {label: k for k, label in enumerate(view.classes)}
    predicted = view.for_loss(grid, "label")[0].astype(np.intp)
    certainty = np.full(n, np.nan)
    if view.has_probabilities:
        certainty = view.predict(grid, scale="probability")[np.arange(n), predicted]
    return Boundaries(
        model=model.name,
        outcome=str(model.schema_.target or "the target"),
        columns=(pair[0], pair[1]),
        x=x,
        y=y,
        classes=tuple(map(str, model.classes_)),
        predicted=predicted.reshape(first.shape),
        certainty=certainty.reshape(first.shape),
        held={name: written(by_name[name], value) for name, value in held.items()},
        rows=np.column_stack(
            [*(_numbers(by_name[name]) for name in pair), _truth(data, table.n_rows, known)]
        ),
    )


def _numbers(column: Column) -> Floats:
    return np.asarray(column.values, dtype=np.float64)


def _range(column: Column, points: int) -> Floats:
    """Return values from the smallest to the largest, with a margin of 5 %."""
    values = _numbers(column)
    values = values[np.isfinite(values)]
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 0.0)
    margin = 0.05 * (high - low) or 0.5
    return np.linspace(low - margin, high + margin, points)


def typical(column: Column, weights: Floats | None) -> Any:
    """Return the median of numbers, the most frequent value of others; missing if all are."""
    weight = np.ones(len(column)) if weights is None else weights
    known = ~column.missing & (weight > 0)
    if not known.any():
        return _NOTHING.get(column.kind, np.nan)
    if column.kind in _NUMERIC:
        return float(quantiles(column.values[known], [0.5], weight[known])[0])
    values, codes = np.unique(column.values[known], return_inverse=True)
    return values[np.argmax(np.bincount(codes, weight[known]))]


def _code(column: Column, value: Any) -> Any:
    """Return a value that the user holds a column at as the column keeps it."""
    if column.is_coded:
        if str(value) not in column.levels:
            raise InputError(
                f"column {column.name!r} has no level {str(value)!r}",
                parameter="at",
                value=value,
                hint=did_you_mean(str(value), column.levels),
            )
        return column.levels.index(str(value))
    try:
        return np.array([value]).astype(column.values.dtype)[0]
    except ValueError as error:
        raise InputError(
            f"column {column.name!r} cannot be held at {value!r}", parameter="at", value=value
        ) from error


def written(column: Column, value: Any) -> str:
    """Return the value that a column is held at as text."""
    one = replace(column, values=np.array([value], column.values.dtype))
    return cell(one.labels()[0])


def _truth(data: Any, n_rows: int, known: Mapping[Any, int]) -> Floats:
    """Return the position of each row's class, -1 where it is not known."""
    if not isinstance(data, Table) or data.target is None:
        return np.full(n_rows, -1.0)
    return np.array([float(known.get(label, -1)) for label in np.asarray(data.y).tolist()])
