"""Integrated gradients: a prediction less that of a baseline row, divided among columns."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import InputError, Option, bad_value, words
from clearwood._shared.numbers import IN_TABLES, number
from clearwood._shared.results import TableResult
from clearwood.explanation.effects.boundaries import typical, written
from clearwood.explanation.rows.compose import as_rows, chosen_row
from clearwood.fitted import FittedModel, Scale, Unit, checked_scale, output_position
from clearwood.models import Learner, check_fitted
from clearwood.table import Table, as_table

__all__ = ["IntegratedGradients", "integrated_gradients"]

#: Nodes of Gauss and Legendre in each piece of the line.
_NODES, _SHARES = np.polynomial.legendre.leggauss(5)
_FEWEST_PIECES = 4


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class IntegratedGradients(TableResult):
    """The difference between two predictions of a network, divided among columns.

    Made by `integrated_gradients`.

    Parameters
    ----------
    model, output, unit
        The learner, the output, and what is divided: "log odds", "prediction", ...
    columns
        The user's columns.
    row_values, baseline_values
        What the row and the baseline have there, as text.
    values
        What each column adds.
    errors
        Of the integral of each column: how far half as many points are from all of them.
    prediction, baseline
        Of the row and of the baseline row.
    n_points
        Points of the line at which gradients were taken.
    is_typical
        Whether the baseline is the typical row of the data rather than one that was given.
    grid, cells
        Of a "cnn": rows and columns of its grid, and the cell of each column, counted row by row
        from 0; None and empty for other networks.
    """

    model: str
    output: str
    unit: Unit
    columns: tuple[str, ...]
    row_values: tuple[str, ...]
    baseline_values: tuple[str, ...]
    values: Floats
    errors: Floats
    prediction: float
    baseline: float
    n_points: int
    is_typical: bool
    grid: tuple[int, int] | None = None
    cells: tuple[int, ...] = ()
    _derived = ("gap", "notes")

    @property
    def gap(self) -> float:
        """What the values lack to the difference of the predictions, which they divide."""
        return float(self.prediction - self.baseline - self.values.sum())

    @property
    def notes(self) -> tuple[str, ...]:
        """What the reader should know."""
        row = "medians and most frequent values" if self.is_typical else "as given"
        gap, error = number(abs(self.gap), 2), number(float(self.errors.max(initial=0.0)), 2)
        points = f"integral from {self.n_points} points"
        return (
            f"baseline: {row}; another baseline gives other values",
            f"{points}: the sum is off by {gap}, a value by about {error}",
        )

    def _columns(self) -> Mapping[str, Any]:
        return {
            "column": list(self.columns),
            "value": list(self.row_values),
            "baseline": list(self.baseline_values),
            "adds": self.values,
            "error": self.errors,
        }

    def _headline(self) -> str:
        name = "" if self.output == "prediction" else f" of {self.output}"
        return f"Integrated gradients of {self.model} ({self.unit}{name})"

    def _above(self) -> list[str]:
        ends = (number(value, IN_TABLES) for value in (self.baseline, self.prediction))
        return ["{} at the baseline, {} here".format(*ends)]

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        order = np.argsort(-np.abs(self.values), kind="stable")
        lines = [
            [self.columns[k], self.row_values[k], self.baseline_values[k], f"{self.values[k]:+.4g}"]
            for k in order
        ]
        return ["column", "value", "baseline", "adds"], lines

    def plot(self, *, most: int = 15) -> Any:
        """Draw what each column adds (Altair): cells in their grid, else ``most`` by name."""
        from clearwood.plot import plot_integrated_gradients

        return plot_integrated_gradients(self, most=most)


def integrated_gradients(
    model: Learner,
    data: Any,
    row: Any,
    *,
    baseline: Any = None,
    output: Any = None,
    scale: str | None = None,
    tolerance: float = 1e-6,
    max_points: int = 5_000,
) -> IntegratedGradients:
    """Divide the difference between a network's prediction and that of a baseline among columns.

    Each column gets the difference of its inputs times the mean of the gradient along the straight
    line from the baseline to the row, in the network's own inputs: standardised numbers and vectors
    of categories (Sundararajan, Taly and Yan 2017). The values sum to the difference of the two
    predictions, and a column that the prediction does not depend on, or that is the same in both
    rows, gets zero. They depend on the baseline, and on the line: Shapley values average over
    orders of exchanging columns instead, and need no gradient.

    Parameters
    ----------
    model
        A fitted "network", "transformer" or "cnn".
    data
        Rows from which the row and the baseline are taken: a table, a frame, an array or a path.
    row
        The row to explain: one row in any form, or its position in ``data``.
    baseline
        The row to compare with, in any form or by its position; the median of numbers and the most
        frequent value of others when None.
    output
        The class, where there are several; of two the second when None, of more the one predicted.
    scale
        "margin" (before any link, when None), "probability" or "response".
    tolerance
        The integral is refined until it misses the difference by less than this share of it.
    max_points
        Points of the line at most.

    Returns
    -------
    IntegratedGradients

    Examples
    --------
    >>> import clearwood as cw
    >>> data = cw.datasets.load("diabetes")
    >>> model = cw.learner("network", epochs=5, units=8).fit(data)
    >>> why = cw.explanation.integrated_gradients(model, data, 0)
    >>> bool(abs(why.gap) < 1e-4 * abs(why.prediction - why.baseline))
    True
    """
    check_fitted(model)
    estimator: Any = getattr(model, "estimator_", None)
    if not hasattr(estimator, "path_gradients"):
        name = getattr(model, "name", type(model).__name__)
        raise InputError(
            f"{name!r} has no gradients",
            parameter="model",
            value=name,
            hint=words(
                "fit 'network', 'transformer' or 'cnn'; Shapley values are for every model."
            ),
        )
    if not tolerance > 0:
        raise bad_value("tolerance", tolerance, "it must be above 0")
    if max_points < 2 * _FEWEST_PIECES * len(_NODES):
        least = 2 * _FEWEST_PIECES * len(_NODES)
        raise bad_value("max_points", max_points, f"it must be at least {least}")
    table = as_table(data, schema=model.schema_)
    here = _one_row(model, table, row, "row")
    there = (
        _typical_row(table) if baseline is None else _one_row(model, table, baseline, "baseline")
    )
    start, end = model.encoder_.transform(there), model.encoder_.transform(here)
    link = _checked_link(estimator, checked_scale(scale))
    at = _output(model, end, output)
    value, errors, n_points, ends = _integral(
        estimator, start, end, at, link=link, tolerance=tolerance, most=max_points
    )
    owners = [one.source for one in model.encoder_.columns_]
    names = tuple(dict.fromkeys(owners))
    sums = np.array([[name == owner for owner in owners] for name in names], np.float64)
    is_two = estimator.link_ == "logistic"
    label = "prediction" if not hasattr(model, "classes_") else str(model.classes_[at + is_two])
    grid, cells = getattr(estimator, "cells_of_columns", lambda: (None, ()))()
    return IntegratedGradients(
        model=model.name,
        output=label,
        unit=_unit(estimator, link=link),
        columns=names,
        row_values=tuple(written(here.column(n), here.column(n).values[0]) for n in names),
        baseline_values=tuple(written(there.column(n), there.column(n).values[0]) for n in names),
        values=sums @ value,
        errors=sums @ errors,
        prediction=ends[1],
        baseline=ends[0],
        n_points=n_points,
        is_typical=baseline is None,
        grid=grid,
        cells=tuple(cells),
    )


def _one_row(model: Learner, table: Table, row: Any, parameter: str) -> Table:
    """Return a row that is given, or that has a position in the data."""
    chosen = as_table(as_rows(chosen_row(table, row)), schema=model.schema_)
    if chosen.n_rows != 1:
        raise InputError(
            f"{chosen.n_rows} rows are given, and one is needed",
            parameter=parameter,
            hint="give a single row, or its position in the data.",
        )
    return chosen


def _typical_row(table: Table) -> Table:
    if not table.n_rows:
        raise InputError("the data has no rows", parameter="data")
    columns = tuple(
        replace(one, values=np.array([typical(one, table.weights)], one.values.dtype))
        for one in table.X.columns
    )
    return Table(columns)


def _checked_link(estimator: Any, scale: Scale | None) -> bool:
    """Whether the link is applied before anything is divided."""
    is_class = hasattr(estimator, "classes_")
    if scale is Scale.PROBABILITY and not is_class:
        raise InputError(
            "this model predicts no probabilities",
            parameter="scale",
            value=str(scale),
            hint=words("use ", Option("scale", "response"), "."),
        )
    return scale in (Scale.PROBABILITY, Scale.RESPONSE)


def _output(model: Learner, row: Floats, output: Any) -> int:
    """Return the output of the network that is explained."""
    classes = getattr(model, "classes_", None)
    if classes is None:
        return 0
    labels = tuple(map(str, classes))
    if len(labels) > 2:
        if output is None:
            return int(np.argmax(FittedModel(model.estimator_).predict(row)[0]))
        return output_position(output, labels)
    if output is not None and output_position(output, labels) == 0:
        raise InputError(
            f"the network has one output, for {labels[1]!r}",
            parameter="output",
            value=output,
            hint=f"the values of {labels[0]!r} are the same with the other sign.",
        )
    return 0


def _unit(estimator: Any, *, link: bool) -> Unit:
    if not link:
        return Unit.before(estimator.link_)
    return Unit.PROBABILITY if hasattr(estimator, "classes_") else Unit.PREDICTION


def _integral(
    estimator: Any,
    start: Floats,
    end: Floats,
    output: int,
    *,
    link: bool,
    tolerance: float,
    most: int,
) -> tuple[Floats, Floats, int, tuple[float, float]]:
    """Return values, errors, points and both predictions; pieces are halved until the sum fits."""
    first, last = estimator.path_values(start, end, np.array([0.0, 1.0]), output, link=link)
    aim = tolerance * max(abs(last - first), 1e-12 * max(abs(first), abs(last), 1.0))
    pieces, before = _FEWEST_PIECES, _by_pieces(estimator, start, end, output, _FEWEST_PIECES, link)
    while True:
        pieces *= 2
        value = _by_pieces(estimator, start, end, output, pieces, link)
        errors = np.abs(value - before)
        gap = abs(last - first - value.sum())
        if (gap <= aim and errors.max() <= aim) or 2 * pieces * len(_NODES) > most:
            return value, errors, pieces * len(_NODES), (float(first), float(last))
        before = value


def _by_pieces(
    estimator: Any,
    start: Floats,
    end: Floats,
    output: int,
    pieces: int,
    link: bool,  # noqa: FBT001
) -> Floats:
    """Integrate over pieces of equal length."""
    edges = np.arange(pieces)[:, None] / pieces
    points = (edges + (_NODES + 1) / (2 * pieces)).ravel()
    shares = np.tile(_SHARES / (2 * pieces), pieces)
    each = estimator.path_gradients(start, end, points, output, link=link)
    return np.asarray(shares @ each)
