"""A model compared with rivals that treat protected columns differently: risk, balance, gap."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood._shared.choices import Interval
from clearwood._shared.errors import InputError
from clearwood._shared.numbers import IN_TABLES, interval, number, percent
from clearwood._shared.results import Result, html_table
from clearwood._shared.weights import counted
from clearwood.benchmarking import Benchmark, benchmark
from clearwood.fairness.gaps.discrimination import dependence_of
from clearwood.fairness.gaps.gap import checked_refits, reference_of
from clearwood.fairness.gaps.pieces import Pieces, pieces_of
from clearwood.fairness.groups.grouping import (
    Grouping,
    Standing,
    groups_of,
    one_line,
    protected_columns,
)
from clearwood.fairness.groups.reading import read_both
from clearwood.fairness.predictors.fair_model import FairModel
from clearwood.fairness.predictors.make import fair
from clearwood.fairness.predictors.training import fitted_to
from clearwood.fitted import FittedModel
from clearwood.models import is_fitted
from clearwood.table import Table

__all__ = ["MOVED", "Alternative", "Alternatives", "PriceOfFairness", "alternatives"]

#: A prediction moves where it changes by more than this share.
MOVED = 0.05
#: What the model itself is called, and the fair one that balances.
AWARE, BALANCED = "aware", "free balanced"
#: The options of `clearwood.fair` for each rival.
_OPTIONS: dict[str, dict[str, Any]] = {
    "unaware": {"kind": "unaware", "calibrate": None},
    "free": {"kind": "free", "calibrate": None},
    BALANCED: {"kind": "free", "calibrate": "scale"},
    "parity": {"kind": "parity", "calibrate": None},
}


@dataclass(frozen=True)
class Alternative(Result):
    """One way to treat protected columns, and what comes of it.

    Parameters
    ----------
    name
        "aware", the model itself; "unaware", fitted without the protected columns; "free", averaged
        over them; "free balanced", with the mean of the target; "parity", one distribution for all.
    risk, low, high
        The risk on new rows, with its interval; None where no benchmark was run.
    difference, difference_low, difference_high
        The risk above that of the aware model, from paired differences.
    balance
        The mean prediction divided by the mean of the target; None where the target is not known,
        or its mean is 0.
    means
        The mean prediction of each group.
    gap
        The largest difference between the mean of a judged group and that of the reference; NaN
        where no other group is judged.
    group
        The group with this difference; None where no other group is judged.
    ratio
        The ratio of the same two means; None where a mean is not positive.
    proxy_discrimination, unfairness
        Shares of the variance of the predictions; see `Dependence`.
    moved, more
        The share of people whose prediction differs from the aware one by more than 5 %, and the
        share for whom it is more than 5 % higher.
    changes
        How the mean of each group changes from the aware model, as a share of it.
    """

    name: str
    risk: float | None
    low: float | None
    high: float | None
    difference: float | None
    difference_low: float | None
    difference_high: float | None
    balance: float | None
    means: tuple[float, ...]
    gap: float
    group: str | None
    ratio: float | None
    proxy_discrimination: float
    unfairness: float
    moved: float
    more: float
    changes: tuple[float, ...]


@dataclass(frozen=True)
class PriceOfFairness(Result):
    """What the fair model costs in risk, and whom it concerns.

    Parameters
    ----------
    difference, low, high
        The risk of the balanced fair model above that of the aware model, with its interval; None
        where no benchmark was run.
    confidence
        The level of the interval.
    loss
        What the risk is the mean of.
    moved
        The share of people whose prediction changes by more than 5 %.
    """

    difference: float | None
    low: float | None
    high: float | None
    confidence: float
    loss: str | None
    moved: float


@dataclass(frozen=True, eq=False, repr=False)
class Alternatives(Result):
    """Ways to treat protected columns side by side; made by `clearwood.fairness.alternatives`.

    Parameters
    ----------
    rows
        One for each way, the model itself first.
    protected
        The protected columns.
    groups, reference
        The groups, and the one that others are compared with.
    standing
        Whether each group is judged, and if not, why.
    loss
        What risks are means of; None where no benchmark was run.
    confidence
        The level of the intervals.
    interval
        The kind of the intervals.
    output
        The class whose probability is compared; None for numbers.
    seed
        What fixed the folds.
    notes
        What the reader should know.
    """

    rows: tuple[Alternative, ...]
    protected: tuple[str, ...]
    groups: tuple[str, ...]
    reference: str
    standing: tuple[Standing, ...]
    loss: str | None
    confidence: float
    interval: str | None
    output: str | None = None
    seed: int = 0
    notes: tuple[str, ...] = ()
    _derived = ("price",)

    def __getitem__(self, name: str) -> Alternative:
        """Return one of the alternatives."""
        for row in self.rows:
            if row.name == name:
                return row
        raise KeyError(name)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def price(self) -> PriceOfFairness:
        """The price of fairness: the balanced fair model against the aware one."""
        one = self[BALANCED]
        return PriceOfFairness(
            one.difference,
            one.difference_low,
            one.difference_high,
            self.confidence,
            self.loss,
            one.moved,
        )

    def pays_more(self, name: str) -> str:
        """Return the judged group whose mean prediction rises most from the aware model."""
        changes = self[name].changes
        return self.groups[max(self.judged or range(len(changes)), key=lambda k: changes[k])]

    @property
    def judged(self) -> tuple[int, ...]:
        """The positions of the groups that are judged."""
        return tuple(k for k, one in enumerate(self.standing) if one is Standing.JUDGED)

    def _columns(self) -> dict[str, Any]:
        plain = [name for name in Alternative.__dataclass_fields__ if name not in _BY_GROUP]
        columns = {name: [getattr(row, name) for row in self.rows] for name in plain}
        for k, group in enumerate(self.groups):
            columns[f"mean of {group}"] = [row.means[k] for row in self.rows]
            columns[f"change of {group}"] = [row.changes[k] for row in self.rows]
        return columns

    def _table(self) -> list[list[str]]:
        cells = []
        for row in self.rows:
            risk = "" if row.risk is None else number(row.risk, IN_TABLES)
            extra = ""
            if row.difference is not None and row.name != AWARE:
                assert row.difference_low is not None
                assert row.difference_high is not None
                extra = interval(row.difference_low, row.difference_high)
            wide = number(row.gap) if row.ratio is None else f"× {number(row.ratio)}"
            wide += "" if row.group is None else f" {one_line(row.group)}"
            cells.append(
                [
                    row.name,
                    risk,
                    extra,
                    "" if row.balance is None else number(row.balance, IN_TABLES),
                    wide,
                    percent(row.proxy_discrimination),
                    percent(row.moved),
                    "" if row.name == AWARE else one_line(self.pays_more(row.name)),
                ]
            )
        return cells

    def __repr__(self) -> str:
        lines = [_HEADINGS, *self._table()]
        widths = [max(len(line[k]) for line in lines) for k in range(len(_HEADINGS))]
        text = [
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        ]
        about = f"groups by {' and '.join(map(repr, self.protected))}, against {self.reference!r}"
        if self.loss is not None:
            about += f"; {self.loss} risk, {percent(self.confidence)} {self.interval} intervals"
        return "\n".join([*text, about, *(f"note: {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        return html_table("Alternatives", _HEADINGS, self._table(), self.notes)


_BY_GROUP = ("means", "changes")
_HEADINGS = ["", "risk", "above aware", "balance", "gap", "PD", "moved", "pays more"]


def alternatives(
    model: Any,
    data: Any,
    *,
    protected: Sequence[str] | str | None = None,
    reference: str = "largest",
    output: Any = None,
    test: Any = None,
    risks: bool = True,
    interval: Interval = "nested",
    repeats: int = 1,
    min_rows: int = 30,
    min_share: float = 0.02,
    confidence: float = 0.9,
    seed: int = 0,
    n_jobs: int = 1,
) -> Alternatives:
    """Compare a model with rivals that are unaware, free of protected columns, or in parity.

    Parameters
    ----------
    model
        A learner or an estimator of scikit-learn that has the protected columns; fitted first if it
        is not.
    data
        The rows that the model was fitted to, with the target: every rival is fitted to these.
    protected
        The protected columns; by default those with that role.
    reference
        The group that others are compared with, or "largest", of those that are judged.
    output
        The class whose probability is compared; of two the second by default.
    test
        Rows that the model was not fitted to: then everything but the risks is of these rows.
    risks
        Whether to estimate risks on new rows by a benchmark, in which every rival is fitted to the
        training rows of the same folds. This takes most of the time.
    interval, repeats
        The kind of intervals of the risks, and how often rows are split into folds; as for
        `clearwood.benchmark`.
    min_rows, min_share
        Groups with fewer rows or a smaller share, and rows without a value, are not judged: none
        of them is the largest gap.
    confidence
        The level of the intervals.
    seed
        Fixes the folds.
    n_jobs
        Processes for the benchmark.

    Returns
    -------
    Alternatives
        A table; its ``price`` is the price of fairness.

    Examples
    --------
    >>> import clearwood as cw
    >>> from clearwood.fairness import alternatives
    >>> policies = cw.datasets.insurance(4000)
    >>> table = alternatives(cw.learner("glm", alpha=0), policies, risks=False)
    >>> [row.name for row in table.rows]
    ['aware', 'unaware', 'free', 'free balanced', 'parity']
    >>> round(table["free balanced"].balance, 6), table.pays_more("free")
    (1.0, 'female')
    """
    both = read_both(model, data, test, protected)
    training, table = both.of_fits(), both.measured
    names = protected_columns(protected, table)
    checked_refits(0, confidence)
    groups = groups_of(table, names)
    standing = groups.standings(table.weights, min_rows, min_share)
    place = reference_of(reference, groups, standing, table)
    fitted = model if is_fitted(model) else fitted_to(model, training)
    pieces = pieces_of(fitted, table, groups, output=output)
    if not pieces.is_aware:
        raise InputError(
            f"the model was fitted without {', '.join(map(repr, names))}",
            parameter="protected",
            value=names[0],
            hint="compare a model that has the protected columns among its features.",
        )
    made = {name: fair(fitted, training, protected=names, **_OPTIONS[name]) for name in _OPTIONS}
    bench = None
    if risks:
        rivals = {
            name: FairModel(fitted, protected=list(names), **options)
            for name, options in _OPTIONS.items()
        }
        bench = benchmark(
            training,
            {AWARE: fitted, **rivals},
            tune=0,
            interval=interval,
            repeats=repeats,
            confidence=confidence,
            seed=seed,
            n_jobs=n_jobs,
        )
    members = pieces.as_members(pieces.table)
    rows, _ = counted(table.weights, table.n_rows)
    compared = _Compared(table, rows, pieces, members, place, standing, bench)
    own = members[np.arange(len(members)), pieces.groups.which]
    predictions = {AWARE: own} | {
        name: FittedModel(one).predict(table, scale="response")[rows, pieces.output]
        for name, one in made.items()
    }
    notes = tuple(
        f"{name!r} failed in the benchmark: {reasons[0]}"
        for name, reasons in ({} if bench is None else bench.failures).items()
    )
    return Alternatives(
        rows=tuple(compared.row(name, predicted, own) for name, predicted in predictions.items()),
        protected=names,
        groups=groups.names,
        reference=groups.names[place],
        standing=standing,
        loss=None if bench is None else bench.loss,
        confidence=confidence,
        interval=None if bench is None else interval,
        output=None if pieces.label is None else str(pieces.label),
        seed=seed,
        notes=notes,
    )


@dataclass(frozen=True, eq=False)
class _Compared:
    """What all alternatives are compared on."""

    table: Table
    rows: Any
    pieces: Pieces
    members: Floats
    place: int
    standing: tuple[Standing, ...]
    bench: Benchmark | None

    @property
    def groups(self) -> Grouping:
        """The groups of the rows that count."""
        return self.pieces.groups

    def row(self, name: str, predicted: Floats, aware: Floats) -> Alternative:
        """Describe one alternative by its predictions."""
        pieces = self.pieces
        means, before = pieces.means(predicted), pieces.means(aware)
        judged = [k for k, one in enumerate(self.standing) if one is Standing.JUDGED]
        others = [k for k in judged if k != self.place]
        distance = means - means[self.place]
        far = max(others, key=lambda k: abs(distance[k]), default=None)
        base = np.maximum(np.abs(aware), 1e-300)
        change = (predicted - aware) / base
        dependence = dependence_of(predicted, self.members, pieces)
        # where some prediction is negative, the zero is arbitrary
        positive = bool((means[judged] > 0).all() and min(predicted.min(), aware.min()) >= 0)
        return Alternative(
            name=name,
            **self._risks(name),
            balance=self._balance(predicted),
            means=tuple(means.tolist()),
            gap=np.nan if far is None else float(distance[far]),
            group=None if far is None else self.groups.names[far],
            ratio=float(means[far] / means[self.place]) if far is not None and positive else None,
            proxy_discrimination=dependence.proxy_discrimination,
            unfairness=dependence.unfairness,
            moved=float(pieces.weights @ (np.abs(change) > MOVED)),
            more=float(pieces.weights @ (change > MOVED)),
            changes=tuple(((means - before) / np.maximum(np.abs(before), 1e-300)).tolist()),
        )

    def _balance(self, predicted: Floats) -> float | None:
        """Return the mean prediction over the mean of the target."""
        if self.table.target is None:
            return None
        target: Any = np.asarray(self.table.y)[self.rows]
        if self.pieces.task.is_classification:
            target = target == self.pieces.label
        mean = float(self.pieces.weights @ target.astype(np.float64))
        return float(self.pieces.weights @ predicted) / mean if mean else None

    def _risks(self, name: str) -> dict[str, float | None]:
        """Return the risk of an alternative and what it is above the aware model's."""
        keys = ("risk", "low", "high", "difference", "difference_low", "difference_high")
        nothing: dict[str, float | None] = dict.fromkeys(keys)
        if self.bench is None or self.bench[name].failures:
            return nothing
        standing = self.bench[name]
        risks = {"risk": standing.risk, "low": standing.low, "high": standing.high}
        if name == AWARE:
            return {**risks, "difference": 0.0, "difference_low": 0.0, "difference_high": 0.0}
        try:
            paired = self.bench.compare(name, AWARE)
        except InputError:
            return {**nothing, **risks}
        return {
            **risks,
            "difference": paired.difference,
            "difference_low": paired.low,
            "difference_high": paired.high,
        }
