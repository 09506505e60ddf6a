"""Columns that stand for protected ones: what they reveal, what they carry, whether they help."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.choices import Interval
from clearwood._shared.errors import bad_value
from clearwood._shared.numbers import IN_TABLES, interval, number, percent
from clearwood._shared.results import Result, html_table
from clearwood._shared.weights import counted, quantiles
from clearwood.benchmarking import Benchmark, benchmark
from clearwood.evaluation import measures
from clearwood.fairness.gaps.gap import gap
from clearwood.fairness.gaps.result import Gap
from clearwood.fairness.groups.grouping import one_line
from clearwood.fairness.predictors.fair_model import FairModel
from clearwood.fairness.predictors.grouping import Groups, groups_of, protected_columns
from clearwood.fairness.predictors.response import fitted_to, is_fitted, read_rows
from clearwood.table import Column, Table, Task

__all__ = ["Proxies", "Proxy", "ProxyVerdict", "proxies"]

ProxyVerdict = Literal[
    "unneeded proxy", "not shown to be needed", "needed", "no proxy", "not judged"
]
ALL = "all columns"

_FOLDS = 5
_BINS = 20
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
        How well the column by itself tells a group from the others, out of fold: 0.5 is chance. Of
        several groups, the one that is told best; the interval then allows for the choice.
    told
        The group.
    difference, low, high
        The part of the gap between that group and the reference that the column carries, with its
        interval from refits; the largest part of any group. None for the interval without refits.
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
    refits
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
    refits: int
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
                f"{number(row.auc)} ({interval(row.auc_low, row.auc_high)})",
                _with_band(row.difference, row.low, row.high),
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


_HEADINGS = ["column", "AUC", "part of the gap", "rise of the risk", "verdict"]


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
    margin: float = 0.01,
    refit: int = 20,
    risks: bool = True,
    interval: Interval = "nested",
    repeats: int = 1,
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
        Rows with the target.
    protected
        The protected columns; by default those with that role.
    reference
        The group that others are compared with, or "largest".
    output
        The class whose probability is compared; of two the second by default.
    margin
        The rise of the risk below which a column is not needed, as a share of what the model gains
        over the baseline.
    refit
        How many refits (ii) rests on; with 0, no column is judged.
    risks
        Whether to benchmark (iii); without, no proxy is judged.
    interval, repeats
        The kind of intervals of the risks, and how often rows are split into folds; as for
        `clearwood.benchmark`.
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
    >>> result = proxies(cw.learner("glm"), policies, refit=0, risks=False)
    >>> [(row.column, round(row.auc, 2)) for row in result.rows[:2]]
    [('height', 0.92), ('mileage', 0.64)]
    """
    if not 0 <= margin < 1:
        raise bad_value("margin", margin, "it must be a share from 0 to below 1")
    table = read_rows(model, data, protected)
    names = protected_columns(protected, table)
    groups = groups_of(table, names)
    fitted = model if is_fitted(model) else fitted_to(model, table)
    parts = gap(
        fitted,
        table,
        protected=names,
        reference=reference,
        output=output,
        refit=refit,
        confidence=confidence,
        seed=seed,
    )
    columns = list(dict.fromkeys(part.column for part in parts.parts if part.column))
    made = [_Candidate(name, table, groups, parts, confidence, seed).proxy() for name in columns]
    bench = None
    suspects = [one.column for one in made if one.reveals and one.carries]
    if risks and suspects:
        without = {
            f"without {name}": FairModel(fitted, protected=[name], kind="unaware", calibrate=None)
            for name in suspects
        }
        bench = benchmark(
            table,
            {"baseline": "baseline", ALL: fitted, **without},
            tune=0,
            interval=interval,
            repeats=repeats,
            confidence=confidence,
            seed=seed,
            n_jobs=n_jobs,
        )
    judged = [_judged(one, bench, margin) for one in made]
    return Proxies(
        rows=tuple(sorted(judged, key=lambda one: -one.auc)),
        protected=names,
        reference=parts.reference,
        share=margin,
        loss=None if bench is None else bench.loss,
        refits=parts.refits,
        confidence=confidence,
        seed=seed,
    )


