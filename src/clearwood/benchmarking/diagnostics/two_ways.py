"""What a learner gains over the baseline in two ways: as resampled, and as a careful person would.

The other way keeps units together, goes from the past to what follows, or leaves columns out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.errors import Option, Text, words
from clearwood._shared.numbers import number, percent
from clearwood._shared.results import Result
from clearwood.benchmarking.fitting.contenders import contenders
from clearwood.benchmarking.fitting.fits import Candidate, candidate, judge_all
from clearwood.benchmarking.fitting.work import Context, Rows
from clearwood.evaluation import naive_interval
from clearwood.resampling import KFold, Split, TimeOrdered, splits_of
from clearwood.table import Column, Kind, Role, Table, identical_rows

__all__ = ["TwoWays", "gain_in_time", "gain_of_units", "gain_without", "two_ways_without"]

#: A gain that falls by less than this, or by a smaller share of itself, is nearly the same.
_LEAST_FALL, _LEAST_SHARE = 0.02, 0.1
#: So many standard errors are more than chance.
_CLEAR = 2.0
_FOLDS = 5


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TwoWays(Result):
    """The gain of a learner over the baseline as rows are resampled, and in another way.

    Parameters
    ----------
    kind
        "units": the other way keeps rows of a unit in one fold. "time": it trains on the past of
        the rows it is tested on, instead of as many rows of all times. "without": it leaves columns
        out.
    columns
        The columns that identify units, that order rows in time (none: the order of the rows), or
        that are left out.
    learner, settings
        The learner and its settings, the same in all fits.
    risk, risk_other
        Its risk as rows are resampled, and in the other way.
    baseline, baseline_other
        The same for the baseline.
    se
        The standard error of ``risk_other - risk``, from the differences of the rows' losses.
    """

    kind: Literal["units", "time", "without"]
    columns: tuple[str, ...]
    learner: str
    settings: Mapping[str, Any]
    risk: float
    risk_other: float
    baseline: float
    baseline_other: float
    se: float
    _derived: ClassVar[tuple[str, ...]] = ("gain", "gain_other", "matters", "text")

    @property
    def gain(self) -> float:
        """The share of the baseline's risk that the learner removes, as rows are resampled."""
        return _gain(self.risk, self.baseline)

    @property
    def gain_other(self) -> float:
        """The same in the other way."""
        return _gain(self.risk_other, self.baseline_other)

    @property
    def matters(self) -> bool:
        """Whether the learner loses materially, and by more than chance.

        With time the risk of the baseline rises, too, so that what is lost is compared with that as
        rows are resampled.
        """
        fall = self.gain - self.gain_other
        if self.kind == "time":
            fall = (self.risk_other - self.risk) / self.baseline if self.baseline > 0 else 0.0
        is_clear = self.risk_other - self.risk > _CLEAR * self.se
        return is_clear and fall > max(_LEAST_FALL, _LEAST_SHARE * self.gain)

    @property
    def message(self) -> Text:
        """Both numbers, and what to do about it, in words that each front end spells its way."""
        named = " and ".join(self.columns)
        but = "but only" if self.matters else "and"
        gains = f"reduces the baseline's risk by {percent(self.gain)}, {but} by "
        gains += percent(self.gain_other)
        if self.kind == "units":
            key = words(Option("group", self.columns[0]), " does")
            if len(self.columns) > 1:
                key = words(Option("group", "COLUMN"), " does with a column that numbers them")
            return words(
                f"rows with the same {named} have similar targets: {self.learner} {gains} if they "
                "are kept in one fold, as ",
                key,
                "; that is what to expect for people or things that are not in the table",
            )
        if self.kind == "time":
            time = words(Option("time", named), " does")
            if not named:
                time = words(Option("time", "COLUMN"), " does with a column that has their time")
            return words(
                f"the target changes along {named or 'the order of the rows'}: the risk of "
                f"{self.learner} is {number(self.risk)}, {'but' if self.matters else 'and'} "
                f"{number(self.risk_other)} if it is fitted only to rows from before those it is "
                "tested on, as ",
                time,
                "; that is what to expect for later rows",
            )
        return (
            f"without {named}, {self.learner} reduces the baseline's risk by "
            f"{percent(self.gain_other)} instead of {percent(self.gain)}"
        )

    @property
    def text(self) -> str:
        """Both gains in words, in Python's spelling."""
        return str(self.message)

    def __repr__(self) -> str:
        return self.text


def _gain(risk: float, baseline: float) -> float:
    return 1 - risk / baseline if baseline > 0 else np.nan


@dataclass(frozen=True)
class _Way:
    """A table and the splits of its rows; one way to resample."""

    table: Table
    splits: Sequence[tuple[Rows, Rows]]


def gain_of_units(
    context: Context,
    learner: str,
    settings: Mapping[str, Any],
    columns: Sequence[str],
    *,
    folds: int,
    n_jobs: int,
) -> TwoWays:
    """Cross-validate by rows and by units, with the same settings in all folds."""
    table = context.table
    units = identical_rows([table.column(name) for name in columns])
    name = columns[0] if len(columns) == 1 else " and ".join(columns)
    # the rows that share one are known by number, so that a missing value is a unit of its own
    missing = np.any([table.column(one).missing for one in columns], axis=0)
    units = np.where(missing, units.max() + 1 + np.arange(len(units)), units)
    key = Column(name, Kind.WHOLE, units.astype(np.float64))
    kept = [c for c in table.columns if c.name != name]
    together = replace(
        table, columns=(*kept, key), roles={**table.roles, name: Role.GROUP}, options=None
    )
    ways = [
        _Way(one, [(s.train, s.test) for s in splits_of(one, KFold(folds), seed=context.seed)])
        for one in (table, together)
    ]
    return _compared(
        context, learner, settings, ways, kind="units", columns=columns, units=units, n_jobs=n_jobs
    )


