"""Predictions of every row with several columns held at chosen values together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.draws import draw_rows
from clearwood._shared.errors import InputError, Option, bad_value, words
from clearwood._shared.messages import tell
from clearwood._shared.weights import quantiles
from clearwood.explanation.effects.extrapolation import support_of
from clearwood.explanation.effects.grid import (
    Given,
    checked_column,
    common_levels,
    given_values,
    levels_note,
)
from clearwood.explanation.results.about import (
    About,
    BackgroundInfo,
    axis_numbers,
    rate_of,
    two_rows_or_more,
)
from clearwood.explanation.rows.predictor import Predictor
from clearwood.table import Column, Kind

if TYPE_CHECKING:
    from clearwood.explanation import Explanation

__all__ = ["JointCurves", "default_values", "joint_curves"]

# As many predictions as an effect makes at once; beyond, rows are drawn.
_MOST_PREDICTIONS = 40_000_000
# Made-up rows whose distance to the data is looked at, over all points.
_ROWS_LOOKED_AT = 30_000
_QUANTILES = (0.5, 0.05, 0.25, 0.75, 0.95)


@dataclass(frozen=True, eq=False)
class JointCurves:
    """Predictions of rows with columns held at points.

    Parameters
    ----------
    columns, others
        The columns that are held, and the other ones of the model.
    at
        The values of each held column, one for each point.
    each
        Predictions: (rows, points, outputs).
    rows, weights
        The rows, by position, and their weights.
    outside
        At each point the share of the rows that, held there, lie outside the data.
    about
        Model, value function, background and scale.
    n_data
        How many rows the data has.
    evaluations
        How many predictions were made.
    """

    columns: tuple[str, ...]
    others: tuple[str, ...]
    at: Mapping[str, NDArray[Any]]
    each: Floats
    rows: Index
    weights: Floats
    outside: Floats
    about: About
    n_data: int
    evaluations: int

    def means(self, weights: Floats | None = None) -> Floats:
        """Average over rows: (points, outputs); other weights than the rows' own may be given."""
        chosen = self.weights if weights is None else weights
        return np.asarray(np.einsum("i,ijk->jk", chosen, self.each) / chosen.sum())


def default_values(explanation: "Explanation", column: str) -> NDArray[Any]:
    """Return values of a column to compare, the reference first.

    Levels by their weight, the most common first; of numbers and dates the median, then the 5, 25,
    75 and 95 per cent points, as far as they differ.
    """
    predictor = explanation.predictor()
    own = predictor.columns[predictor.position(column)]
    checked_column(own)
    weights = predictor.weights
    present = ~own.missing
    counted = np.ones(len(own)) if weights is None else weights
    if own.is_coded or own.kind is Kind.TEXT:
        labels, codes = np.unique(own.labels()[present].astype(str), return_inverse=True)
        shares = np.bincount(codes, counted[present]) / counted[present].sum()
        kept = common_levels(shares)
        if len(kept) < len(labels):
            tell(levels_note(own, len(labels), len(kept), float(shares[kept].sum())))
        return np.asarray(labels[kept[np.argsort(-shares[kept], kind="stable")]], object)
    numbers = axis_numbers(own.values[present])
    middle = quantiles(numbers, _QUANTILES, counted[present])
    # values that occur, so that the reference is one that rows have
    nearest = [int(np.argmin(np.abs(numbers - value))) for value in middle]
    return np.asarray(list(dict.fromkeys(own.values[present][nearest].tolist())))


