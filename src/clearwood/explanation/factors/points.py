"""A model of two classes as whole points that are added up, and what rounding them costs."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.errors import InputError, Option, bad_value, words
from clearwood._shared.numbers import number, percent, share_of
from clearwood._shared.results import Result, document
from clearwood.explanation.factors.cells import FactorAxis
from clearwood.explanation.factors.result import Factors
from clearwood.fitted import Unit
from clearwood.models import Learner
from clearwood.table import Schema, Table, as_table

__all__ = [
    "USUAL_POINTS",
    "Points",
    "PointsCell",
    "PointsTerm",
    "Rounding",
    "points_of",
    "usual_points",
]

#: Score, odds at it, and points that double the odds, where none are given.
USUAL_POINTS = (600.0, 50.0, 20.0)

#: Above it, whole points could not be told apart from the next.
_LARGEST = 1e9


@dataclass(frozen=True)
class PointsCell(Result):
    """One band of a column, or of two, with its points and the rows in it.

    Parameters
    ----------
    levels
        Levels of a category, for each column; empty for numbers.
    low, high
        Of numbers, for each column: above the first, up to the second; None where there is no end.
    missing, other
        For each column, whether it is the band of missing values, or of levels that the model was
        not fitted with.
    points
        What is added.
    rows, share
        The weight of the rows of the data in the band, and its share.
    events, rate
        The weight of the rows of the second class, and their share in the band; None without a
        target.
    evidence
        Log of the ratio of the shares that both classes have in the band; None where one has none.
    information
        What the band adds to the information value of the column.
    """

    levels: tuple[tuple[str, ...], ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]
    missing: tuple[bool, ...]
    other: tuple[bool, ...]
    points: int
    rows: float
    share: float
    events: float | None
    rate: float | None
    evidence: float | None
    information: float | None

    def label(self, k: int) -> str:
        """Write the band of one of its columns."""
        if self.missing[k]:
            return "missing"
        if self.other[k]:
            return "other levels"
        if self.levels[k]:
            return ", ".join(self.levels[k])
        low, high = self.low[k], self.high[k]
        if low is None:
            return "any" if high is None else f"up to {number(high, 6)}"
        above = f"above {number(low, 6)}"
        return above if high is None else f"{above}, up to {number(high, 6)}"


@dataclass(frozen=True, eq=False)
class PointsTerm:
    """The bands of one column, or of two together.

    Parameters
    ----------
    axes
        The cells of each column.
    points
        Of each cell; NaN where the model does not take a missing value.
    cells
        Cells of equal points that belong together, as one band each.
    """

    axes: tuple[FactorAxis, ...]
    points: Floats
    cells: tuple[PointsCell, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(axis.column for axis in self.axes)

    @property
    def information(self) -> float | None:
        """The information value; None without a target."""
        known = [cell.information for cell in self.cells if cell.information is not None]
        return float(np.sum(known)) if known else None

    def of(self, table: Table) -> Floats:
        """Return the points of each row."""
        places = tuple(axis.places(table.column(axis.column)) for axis in self.axes)
        return np.asarray(self.points[places])


@dataclass(frozen=True)
class Rounding(Result):
    """What whole points cost against exact ones, on the rows of the data.

    Parameters
    ----------
    cutoff
        The score from which rows are accepted; None where none was named.
    crossing
        The share of the rows, by weight, that are on another side of the cut-off.
    worst_cutoff, worst_crossing
        The whole score at which this share is largest, and the share.
    gini_normalised, gini_normalised_exact
        Normalised Gini coefficient (2 AUC - 1) of the whole and of the exact points; None without
        a target.
    counted_by
        What the shares are of: "rows", or what they count by, such as "weight".
    """

    cutoff: float | None
    crossing: float | None
    worst_cutoff: int
    worst_crossing: float
    gini_normalised: float | None
    gini_normalised_exact: float | None
    counted_by: str = "rows"

    _derived = ("gini_normalised_lost",)

    @property
    def gini_normalised_lost(self) -> float | None:
        """By how much the normalised Gini coefficient is smaller; None without a target."""
        if self.gini_normalised is None or self.gini_normalised_exact is None:
            return None
        return self.gini_normalised_exact - self.gini_normalised

    @property
    def sentence(self) -> str:
        """The cost in words, with what it is of."""
        return f"rounding: {self.text}"

    @property
    def text(self) -> str:
        """The cost in words."""
        if self.cutoff is not None and self.crossing is not None:
            text = f"{share_of(self.crossing, self.counted_by)} cross the cut-off "
            text += number(self.cutoff)
        else:
            text = (
                f"at most {share_of(self.worst_crossing, self.counted_by)} cross a cut-off "
                f"(at {self.worst_cutoff})"
            )
        if self.gini_normalised is None or self.gini_normalised_exact is None:
            return text
        after, before = (
            number(gini, 4) for gini in (self.gini_normalised, self.gini_normalised_exact)
        )
        return f"{text}; normalised Gini {after}, before rounding {before}"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Points(Result):
    """A model as whole points: start, and what each band of a column adds.

    Made by `clearwood.factors` with ``points``. High scores mean that the second class is
    improbable.

    Parameters
    ----------
    score, odds, double
        The score at which the odds of the first class against the second are ``odds`` to 1, and
        the points that double them.
    start
        What points are added to: the score of a row that lies in the worst band everywhere.
    terms
        First those of one column, then those of two. The worst band of each has no points.
    outcome
        The event whose probability falls as points rise.
    rounding
        What whole points cost.
    notes
        What the reader should know, such as columns that are not in the card.
    counted_by
        What shares are of: "rows", or what they count by, such as "weight".
    """

    score: float
    odds: float
    double: float
    start: int
    terms: tuple[PointsTerm, ...]
    outcome: str
    rounding: Rounding
    notes: tuple[str, ...] = ()
    counted_by: str = "rows"
    schema: Schema

    @property
    def headline(self) -> str:
        """The scaling in words: score, odds, the points that double them, and the start."""
        return (
            f"Points against {self.outcome}: {number(self.score)} at {number(self.odds)} to 1, "
            f"{number(self.double)} double the odds; start at {self.start}"
        )

    def of(self, data: Any) -> Floats:
        """Return the points of rows; NaN where a value is missing that the model does not take."""
        table = as_table(data, schema=self.schema)
        total = np.full(table.n_rows, float(self.start))
        for term in self.terms:
            total += term.of(table)
        return total

    def probability(self, points: Floats | float) -> Floats:
        """Return the probability of the event at points."""
        good = np.log(self.odds) + (np.asarray(points, float) - self.score) * np.log(2) / (
            self.double
        )
        return np.asarray(1 / (1 + np.exp(good)))

    def lines(self) -> list[dict[str, Any]]:
        """Return one line for the start and one for each band; levels are a JSON list."""
        pairs = any(len(term.axes) == 2 for term in self.terms)
        suffixes = ("", "_2") if pairs else ("",)
        names = [f"{name}{more}" for more in suffixes for name in _BAND]
        empty = dict.fromkeys([*names, "points", *_COUNTS])
        lines = [{**empty, "points": self.start}]
        for term in self.terms:
            for cell in term.cells:
                line = {**empty, "points": cell.points}
                for k, column in enumerate(term.columns):
                    more = suffixes[k]
                    line |= {f"column{more}": column, f"band{more}": cell.label(k)}
                    line |= {f"low{more}": cell.low[k], f"high{more}": cell.high[k]}
                    names = list(cell.levels[k])
                    written = json.dumps(names, ensure_ascii=False) if names else None
                    line |= {f"levels{more}": written, f"missing{more}": cell.missing[k]}
                    line |= {f"other{more}": cell.other[k]}
                line |= {name: getattr(cell, name) for name in _COUNTS}
                lines.append(line)
        return lines

    def _columns(self) -> Mapping[str, Any]:
        lines = self.lines()
        return {name: [line[name] for line in lines] for name in lines[0]}

    def to_json(self) -> dict[str, Any]:
        """Return the points, bands and the cost of rounding as plain JSON values."""
        return document(
            {
                "score": self.score,
                "odds": self.odds,
                "double": self.double,
                "start": self.start,
                "outcome": self.outcome,
                "columns": [
                    {
                        "columns": list(term.columns),
                        "information": term.information,
                        "bands": [cell.to_json() for cell in term.cells],
                    }
                    for term in self.terms
                ],
                "rounding": self.rounding.to_json(),
                "notes": list(self.notes),
            }
        )

    def __repr__(self) -> str:
        lines = [self.headline]
        for term in self.terms:
            known = term.information
            value = "" if known is None else f" (information value {number(known)})"
            names = " and ".join(" ".join(name.split()) for name in term.columns)
            lines.append(f"  {names}{value}")
            for cell in term.cells:
                band = "; ".join(" ".join(cell.label(k).split()) for k in range(len(term.axes)))
                rate = "" if cell.rate is None else f", rate {percent(cell.rate)}"
                rows = f"{share_of(cell.share, self.counted_by)}{rate}"
                lines.append(f"    {cell.points:+d}  {band}: {rows}")
        notes = [f"note: {note}" for note in self.notes]
        return "\n".join([*lines, self.rounding.sentence, *notes])


_BAND = ("column", "band", "levels", "low", "high", "missing", "other")
_COUNTS = ("rows", "share", "events", "rate", "evidence", "information")


def usual_points(model: Any) -> tuple[float, float, float] | None:
    """Return the scaling of a model that is made for points; None for others."""
    is_card = isinstance(model, Learner) and model.name == "scorecard"
    return USUAL_POINTS if is_card else None


def points_of(
    factors: Factors,
    table: Table,
    points: Any,
    *,
    events: NDArray[np.bool_] | None,
    cutoff: float | None = None,
    notes: Sequence[str] = (),
) -> Points:
    """Round a table of odds ratios to whole points.

    Parameters
    ----------
    factors
        The model as a table.
    table
        Rows that are counted.
    points
        Score, odds at it, and the points that double the odds.
    events
        Which rows belong to the second class; None where that is not known.
    cutoff
        The score from which rows are accepted.
    notes
        What the reader should know of the model.
    """
    score, odds, double = _checked(points)
    if cutoff is not None and not _is_finite(cutoff):
        raise bad_value("cutoff", cutoff, "it must be a number of points")
    if factors.unit is not Unit.LOG_ODDS:
        raise InputError(
            "points are for two classes, and this model predicts " + factors.outcome,
            parameter="points",
            value=points,
        )
    for term in factors.terms:
        if term.powers is not None:
            raise InputError(
                f"column {' and '.join(term.columns)!r} has a curve, which has no bands",
                parameter="points",
                value=points,
                hint=words("set ", Option("max_cells", 6), ", or fit 'scorecard'."),
            )
    rows = as_table(table, schema=factors.schema)
    weight = np.ones(table.n_rows) if table.weights is None else table.weights
    factor = double / np.log(2)
    start = score - factor * (factors.base_score + np.log(odds))
    exact, terms = np.full(table.n_rows, start), []
    for term in factors.terms:
        own = -factor * term.effects
        least = float(np.nanmin(own))
        start += least
        places = tuple(axis.places(rows.column(axis.column)) for axis in term.axes)
        exact += own[places]
        whole = np.round(own - least)
        cells = _cells(term.axes, whole, places, weight, events)
        terms.append(PointsTerm(term.axes, whole, tuple(cells)))
    result = Points(
        score=score,
        odds=odds,
        double=double,
        start=round(start),
        terms=tuple(terms),
        outcome=factors.outcome,
        rounding=Rounding(None, None, 0, 0.0, None, None),
        counted_by=table.counted_by,
        notes=(*notes, *_without_points(terms)),
        schema=factors.schema,
    )
    rounding = _rounding(exact, result.of(rows), weight, events, cutoff)
    rounding = replace(rounding, counted_by=table.counted_by)
    object.__setattr__(result, "rounding", rounding)
    return result


def _without_points(terms: Sequence[PointsTerm]) -> Iterator[str]:
    """Name the columns whose points are all rounded to zero."""
    names = [" and ".join(term.columns) for term in terms if np.nanmax(term.points) == 0]
    if names:
        yield f"rounded to whole points, every band has 0 points: {', '.join(names)}"


def _is_finite(value: Any) -> bool:
    """Whether something is a number of a size that points may have."""
    is_number = isinstance(value, int | float | np.integer | np.floating)
    return is_number and not isinstance(value, bool) and bool(abs(value) <= _LARGEST)


def _checked(points: Any) -> tuple[float, float, float]:
    """Read score, odds and points that double the odds."""
    fits = isinstance(points, Sequence) and not isinstance(points, str) and len(points) == 3
    fits = fits and all(map(_is_finite, points))
    if not fits or points[1] <= 0 or points[2] <= 0:
        raise bad_value(
            "points",
            points,
            "it must be a score, the odds at it, and the points that double the odds, both above "
            "zero, and none above a thousand million",
            hint=words("for example ", Option("points", (600, 50, 20)), "."),
        )
    return float(points[0]), float(points[1]), float(points[2])


def _cells(
    axes: tuple[FactorAxis, ...],
    points: Floats,
    places: tuple[Index, ...],
    weight: Floats,
    events: NDArray[np.bool_] | None,
) -> Iterator[PointsCell]:
    """Count the rows of each band; levels of equal points, and of one column, are one band."""
    flat = np.ravel_multi_index(places, points.shape)
    mass = np.bincount(flat, weight, points.size).reshape(points.shape)
    bad = None
    if events is not None:
        bad = np.bincount(flat, weight * events, points.size).reshape(points.shape)
    for members in _members(axes, points):
        first = members[0]
        index = tuple(np.array(members).T)
        own = float(mass[index].sum())
        counts: dict[str, Any] = dict.fromkeys(("events", "rate", "evidence", "information"))
        if bad is not None:
            counts = _evidence(float(bad[index].sum()), own, float(bad.sum()), float(mass.sum()))
        yield PointsCell(
            levels=tuple(
                tuple(dict.fromkeys(axis.levels[m[k]] for m in members))
                if axis.levels is not None and first[k] < len(axis.levels)
                else ()
                for k, axis in enumerate(axes)
            ),
            low=tuple(_ends(axis, first[k])[0] for k, axis in enumerate(axes)),
            high=tuple(_ends(axis, first[k])[1] for k, axis in enumerate(axes)),
            missing=tuple(first[k] == axis.n_known for k, axis in enumerate(axes)),
            other=tuple(
                axis.levels is not None and first[k] == len(axis.levels)
                for k, axis in enumerate(axes)
            ),
            points=int(points[first]),
            rows=own,
            share=own / float(mass.sum()),
            **counts,
        )


def _members(axes: tuple[FactorAxis, ...], points: Floats) -> list[list[tuple[int, ...]]]:
    """List the cells of each band, by points for a category."""
    every = [cell for cell in np.ndindex(points.shape) if not np.isnan(points[cell])]
    if len(axes) > 1 or axes[0].levels is None:
        return [[cell] for cell in every]
    by_points: dict[Any, list[tuple[int, ...]]] = {}
    for cell in every:
        # missing values and other levels are bands of their own
        is_level = cell[0] < len(axes[0].levels)
        by_points.setdefault(float(points[cell]) if is_level else cell, []).append(cell)
    return list(by_points.values())


def _ends(axis: FactorAxis, cell: int) -> tuple[float | None, float | None]:
    """Return the ends of a cell of numbers; None where there is none."""
    if axis.levels is not None or cell >= axis.n_known:
        return None, None
    low, high = axis.ends(cell)
    return (low if np.isfinite(low) else None), (high if np.isfinite(high) else None)


def _evidence(events: float, rows: float, all_events: float, all_rows: float) -> dict[str, Any]:
    """Return rate, evidence and information of a band."""
    others, all_others = rows - events, all_rows - all_events
    counts: dict[str, Any] = {"events": events, "rate": events / rows if rows else None}
    if min(events, others, all_events, all_others) <= 0:
        return {**counts, "evidence": None, "information": None}
    p, q = events / all_events, others / all_others
    evidence = float(np.log(p / q))
    return {**counts, "evidence": evidence, "information": (p - q) * evidence}


def _rounding(
    exact: Floats,
    whole: Floats,
    weight: Floats,
    events: NDArray[np.bool_] | None,
    cutoff: float | None,
) -> Rounding:
    """Count the rows that change sides at cut-offs, and compare the rankings."""
    known = ~np.isnan(whole) & (weight > 0)
    exact, whole, weight = exact[known], whole[known], weight[known]
    total = float(weight.sum()) or 1.0
    # a row changes sides at the whole numbers above the smaller and up to the larger
    first = np.floor(np.minimum(exact, whole) + 1e-9) + 1
    last = np.floor(np.maximum(exact, whole) - 1e-9 + 1e-9)
    crossing = last >= first
    # only where rows begin or end to be on two sides, since scores may be far apart
    places = np.concatenate([[first.min(initial=0.0)], first[crossing], last[crossing] + 1])
    changes = np.concatenate([[0.0], weight[crossing], -weight[crossing]])
    cutoffs, at = np.unique(places, return_inverse=True)
    running = np.cumsum(np.bincount(at, changes))
    worst = int(np.argmax(running))
    share = None
    if cutoff is not None:
        share = float(weight[(exact >= cutoff) != (whole >= cutoff)].sum()) / total
    gini_normalised = gini_normalised_exact = None
    if events is not None and len(np.unique(own := events[known])) == 2:
        gini_normalised, gini_normalised_exact = (
            float(2 * roc_auc_score(own, -scores, sample_weight=weight) - 1)
            for scores in (whole, exact)
        )
    worst_share = max(float(running[worst]), 0.0) / total
    return Rounding(
        cutoff, share, int(cutoffs[worst]), worst_share, gini_normalised, gini_normalised_exact
    )