def gain_in_time(
    context: Context,
    learner: str,
    settings: Mapping[str, Any],
    column: str | None,
    *,
    folds: int,
    n_jobs: int,
) -> TwoWays:
    """Test spans of time after fits to the past, and after fits to as many rows of all times."""
    table = context.table
    times: NDArray[Any] = np.arange(table.n_rows)
    if column is not None:
        times = table.column(column).values
    rng = np.random.default_rng(context.seed)
    past = TimeOrdered(folds).splits(table.n_rows, times=times, seed=context.seed)
    mixed = [
        (np.sort(rng.permutation(_others(split, table.n_rows))[: len(split.train)]), split.test)
        for split in past
    ]
    ways = [_Way(table, mixed), _Way(table, [(split.train, split.test) for split in past])]
    columns = () if column is None else (column,)
    return _compared(context, learner, settings, ways, kind="time", columns=columns, n_jobs=n_jobs)


def _others(split: Split, n_rows: int) -> Rows:
    return np.setdiff1d(np.arange(n_rows), split.test)


def gain_without(
    context: Context,
    learner: str,
    settings: Mapping[str, Any],
    columns: Sequence[str],
    *,
    folds: int,
    n_jobs: int,
) -> TwoWays:
    """Cross-validate with and without some columns, with the same settings and folds."""
    table = context.table
    fewer = table.select([name for name in table.names if name not in columns])
    fewer = replace(
        fewer, monotone={k: way for k, way in table.monotone.items() if k not in columns}
    )
    plan = KFold(folds) if table.times is None else TimeOrdered(folds)
    splits = [(s.train, s.test) for s in splits_of(table, plan, seed=context.seed)]
    ways = [_Way(table, splits), _Way(fewer, splits)]
    return _compared(
        context,
        learner,
        settings,
        ways,
        kind="without",
        columns=columns,
        units=table.groups,
        n_jobs=n_jobs,
    )


def two_ways_without(
    learner: Any,
    data: Any,
    columns: Sequence[str],
    *,
    loss: str | None = None,
    seed: int = 0,
    n_jobs: int = 1,
) -> TwoWays:
    """Return how much a learner gains over the baseline with and without some columns.

    Parameters
    ----------
    learner
        A name of the catalogue, a `Learner` or a scikit-learn estimator; it is not tuned.
    data
        A table with a target.
    columns
        The features to leave out.
    loss
        The loss to judge by; by default that of the task.
    seed
        Fixes the folds.
    n_jobs
        Processes to use.

    Examples
    --------
    >>> import clearwood as cw
    >>> both = two_ways_without("ols", cw.datasets.load("diabetes"), ["bmi", "s5"])
    >>> both.gain_other < both.gain
    True
    """
    one = candidate(learner, data, loss=loss, seed=seed)
    return gain_without(one, one.contender.name, {}, columns, folds=_FOLDS, n_jobs=n_jobs)


def _compared(
    context: Context,
    learner: str,
    settings: Mapping[str, Any],
    ways: Sequence[_Way],
    *,
    kind: Literal["units", "time", "without"],
    columns: Sequence[str],
    units: Index | None = None,
    n_jobs: int,
) -> TwoWays:
    """Fit the learner and the baseline in two ways that test the same rows."""
    (baseline,) = contenders("baseline", context.table, context.loss, seed=context.seed)
    shared = {f.name: getattr(context, f.name) for f in fields(Context)}
    shared |= {"contenders": {learner: context.contenders[learner]}, "tuning": None}
    own = Candidate(**shared, settings=settings)
    constant = replace(own, contenders={baseline.name: baseline}, settings={})
    tested = np.zeros(context.table.n_rows, bool)
    for _, test in ways[0].splits:
        tested[test] = True
    losses: list[tuple[Floats, Floats]] = []
    for way in ways:
        work = [(train, [test]) for train, test in way.splits]
        rows = np.concatenate([test for _, test in way.splits])
        both = []
        for one in (own, constant):
            fits = judge_all(replace(one, table=way.table), work, title=None, n_jobs=n_jobs)
            in_order = np.full(len(tested), np.nan)
            in_order[rows] = np.concatenate([judged.losses for (judged,) in fits])
            both.append(in_order[tested])
        losses.append((both[0], both[1]))
    weights = None if context.table.weights is None else context.table.weights[tested]
    (own_losses, flat), (other_losses, other_flat) = losses
    more = naive_interval(
        other_losses - own_losses, weights, 0.9, groups=None if units is None else units[tested]
    )
    means = [
        float(np.average(one, weights=weights))
        for one in (own_losses, other_losses, flat, other_flat)
    ]
    return TwoWays(
        kind=kind,
        columns=tuple(columns),
        learner=learner,
        settings=dict(settings),
        risk=means[0],
        risk_other=means[1],
        baseline=means[2],
        baseline_other=means[3],
        se=more.se,
    )
