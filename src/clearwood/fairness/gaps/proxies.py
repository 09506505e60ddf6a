"""Columns that stand for protected ones: what they reveal, what they carry, whether they help."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from clearwood._shared.arrays import Bools, Floats, Index
from clearwood._shared.choices import Interval
from clearwood._shared.errors import bad_value
from clearwood._shared.numbers import IN_TABLES, interval, number, percent
from clearwood._shared.results import Result, html_table
from clearwood._shared.weights import counted, quantiles
from clearwood.benchmarking import Benchmark, benchmark
from clearwood.evaluation import measures
from clearwood.fairness.gaps.gap import gap
from clearwood.fairness.gaps.result import Gap
from clearwood.fairness.groups.grouping import groups_of, one_line, protected_columns
from clearwood.fairness.groups.reading import ReadRows, read_both
from clearwood.fairness.predictors.fair_model import FairModel
from clearwood.fairness.predictors.training import fitted_to
from clearwood.models import is_fitted
from clearwood.table import Column, Table, Task

__all__ = ["Proxies", "Proxy", "ProxyVerdict", "proxies", "proxies_of_gap"]

ProxyVerdict = Literal[
    "unneeded proxy", "not shown to be needed", "needed", "no proxy", "not judged"
]
ALL = "all columns"

_FOLDS = 5
_BINS = 20
#: Numbers with at most so many different values have a bin for each.
_MOST_VALUES = 50
_MEANING: dict[ProxyVerdict, str] = {
    "unneeded proxy": "it reveals the protected columns, carries a part of the gap, and does not "
    "improve predictions given the protected columns",
    "not shown to be needed": "it reveals the protected columns and carries a part of the gap; "
    "whether it improves predictions is not clear",
    "needed": "it reveals the protected columns and carries a part of the gap, and improves "
    "predictions given the protected columns",
    "no proxy": "it does not reveal the protected columns, or carries no part of the gap",
    "not judged": "whether it carries a part of the gap needs refits, and whether it improves "
    "predictions a benchmark",
}


@dataclass(frozen=True)
class Proxy(Result):
    """A permitted column as a proxy for the protected ones.

    Parameters
    ----------
    column
        The column.
    auc, auc_low, auc_high
        How well the column by itself tells a judged group from the others, on rows that it was not
        learned from: 0.5 is chance. Of several groups, the one that is told best; the interval then
        allows for the choice.
    told
        The group that is told.
    difference, low, high
        The part of the gap between a group and the reference that the column carries, with its
        interval from refits; the largest part of any judged group. None for the interval without
        refits.
    group
        The group whose gap that is.
    ratio
        The same part as a ratio; None where there is none.
    rise, rise_low, rise_high
        How much the risk rises when the column is left out and the protected columns are kept; None
        where it was not benchmarked.
    margin
        The rise below which a column is not needed.
    verdict
        What follows.
    """

    column: str
    auc: float
    auc_low: float
    auc_high: float
    told: str
    difference: float
    group: str
    low: float | None
    high: float | None
    ratio: float | None
    rise: float | None
    rise_low: float | None
    rise_high: float | None
    margin: float | None
    verdict: ProxyVerdict
    _derived = ("reveals", "carries", "meaning")

    @property
    def reveals(self) -> bool:
        """Whether the column tells a protected group better than chance."""
        return self.auc_low > 0.5

    @property
    def carries(self) -> bool | None:
        """Whether its part of the gap differs from zero; None without refits."""
        if self.low is None or self.high is None:
            return None
        return self.low > 0 or self.high < 0

    @property
    def meaning(self) -> str:
        """The verdict in words."""
        return _MEANING[self.verdict]


@dataclass(frozen=True, eq=False, repr=False)
class Proxies(Result):
    """Permitted columns as proxies, the best telling ones first.

    Made by `clearwood.fairness.proxies`.

    Parameters
    ----------
    rows
        One for each permitted column.
    protected
        The protected columns.
    reference
        The group that others are compared with.
    share
        The margin as a share of the gain of the model over the baseline.
    loss
        What risks are means of; None where no benchmark was run.
    n_refits
        How many refits the intervals of parts of the gap are from.
    confidence
        The level of all intervals.
    seed
        What fixed the draws.
    """

    rows: tuple[Proxy, ...]
    protected: tuple[str, ...]
    reference: str
    share: float
    loss: str | None
    n_refits: int
    confidence: float
    seed: int

    def __getitem__(self, column: str) -> Proxy:
        """Return one column."""
        for row in self.rows:
            if row.column == column:
                return row
        raise KeyError(column)

    def __len__(self) -> int:
        return len(self.rows)

    def _columns(self) -> dict[str, Any]:
        return {
            name: [getattr(row, name) for row in self.rows] for name in Proxy.__dataclass_fields__
        }

    def _table(self) -> list[list[str]]:
        return [
            [
                one_line(row.column),
                f"{number(row.auc)} ({interval(row.auc_low, row.auc_high)}) {one_line(row.told)}",
                f"{_with_band(row.difference, row.low, row.high)} {one_line(row.group)}",
                "" if row.rise is None else _with_band(row.rise, row.rise_low, row.rise_high),
                row.verdict,
            ]
            for row in self.rows
        ]

    def __repr__(self) -> str:
        lines = [_HEADINGS, *self._table()]
        widths = [max(len(line[k]) for line in lines) for k in range(len(_HEADINGS))]
        text = [
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        ]
        about = f"proxies for {' and '.join(map(repr, self.protected))}"
        margin = next((row.margin for row in self.rows if row.margin is not None), None)
        if margin is not None:
            about += (
                f"; a column is unneeded where the {self.loss} risk rises by less than "
                f"{number(margin)} without it ({percent(self.share)} of the gain over the baseline)"
            )
        return "\n".join([*text, f"{about}; {percent(self.confidence)} intervals"])

    def _repr_html_(self) -> str:
        return html_table("Proxies", _HEADINGS, self._table())


_HEADINGS = [
    "column",
    "AUC of a group",
    "part of the gap of a group",
    "rise of the risk",
    "verdict",
]


def _with_band(value: float, low: float | None, high: float | None) -> str:
    """Write a number with its interval, where it has one."""
    text = number(value, IN_TABLES)
    return text if low is None or high is None else f"{text} ({interval(low, high)})"


def proxies(
    model: Any,
    data: Any,
    *,
    protected: Sequence[str] | str | None = None,
    reference: str = "largest",
    output: Any = None,
    test: Any = None,
    margin: float = 0.01,
    n_refits: int = 20,
    risks: bool = True,
    interval: Interval = "nested",
    repeats: int = 1,
    min_rows: int = 30,
    min_share: float = 0.02,
    confidence: float = 0.9,
    seed: int = 0,
    n_jobs: int = 1,
) -> Proxies:
    """Find the permitted columns that stand for protected ones, and whether they are needed.

    A column is an *unneeded proxy* if three things hold, each with its interval: (i) the column by
    itself tells the protected groups apart better than chance, out of fold; (ii) the part of the
    gap that it carries differs from zero over refits; (iii) leaving it out, with the protected
    columns kept, raises the risk by less than a margin. If (iii) is merely not significant, the
    column is "not shown to be needed". Only columns with (i) and (ii) are benchmarked.

    Parameters
    ----------
    model
        A learner or an estimator of scikit-learn that has the protected columns; fitted first if it
        is not.
    data
        The rows that the model was fitted to, with the target.
    protected
        The protected columns; by default those with that role.
    reference
        The group that others are compared with, or "largest", of those that are judged.
    output
        The class whose probability is compared; of two the second by default.
    test
        Rows that the model was not fitted to: then (i) and (ii) are measured on these, learned from
        the training rows.
    margin
        The rise of the risk below which a column is not needed, as a share of what the model gains
        over the baseline.
    n_refits
        How many refits (ii) rests on; with 0, no column is judged.
    risks
        Whether to benchmark (iii); without, no proxy is judged.
    interval, repeats
        The kind of intervals of the risks, and how often rows are split into folds; as for
        `clearwood.benchmark`.
    min_rows, min_share
        Groups with fewer rows or a smaller share, and rows without a value, are not judged: that a
        column tells them, or carries a part of their gap, does not count.
    confidence
        The level of all intervals.
    seed
        Fixes folds and draws.
    n_jobs
        Processes for the benchmark.

    Returns
    -------
    Proxies

    Examples
    --------
    >>> import clearwood as cw
    >>> from clearwood.fairness import proxies
    >>> policies = cw.datasets.insurance(2000)
    >>> result = proxies(cw.learner("glm"), policies, n_refits=0, risks=False)
    >>> [(row.column, round(row.auc, 2)) for row in result.rows[:2]]
    [('height', 0.92), ('mileage', 0.64)]
    """
    if not 0 <= margin < 1:
        raise bad_value("margin", margin, "it must be a share from 0 to below 1")
    rows = read_both(model, data, test, protected)
    fitted = model if is_fitted(model) else fitted_to(model, rows.of_fits())
    parts = gap(
        fitted,
        rows.training,
        protected=protected_columns(protected, rows.measured),
        reference=reference,
        output=output,
        test=rows.measured if rows.has_test else None,
        n_refits=n_refits,
        min_rows=min_rows,
        min_share=min_share,
        confidence=confidence,
        seed=seed,
    )
    return proxies_of_gap(
        fitted,
        rows,
        parts,
        margin=margin,
        risks=risks,
        interval=interval,
        repeats=repeats,
        n_jobs=n_jobs,
    )


def proxies_of_gap(
    model: Any,
    rows: ReadRows,
    parts: Gap,
    *,
    margin: float = 0.01,
    risks: bool = True,
    interval: Interval = "nested",
    repeats: int = 1,
    n_jobs: int = 1,
) -> Proxies:
    """Judge the columns of a gap that is known already, with its groups, level and seed.

    Parameters
    ----------
    model
        The fitted model.
    rows
        The training rows, and those that the gap is of.
    parts
        The gap.
    margin, risks, interval, repeats, n_jobs
        As for `proxies`.
    """
    columns = list(dict.fromkeys(part.column for part in parts.parts if part.column))
    made = [_Candidate(name, rows, parts).proxy() for name in columns]
    bench = None
    suspects = [one.column for one in made if one.reveals and one.carries]
    if risks and suspects:
        without = {
            f"without {name}": FairModel(model, protected=[name], kind="unaware", calibrate=None)
            for name in suspects
        }
        bench = benchmark(
            rows.of_fits(),
            {"baseline": "baseline", ALL: model, **without},
            tune=0,
            interval=interval,
            repeats=repeats,
            confidence=parts.confidence,
            seed=parts.seed,
            n_jobs=n_jobs,
        )
    judged = [_judged(one, bench, margin) for one in made]
    return Proxies(
        rows=tuple(sorted(judged, key=lambda one: -one.auc)),
        protected=parts.protected,
        reference=parts.reference,
        share=margin,
        loss=None if bench is None else bench.loss,
        n_refits=parts.n_refits,
        confidence=parts.confidence,
        seed=parts.seed,
    )


@dataclass(frozen=True, eq=False)
class _Candidate:
    """A permitted column and what it is judged on."""

    column: str
    rows: ReadRows
    parts: Gap

    def proxy(self) -> Proxy:
        """Measure what the column reveals and carries."""
        own = [part for part in self.parts.parts if part.column == self.column]
        judged = [part for part in own if part.group in self.parts.judged]
        largest = max(judged or own, key=lambda part: abs(part.difference))
        auc, low, high, told = self._auc()
        return Proxy(
            column=self.column,
            auc=auc,
            auc_low=low,
            auc_high=high,
            told=told,
            difference=largest.difference,
            group=largest.group,
            low=largest.low,
            high=largest.high,
            ratio=largest.ratio,
            rise=None,
            rise_low=None,
            rise_high=None,
            margin=None,
            verdict="not judged",
        )

    def _auc(self) -> tuple[float, float, float, str]:
        """Return the best AUC of a judged group against the others, with its interval."""
        judged = self.parts.judged
        if len(judged) < 2:
            return 0.5, 0.5, 0.5, self.parts.reference
        measured = _Told.of(self.rows.measured, self.column, self.parts)
        folds = _folds(measured, self.parts.seed)
        if self.rows.has_test and self.rows.training is not None:
            learned = _Told.of(self.rows.training, self.column, self.parts)
            scores = _shares(learned, measured, len(judged))
            folds = np.zeros(len(folds), np.intp)
        else:
            scores = _out_of_fold(measured, folds, len(judged))
        many = len(judged) > 2
        level = 1 - (1 - self.parts.confidence) / (len(judged) if many else 1)
        table = self.rows.measured
        best: tuple[float, float, float, str] | None = None
        for group in range(len(judged)) if many else (1,):
            members = (measured.which == group).astype(np.int64)
            result = measures(
                Task.BINARY,
                members,
                np.column_stack([1 - scores[:, group], scores[:, group]]),
                needs="probability",
                splits=folds,
                weights=None if table.weights is None else measured.weights,
                groups=measured.clusters,
                confidence=level,
            )
            value = float(result["auc"])
            low, high = map(float, result.interval("auc"))
            if best is None or value > best[0]:
                best = value, low, high, judged[group]
        assert best is not None
        return best


@dataclass(frozen=True, eq=False)
class _Told:
    """A column and the judged group of each row that counts and has one.

    Parameters
    ----------
    column
        The column at these rows.
    which
        The position of the group among the judged ones.
    weights
        Of the rows.
    clusters
        What ties rows together; None where nothing does.
    """

    column: Column
    which: Index
    weights: Floats
    clusters: Any

    @classmethod
    def of(cls, table: Table, column: str, parts: Gap) -> "_Told":
        """Find the rows of judged groups."""
        groups = groups_of(table, parts.protected)
        place = {label: k for k, label in enumerate(parts.judged)}
        by_group = np.array([place.get(label, -1) for label in groups.names], np.intp)
        rows, weights = counted(table.weights, table.n_rows)
        which = by_group[groups.which[rows]]
        known = which >= 0
        rows = rows[known]
        clusters = None if table.groups is None else table.groups[rows]
        return cls(table.column(column).take(rows), which[known], weights[known], clusters)

    def take(self, rows: Bools) -> "_Told":
        """Return some of the rows."""
        clusters = None if self.clusters is None else self.clusters[rows]
        return _Told(self.column.take(rows), self.which[rows], self.weights[rows], clusters)


class _Bins:
    """Bins of a column learned from rows: its levels, or intervals of numbers.

    Numbers of few different values have a bin for each of them. A level that was not among the rows
    is in a bin of its own, as are missing values.
    """

    def __init__(self, column: Column, weights: Floats) -> None:
        self.levels: dict[Any, int] | None = None
        self.edges: Floats = np.zeros(0)
        missing = column.missing
        if column.is_coded or column.values.dtype.kind == "O":
            labels = dict.fromkeys(column.labels()[~missing].tolist())
            self.levels = {label: k for k, label in enumerate(labels)}
            self.n = len(self.levels) + 2
            return
        values = _numbers(column)[~missing]
        if len(values):
            distinct = np.unique(values)
            self.edges = distinct
            if len(distinct) > _MOST_VALUES:
                levels = np.arange(1, _BINS) / _BINS
                self.edges = np.unique(quantiles(values, levels, weights[~missing]))
        self.n = len(self.edges) + 2

    def place(self, column: Column) -> Index:
        """Return the bin of each row."""
        missing = column.missing
        if self.levels is None:
            places = np.searchsorted(self.edges, np.where(missing, 0.0, _numbers(column)))
            return np.where(missing, self.n - 1, places).astype(np.intp)
        if column.is_coded:
            by_level = [self.levels.get(level, self.n - 2) for level in column.levels]
            return np.asarray(np.array([*by_level, self.n - 1])[column.values], np.intp)
        labels = column.labels().tolist()
        places = np.array([self.levels.get(label, self.n - 2) for label in labels], np.intp)
        return np.where(missing, self.n - 1, places).astype(np.intp)


def _numbers(column: Column) -> Floats:
    """Return numbers, or dates as numbers."""
    if column.values.dtype.kind == "M":
        return column.values.astype("datetime64[us]").astype(np.float64)
    return column.values.astype(np.float64)


def _folds(told: _Told, seed: int) -> Index:
    """Number the folds; rows that are tied together are in one."""
    rng = np.random.default_rng(seed)
    units = np.arange(len(told.which)) if told.clusters is None else told.clusters
    number_of = np.unique(units, return_inverse=True)[1].ravel()
    fold = rng.permutation(np.arange(number_of.max() + 1) % _FOLDS)
    return np.asarray(fold[number_of], np.intp)


def _out_of_fold(told: _Told, folds: Index, n_groups: int) -> Floats:
    """Return the share of each group in the bin of each row, by the rows of other folds."""
    scores = np.empty((len(told.which), n_groups))
    for fold in np.unique(folds):
        test = folds == fold
        scores[test] = _shares(told.take(~test), told.take(test), n_groups)
    return scores


def _shares(learned: _Told, measured: _Told, n_groups: int) -> Floats:
    """Return the share of each group in the bin of each measured row, by the rows learned from."""
    bins = _Bins(learned.column, learned.weights)
    place = bins.place(learned.column) * n_groups + learned.which
    totals = np.bincount(place, learned.weights, minlength=bins.n * n_groups)
    totals = totals.reshape(bins.n, n_groups)
    overall = totals.sum(axis=0) / totals.sum()
    scale = learned.weights.mean()
    shares: Floats = (totals + scale * overall) / (totals.sum(axis=1, keepdims=True) + scale)
    return shares[bins.place(measured.column)]


def _judged(one: Proxy, bench: Benchmark | None, share: float) -> Proxy:
    """Return the column with its verdict."""
    if not one.reveals or one.carries is False:
        return replace(one, verdict="no proxy")
    name = f"without {one.column}"
    if bench is None or one.carries is None or name not in bench.learners:
        return one
    if bench[name].failures or bench[ALL].failures:
        return one
    paired = bench.compare(name, ALL)
    margin = share * max(bench["baseline"].risk - bench[ALL].risk, 0.0)
    verdict: ProxyVerdict = "not shown to be needed"
    if paired.low > 0 and paired.high >= margin:
        verdict = "needed"
    elif paired.high < margin:
        verdict = "unneeded proxy"
    return replace(
        one,
        rise=paired.difference,
        rise_low=paired.low,
        rise_high=paired.high,
        margin=margin,
        verdict=verdict,
    )