@dataclass(frozen=True, eq=False)
class _Candidate:
    """A permitted column and what it is judged on."""

    column: str
    table: Table
    groups: Groups
    parts: Gap
    confidence: float
    seed: int

    def proxy(self) -> Proxy:
        """Measure what the column reveals and carries."""
        own = [part for part in self.parts.parts if part.column == self.column]
        largest = max(own, key=lambda part: abs(part.difference))
        auc, low, high, told = self._auc()
        return Proxy(
            column=self.column,
            auc=auc,
            auc_low=low,
            auc_high=high,
            told=told,
            difference=largest.difference,
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
        """Return the best AUC of a group against the others, out of fold, with its interval."""
        rows, weights = counted(self.table.weights, self.table.n_rows)
        which = self.groups.which[rows]
        bins = _bins(self.table.column(self.column).take(rows), weights)
        folds = _folds(self.table, rows, self.seed)
        scores = _scores(bins, which, weights, folds, len(self.groups))
        many = len(self.groups) > 2
        level = 1 - (1 - self.confidence) / (len(self.groups) if many else 1)
        clusters = None if self.table.groups is None else self.table.groups[rows]
        best: tuple[float, float, float, str] | None = None
        for group in range(len(self.groups)) if many else (1,):
            members = (which == group).astype(np.int64)
            if members.all() or not members.any():
                continue
            score = np.column_stack([1 - scores[:, group], scores[:, group]])
            result = measures(
                Task.BINARY,
                members,
                score,
                needs="probability",
                splits=folds,
                weights=None if self.table.weights is None else weights,
                groups=clusters,
                confidence=level,
            )
            value = float(result["auc"])
            low, high = map(float, result.interval("auc"))
            if best is None or value > best[0]:
                best = value, low, high, self.groups.labels[group]
        return best or (0.5, 0.5, 0.5, self.groups.labels[0])


def _bins(column: Column, weights: Floats) -> Index:
    """Return the bin of each row: a level, or one of some quantile intervals of numbers."""
    if column.is_coded:
        return np.asarray(np.where(column.values < 0, len(column.levels), column.values), np.intp)
    missing = column.missing
    if column.values.dtype.kind == "M":
        values = column.values.astype("datetime64[us]").astype(np.float64)
    elif column.values.dtype.kind == "O":
        values = np.unique(column.values.astype(str), return_inverse=True)[1].astype(np.float64)
    else:
        values = np.where(missing, 0.0, column.values)
    if missing.all():
        return np.zeros(len(values), np.intp)
    levels = np.arange(1, _BINS) / _BINS
    edges = np.unique(quantiles(values[~missing], levels, weights[~missing]))
    return np.where(missing, len(edges) + 1, np.searchsorted(edges, values))


def _folds(table: Table, rows: Index, seed: int) -> Index:
    """Number the folds; rows that are tied together are in one."""
    rng = np.random.default_rng(seed)
    units = np.arange(len(rows)) if table.groups is None else table.groups[rows]
    number_of = np.unique(units, return_inverse=True)[1].ravel()
    fold = rng.permutation(np.arange(number_of.max() + 1) % _FOLDS)
    return np.asarray(fold[number_of], np.intp)


def _scores(bins: Index, which: Index, weights: Floats, folds: Index, n_groups: int) -> Floats:
    """Return the share of each group in the bin of each row, by the rows of other folds."""
    scores = np.empty((len(bins), n_groups))
    n_bins = int(bins.max()) + 1
    for fold in range(_FOLDS):
        train, test = folds != fold, folds == fold
        if not train.any() or not test.any():
            continue
        place = bins[train] * n_groups + which[train]
        totals = np.bincount(place, weights[train], minlength=n_bins * n_groups)
        totals = totals.reshape(n_bins, n_groups)
        overall = totals.sum(axis=0) / totals.sum()
        scale = weights[train].mean()
        shares = (totals + scale * overall) / (totals.sum(axis=1, keepdims=True) + scale)
        scores[test] = shares[bins[test]]
    return scores


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
