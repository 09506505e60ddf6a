"""Observed against expected in the bands and levels of columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from clearwood._shared.arrays import Bools, Floats, Index
from clearwood._shared.frames import unique_name
from clearwood._shared.numbers import cell, count, number, percent
from clearwood._shared.results import Result, html_table
from clearwood.evaluation.intervals import Mean, joint_level, positive_ends
from clearwood.evaluation.pairs import Pairs, bins_of
from clearwood.table import Column, Kind

__all__ = ["Bands", "ByColumn", "bands_of", "by_columns"]

Compared = Literal["ratio", "difference"]

_MISSING = "missing"
_MOST_LEVELS = 30


@dataclass(frozen=True, eq=False)
class Bands:
    """The values of a column in few bands.

    Parameters
    ----------
    names
        Of the bands, in order.
    which
        The band of each row.
    """

    names: tuple[str, ...]
    which: Index


@dataclass(frozen=True, eq=False, repr=False)
class ByColumn(Result):
    """Observed and predicted means where a column, or a pair of columns, has certain values.

    Parameters
    ----------
    learner, what
        The learner, and what it predicts.
    columns
        The names of one or two columns.
    bands
        For each line, the band or level of every column.
    rows, weight
        How many rows it has, and their weight, such as exposure.
    observed, predicted
        The mean target and the mean prediction.
    compared
        Whether `value` is observed / predicted ("ratio") or observed - predicted ("difference").
    value, low, high
        The comparison with its interval. The intervals of all lines hold together (Bonferroni).
    misses
        Whether the interval excludes equality.
    loss
        The mean loss of the rows.
    confidence
        The level of the intervals, of all lines together.
    is_weighted
        Whether rows count by their weight.
    middle
        For one column of numbers or dates, the mean value in each band; missing ones have none.
    """

    learner: str
    what: str
    columns: tuple[str, ...]
    bands: tuple[tuple[str, ...], ...]
    rows: NDArray[np.int64]
    weight: Floats
    observed: Floats
    predicted: Floats
    compared: Compared
    value: Floats
    low: Floats
    high: Floats
    misses: Bools
    loss: Floats
    confidence: float
    is_weighted: bool = False
    middle: NDArray[Any] | None = None

    def around_observed(self) -> tuple[Floats, Floats]:
        """Return the interval of the comparison as one of the observed mean."""
        if self.compared == "ratio":
            return self.low * self.predicted, self.high * self.predicted
        return self.low + self.predicted, self.high + self.predicted

    def _columns(self) -> dict[str, Any]:
        own = ("rows", "weight", "observed", "predicted")
        word = self.compared
        more = (word, f"{word}_low", f"{word}_high", "low", "high", "misses", "loss")
        named: dict[str, Any] = {
            unique_name(name, (*own, *more)): [band[place] for band in self.bands]
            for place, name in enumerate(self.columns)
        }
        return {
            **named,
            **{name: getattr(self, name) for name in own},
            word: self.value,
            f"{word}_low": self.low,
            f"{word}_high": self.high,
            "misses": self.misses,
            "loss": self.loss,
        }

    def plot(self) -> Any:
        """Draw observed and predicted means (Altair)."""
        from clearwood.plot import plot_by_column

        return plot_by_column(self)

    def __repr__(self) -> str:
        weighted = ", weighted" if self.is_weighted else ""
        missed = int(self.misses.sum())
        words = (
            "none is clearly off"
            if not missed
            else f"{missed} of them {'is' if missed == 1 else 'are'} clearly off"
        )
        return (
            f"Observed against expected by {' and '.join(self.columns)} of {self.learner!r}, "
            f"{self.what}{weighted}: {count(len(self.rows), 'band')}, {words} "
            f"({percent(self.confidence)} intervals of all bands together)"
        )

    def _repr_html_(self) -> str:
        lines = [
            (
                " / ".join(band),
                f"{rows:,}",
                *(number(x, 4) for x in numbers),
            )
            for band, rows, *numbers in zip(
                self.bands,
                self.rows.tolist(),
                self.observed,
                self.predicted,
                self.value,
                self.low,
                self.high,
                strict=True,
            )
        ]
        headings = ("band", "rows", "observed", "predicted", self.compared, "low", "high")
        return html_table(repr(self), headings, lines)


def bands_of(column: Column, weights: Floats, *, most: int = 10) -> Bands:
    """Return the bands of a column: of about equal weight for numbers and dates, else its levels.

    Missing values are a band of their own, and rare levels one together.

    Examples
    --------
    >>> age = Column("age", Kind.NUMBER, np.array([20.0, 30.0, 40.0, np.nan]))
    >>> bands_of(age, np.ones(4), most=2).names
    ('20', '30 to 40', 'missing')
    """
    missing = column.missing
    which = np.full(len(column), -1, dtype=np.intp)
    if column.is_coded or column.kind is Kind.TEXT:
        names = _levels(column, weights, which)
    else:
        present = ~missing
        names = _spans(column, weights, which, most) if present.any() else []
    if missing.any():
        which[missing] = len(names)
        names = [*names, _MISSING]
    return Bands(tuple(names), which)


def _spans(column: Column, weights: Floats, which: Index, most: int) -> list[str]:
    present = np.flatnonzero(~column.missing)
    values = column.values[present]
    is_date = column.kind is Kind.DATE
    numbers = values.astype("datetime64[us]").astype(np.float64) if is_date else values
    codes = bins_of(numbers.astype(np.float64), most, weights[present])
    which[present] = codes
    ends = [(values[codes == k].min(), values[codes == k].max()) for k in range(codes.max() + 1)]
    written = [tuple(_written(value, is_date=is_date) for value in both) for both in ends]
    return [low if low == high else f"{low} to {high}" for low, high in written]


def _written(value: Any, *, is_date: bool) -> str:
    return str(value.astype("datetime64[D]")) if is_date else cell(value)


def _levels(column: Column, weights: Floats, which: Index) -> list[str]:
    if column.is_coded:
        levels, codes = list(column.levels), column.values.astype(np.intp)
    else:
        labels = np.array(["" if value is None else str(value) for value in column.values])
        found, codes = np.unique(labels, return_inverse=True)
        levels, codes = found.tolist(), np.where(column.missing, -1, codes)
    known = codes >= 0
    mass = np.bincount(codes[known], weights[known], len(levels))
    used = np.flatnonzero(mass > 0)
    if column.kind not in (Kind.ORDERED, Kind.YES_NO):
        used = used[np.argsort(-mass[used], kind="stable")]
    place = np.full(len(levels), -1, dtype=np.intp)
    if len(used) <= _MOST_LEVELS:
        place[used] = np.arange(len(used))
        names = [levels[k] for k in used]
    else:
        shown = np.sort(np.argsort(-mass, kind="stable")[: _MOST_LEVELS - 1])
        shown = np.array([k for k in used if k in set(shown.tolist())], dtype=np.intp)
        rest = np.setdiff1d(used, shown)
        place[shown], place[rest] = np.arange(len(shown)), len(shown)
        names = [*(levels[k] for k in shown), f"{len(rest):,} other levels"]
    which[known] = place[codes[known]]
    return names


def by_columns(
    pairs: Pairs,
    losses: Floats,
    columns: Sequence[Column],
    *,
    compared: Compared,
    confidence: float,
    inflation: float,
    are_events: bool,
    copies: int = 1,
    **about: Any,
) -> ByColumn:
    """Return the comparison in the bands of one column, or of two in all their combinations.

    Where nothing at all was observed, the ratio of events has the variance of a Poisson count, and
    that of other targets no known one.
    """
    most = 10 if len(columns) == 1 else 5
    each = [bands_of(column, pairs.weights, most=most) for column in columns]
    code = np.zeros(len(pairs.truth), dtype=np.intp)
    for bands in each:
        code = code * len(bands.names) + bands.which
    cells = np.unique(code)
    groups = [np.flatnonzero(code == cell) for cell in cells]
    names = [_names(int(cell), each) for cell in cells]
    means = [
        [
            np.average(values[own], weights=pairs.weights[own])
            for values in (pairs.truth, pairs.predicted, losses)
        ]
        for own in groups
    ]
    observed, predicted, loss = np.array(means).T
    compare = _difference
    if compared == "ratio":
        unknown = 1.0 if are_events else np.nan
        dispersion = pairs.dispersion if np.isfinite(pairs.dispersion) else unknown
        compare = partial(_ratio, dispersion=dispersion)
    together = joint_level(confidence, len(groups))
    value, low, high = np.array([compare(pairs, own, together, inflation) for own in groups]).T
    equal = 1.0 if compared == "ratio" else 0.0
    return ByColumn(
        columns=tuple(column.name for column in columns),
        bands=tuple(names),
        rows=np.array([round(len(own) / copies) for own in groups]),
        weight=np.array([pairs.weights[own].sum() for own in groups]),
        observed=observed,
        predicted=predicted,
        compared=compared,
        value=value,
        low=low,
        high=high,
        misses=(equal < low) | (equal > high),
        loss=loss,
        confidence=confidence,
        middle=_middle(columns[0], pairs.weights, groups) if len(columns) == 1 else None,
        **about,
    )


def _middle(column: Column, weights: Floats, groups: Sequence[Index]) -> NDArray[Any] | None:
    """Return the mean value of a column of numbers or dates in each group of rows."""
    if column.is_coded or column.kind is Kind.TEXT:
        return None
    is_date = column.kind is Kind.DATE
    values = column.values
    if is_date:
        values = values.astype("datetime64[us]").astype(np.float64)
    missing = column.missing
    means = np.array(
        [
            np.nan if missing[own].any() else np.average(values[own], weights=weights[own])
            for own in groups
        ]
    )
    if not is_date:
        return means
    dates = np.full(len(means), np.datetime64("NaT"), dtype="datetime64[us]")
    known = np.isfinite(means)
    dates[known] = means[known].astype(np.int64).astype("datetime64[us]")
    return dates


def _names(cell: int, each: Sequence[Bands]) -> tuple[str, ...]:
    names: list[str] = []
    for bands in reversed(each):
        cell, place = divmod(cell, len(bands.names))
        names.insert(0, bands.names[place])
    return tuple(names)


def _difference(
    pairs: Pairs, own: Index, confidence: float, inflation: float
) -> tuple[float, float, float]:
    gaps = pairs.truth[own] - pairs.predicted[own]
    mean = Mean.of(gaps, pairs.weights[own], pairs.units[own])
    quantile = stats.t.ppf(0.5 + confidence / 2, max(mean.n - 1, 1))
    half = float(quantile * inflation * np.sqrt(mean.variance))
    return mean.mean, mean.mean - half, mean.mean + half


def _ratio(
    pairs: Pairs, own: Index, confidence: float, inflation: float, *, dispersion: float
) -> tuple[float, float, float]:
    """Return observed / expected between the ends of its interval.

    Where nothing was observed, the variance follows from the dispersion of all rows.
    """
    y, p, w = pairs.truth[own], pairs.predicted[own], pairs.weights[own]
    expected = float(np.average(p, weights=w))
    if not expected > 0:
        return np.nan, np.nan, np.nan
    ratio = float(np.average(y, weights=w)) / expected
    # in units of what is expected, whose square may be too large a number
    mean = Mean.of(y / expected - ratio * (p / expected), w, pairs.units[own])
    alone = dispersion / (expected * float(w.sum()))
    per_unit = mean.variance / ratio if ratio > 0 else alone
    quantile = float(stats.t.ppf(0.5 + confidence / 2, max(mean.n - 1, 1)))
    return ratio, *positive_ends(ratio, per_unit, quantile * inflation)