def joint_curves(
    explanation: "Explanation",
    at: Mapping[str, Sequence[Any]],
    *,
    output: Any = None,
    scale: Any = None,
    rows: Index | None = None,
    extrapolation: bool = True,
    seed: int = 0,
    n_jobs: int = 1,
) -> JointCurves:
    """Predict every row with columns held at points.

    Parameters
    ----------
    explained
        The model and its data.
    at
        Values by column, as many of each: the points.
    output, scale
        As for `clearwood.effect`.
    rows
        The rows to predict, by position; all of them when None, unless that takes more than
        40 million predictions.
    extrapolation
        Whether to find the share of rows outside the data, as `clearwood.effect` does: by the
        distance to the nearest rows in the held columns and those that go with them.
    seed
        Fixes which rows are drawn.
    n_jobs
        Threads, where the model is read as a forest.
    """
    predictor = explanation.predictor(output=output, scale=scale, n_jobs=n_jobs)
    two_rows_or_more(len(predictor), "a direct effect")
    names = {predictor.names[predictor.position(name)]: list(v) for name, v in at.items()}
    sizes = {len(values) for values in names.values()}
    if len(sizes) != 1 or not names:
        raise InputError(
            words("the columns in ", Option("at"), " have different numbers of values"),
            parameter="at",
        )
    (n_points,) = sizes
    positions = [predictor.names.index(name) for name in names]
    wanted = {}
    for position, values in zip(positions, names.values(), strict=True):
        checked_column(predictor.columns[position])
        wanted[position] = _two_or_more(predictor.columns[position], values)
    longer, given = given_values(
        explanation, predictor, wanted, output=output, scale=scale, n_jobs=n_jobs
    )
    places = {k: _places(given[k], v) for k, v in zip(positions, names.values(), strict=True)}
    if rows is None:
        most = max(2, _MOST_PREDICTIONS // (n_points * len(predictor.outputs)))
        rows = draw_rows(len(predictor), most, seed=seed)
    weights = np.ones(len(rows)) if predictor.weights is None else predictor.weights[rows]
    held = {k: np.repeat(given[k].rows[places[k]], len(rows)) for k in positions}
    each = longer.predict(np.tile(rows, n_points), held).reshape(n_points, len(rows), -1)
    outside = np.zeros(n_points)
    if extrapolation:
        outside = _outside(predictor, given, places, rows, weights)
    return JointCurves(
        columns=tuple(names),
        others=tuple(name for name in predictor.names if name not in names),
        at={predictor.names[k]: given[k].values[places[k]] for k in positions},
        each=each.transpose(1, 0, 2),
        rows=rows,
        weights=weights,
        outside=outside,
        about=About(
            model=predictor.kind,
            value="interventional",
            background=BackgroundInfo(len(rows), predictor.weights is not None),
            unit=predictor.unit,
            outputs=predictor.outputs,
            rate=rate_of(explanation.model),
        ),
        n_data=len(predictor),
        evaluations=longer.evaluations[0],
    )


def _two_or_more(column: Column, values: list[Any]) -> list[Any]:
    """Return values with another one of the column where all are the same: a grid has two."""
    if not values:
        raise bad_value("at", values, f"there are no values of {column.name!r}")
    if len({str(value) for value in values}) > 1:
        return values
    known = column.labels()[~column.missing]
    other = next((label for label in known if str(label) != str(values[0])), None)
    return values if other is None else [*values, other]


def _places(given: Given, values: Sequence[Any]) -> Index:
    """Return the position of each wanted value among those that were read."""
    if not given.is_ordered:
        position = {str(level): k for k, level in enumerate(given.values)}
        return np.array([position[str(value)] for value in values], np.intp)
    return np.searchsorted(given.values, np.array(values, dtype=given.values.dtype))


def _outside(
    predictor: Predictor,
    given: Mapping[int, Given],
    places: Mapping[int, Index],
    rows: Index,
    weights: Floats,
) -> Floats:
    """Return at each point the share of rows that lie outside the data when held there."""
    n_points = len(next(iter(places.values())))
    size = min(len(rows), max(20, _ROWS_LOOKED_AT // n_points))
    chosen = np.linspace(0, len(rows) - 1, size).round().astype(np.intp)
    held = {k: np.repeat(given[k].near[at], size) for k, at in places.items()}
    region = support_of(predictor, tuple(places))
    outside = region.outside(np.tile(rows[chosen], n_points), held).reshape(n_points, size)
    beyond = np.any([given[k].beyond[at] for k, at in places.items()], axis=0)
    return np.where(beyond, 1.0, outside @ weights[chosen] / weights[chosen].sum())
