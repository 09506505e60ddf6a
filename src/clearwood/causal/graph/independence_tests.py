"""Tests of the independences that a graph implies, on columns of all kinds.

References
----------
Shah and Peters (2020), "The hardness of conditional independence testing and the generalised
covariance measure"; Chernozhukov, Chetverikov and Kato (2013) for the maximum of many statistics;
Holm (1979).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import stats

from clearwood._shared.arrays import Bools, Floats
from clearwood._shared.checks import check_confidence, check_whole
from clearwood._shared.errors import InputError, did_you_mean
from clearwood._shared.numbers import IN_TABLES, count, interval, number, percent
from clearwood._shared.results import Result, html_table
from clearwood._shared.weights import counted
from clearwood.causal.graph.independences import Independence, Independences
from clearwood.causal.graph.residuals import Left, Residuals
from clearwood.evaluation import joint_level
from clearwood.models import catalogue
from clearwood.table import Table, as_table

__all__ = ["IndependenceTest", "IndependenceTests", "tests_of"]

#: The fewest rows, or groups of rows, that are tested.
FEWEST_UNITS = 30
#: The fewest rows that two levels are expected to share; sums over fewer are far from normal.
FEWEST_SHARED = 10
#: Draws of the maximum.
DRAWS = 4000


@dataclass(frozen=True, kw_only=True)
class IndependenceTest(Result):
    """The test of one implied independence.

    Parameters
    ----------
    a, b, given
        The independence.
    effect, low, high
        The correlation of the residuals of both columns, and its interval; zero if they are
        independent. Of categories, that of the pair of levels with the largest statistic. The
        intervals of all tests hold together, so one that leaves out zero is of a rejected test.
    level_a, level_b
        These levels; empty for numbers.
    statistic
        The largest correlation in standard errors.
    p_value, p_adjusted
        The chance of a larger statistic if the columns are independent; by Holm for all tests.
    is_rejected
        Whether the adjusted p-value is at most one minus the confidence; None if not tested.
    n_rows
        The rows in which both columns are known.
    reason
        Why it was not tested; empty otherwise.
    """

    a: str
    b: str
    given: tuple[str, ...]
    effect: float = np.nan
    low: float = np.nan
    high: float = np.nan
    level_a: str = ""
    level_b: str = ""
    statistic: float = np.nan
    p_value: float = np.nan
    p_adjusted: float = np.nan
    is_rejected: bool | None = None
    n_rows: int = 0
    reason: str = ""

    @property
    def independence(self) -> Independence:
        """What is tested."""
        return Independence(self.a, self.b, self.given)

    def __str__(self) -> str:
        if self.reason:
            return f"{self.independence}  not tested: {self.reason}"
        word = "rejected" if self.is_rejected else "not rejected"
        levels = [
            f"{name} = {level}"
            for name, level in ((self.a, self.level_a), (self.b, self.level_b))
            if level
        ]
        at = f" at {', '.join(levels)}" if levels else ""
        return (
            f"{self.independence}  {word}: correlation of residuals {number(self.effect)} "
            f"({interval(self.low, self.high)}){at}, p = {number(self.p_adjusted)}"
        )


@dataclass(frozen=True, repr=False)
class IndependenceTests(Result):
    """Tests of the independences that a graph implies; p-values are corrected for their number.

    Parameters
    ----------
    tests
        One for each independence.
    learner
        What predicted the columns.
    confidence
        One minus the chance that any independence which holds is rejected.
    n_rows
        The rows of the data, apart from those of weight zero.
    is_weighted
        Whether rows count by their weight.
    folds, seed
        How the predictions were made.
    """

    tests: tuple[IndependenceTest, ...]
    learner: str
    confidence: float
    n_rows: int
    is_weighted: bool
    folds: int
    seed: int

    _derived = ("text",)

    def __len__(self) -> int:
        return len(self.tests)

    def __iter__(self) -> Iterator[IndependenceTest]:
        return iter(self.tests)

    def __getitem__(self, at: int) -> IndependenceTest:
        return self.tests[at]

    @property
    def rejected(self) -> tuple[IndependenceTest, ...]:
        """The independences that the data contradict, the clearest first."""
        found = [one for one in self.tests if one.is_rejected]
        return tuple(sorted(found, key=lambda one: (one.p_value, -abs(one.statistic))))

    @property
    def _n_tested(self) -> int:
        return sum(one.is_rejected is not None for one in self.tests)

    @property
    def text(self) -> str:
        """What follows for the graph, in words."""
        tested = [one for one in self.tests if one.is_rejected is not None]
        if not tested:
            return "No implied independence could be tested."
        level = f"confidence {percent(self.confidence)} for all together"
        if not self.rejected:
            return (
                f"None of {count(len(tested), 'implied independence')} is rejected ({level}). "
                "This does not prove the graph right."
            )
        first = self.rejected[0]
        return (
            f"{len(self.rejected)} of {count(len(tested), 'implied independence')} "
            f"{'is' if len(self.rejected) == 1 else 'are'} rejected ({level}). Between "
            f"{first.a} and {first.b} an arrow or a hidden cause is missing, or {self.learner!r} "
            "does not fit one of them."
        )

    def __str__(self) -> str:
        lines = [self.text, *(f"  {one}" for one in self.tests)]
        if self._n_tested > 1:
            lines.append(
                f"The {percent(self.confidence)} intervals hold for all independences together; "
                "one may have 0 though its test is rejected, which Holm's steps make sharper."
            )
        return "\n".join(lines)

    __repr__ = __str__

    def _columns(self) -> dict[str, list[Any]]:
        names: tuple[str, ...] = (
            "a",
            "b",
            "given",
            "effect",
            "low",
            "high",
            "p_value",
            "p_adjusted",
        )
        names += ("is_rejected", "n_rows", "reason")
        columns: dict[str, list[Any]] = {
            name: [getattr(one, name) for one in self.tests] for name in names
        }
        columns["given"] = [", ".join(one.given) for one in self.tests]
        return columns

    def _repr_html_(self) -> str:
        rows = [
            [
                str(one.independence),
                one.reason or number(one.effect, IN_TABLES),
                "" if one.reason else interval(one.low, one.high, IN_TABLES),
                "" if one.reason else number(one.p_adjusted, IN_TABLES),
                {True: "rejected", False: "not rejected", None: "not tested"}[one.is_rejected],
            ]
            for one in self.tests
        ]
        interval_of = f"{percent(self.confidence)} interval, of all together"
        headings = ["independence", "correlation of residuals", interval_of, "p (Holm)", ""]
        return html_table(self.text, headings, rows)


def tests_of(
    implied: Independences,
    data: Any,
    *,
    learner: str,
    confidence: float,
    folds: int,
    seed: int,
    n_jobs: int,
) -> IndependenceTests:
    """Test every implied independence, and correct for their number."""
    check_confidence(confidence)
    check_whole("folds", folds, 2)
    catalogue.get(learner)  # which names the nearest ones, if there is none
    table = as_table(data)
    _check_columns(implied, table)
    rows, weights = counted(table.weights, table.n_rows)
    is_weighted = table.weights is not None
    table = table.take(rows)
    units = _units(table)
    residuals = Residuals(
        table, weights / weights.mean(), _folds(units, folds, seed), learner, seed, n_jobs
    )
    joint = joint_level(confidence, len(implied))
    tests = [
        _tested(one, residuals, units, joint, np.random.default_rng([seed, place]))
        for place, one in enumerate(implied)
    ]
    return IndependenceTests(
        tuple(_by_holm(tests, 1 - confidence)),
        learner,
        confidence,
        len(rows),
        is_weighted,
        folds,
        seed,
    )


def _check_columns(implied: Independences, table: Table) -> None:
    """Refuse a table that lacks a column of an independence."""
    known = {*table.names, *(column.header for column in table.columns)}
    nodes = dict.fromkeys(name for one in implied for name in (one.a, one.b, *one.given))
    absent = [name for name in nodes if name not in known]
    if len(absent) == 1:
        raise InputError(
            f"{absent[0]!r} is a node of the graph, but not a column of the data",
            parameter="data",
            value=absent[0],
            hint=f"{did_you_mean(absent[0], table.names)} Nodes without data are hidden.",
        )
    if absent:
        raise InputError(
            f"{', '.join(map(repr, absent))} are nodes of the graph, but not columns of the data",
            parameter="data",
            value=absent,
            hint=f"its columns are {', '.join(map(repr, table.names[:12]))}. Nodes without data "
            "are hidden.",
        )


def _units(table: Table) -> Any:
    """Return what each row belongs to: its group, or itself."""
    if table.groups is None:
        return np.arange(table.n_rows)
    return np.unique(table.groups, return_inverse=True)[1]


def _folds(units: Any, folds: int, seed: int) -> Any:
    """Return the fold of each row; rows of a group are in one fold."""
    n = int(units.max(initial=-1)) + 1
    of_unit = np.arange(n) % folds
    np.random.default_rng(seed).shuffle(of_unit)
    return of_unit[units]


def _tested(
    one: Independence, residuals: Residuals, units: Any, confidence: float, random: Any
) -> IndependenceTest:
    """Test one independence by the products of residuals."""
    about: dict[str, Any] = {"a": one.a, "b": one.b, "given": one.given}
    left = [residuals.of(name, one.given) for name in (one.a, one.b)]
    known = _known(left[0]) & _known(left[1])
    about["n_rows"] = int(known.sum())
    _, place = np.unique(units[known], return_inverse=True)
    n_units = int(place.max(initial=-1)) + 1
    if n_units < FEWEST_UNITS:
        reason = f"only {count(n_units, 'observation')} have both columns"
        return IndependenceTest(**about, reason=reason)
    weights = residuals.weights[known]
    first, second = _calibrated(left, known, weights, n_units)
    pairs = [(j, k) for j in range(first.shape[1]) for k in range(second.shape[1])]
    products = np.stack([first[:, j] * second[:, k] for j, k in pairs], axis=1)
    means = np.average(products, axis=0, weights=weights)
    parts = np.zeros((n_units, len(pairs)))
    # not centred: the same if the means are zero, and larger by chance where a mean is
    np.add.at(parts, place, weights[:, None] * products / weights.sum())
    # errors of fits to the same noise add up twice, once in each column's residuals, which the
    # spread of the products shows once: the optimism of the fits is an estimate of the difference
    twice = np.array([np.sqrt(left[0].optimism[j] * left[1].optimism[k]) for j, k in pairs])
    errors = np.sqrt((parts**2).sum(axis=0) * n_units / (n_units - 1))
    spreads = [np.sqrt(np.average(side**2, axis=0, weights=weights)) for side in (first, second)]
    scales = np.array([spreads[0][j] * spreads[1][k] for j, k in pairs])
    usable = (scales > 1e-9) & (errors > 1e-9 * scales)
    shared = np.array([_shared(left, known, pair) for pair in pairs])
    if usable.any():
        usable &= shared >= min(FEWEST_SHARED, shared[usable].max())
    if not usable.any():
        constant = one.a if not (spreads[0] > 1e-9).any() else one.b
        return IndependenceTest(
            **about, reason=f"{constant} does not vary once what is given is known"
        )
    places = np.flatnonzero(usable)
    largest = _largest(parts[:, places] / errors[places], n_units, random)
    errors = errors * np.sqrt(twice)
    best = int(places[np.argmax(np.abs(means[places] / errors[places]))])
    statistic = float(means[best] / errors[best])
    p_value, quantile = largest.judged(abs(statistic), confidence)
    effect, error = means[best] / scales[best], errors[best] / scales[best]
    j, k = pairs[best]
    return IndependenceTest(
        **about,
        effect=float(effect),
        low=float(max(-1.0, effect - quantile * error)),
        high=float(min(1.0, effect + quantile * error)),
        level_a=left[0].levels[j] if left[0].levels else "",
        level_b=left[1].levels[k] if left[1].levels else "",
        statistic=statistic,
        p_value=p_value,
    )


def _known(left: Left) -> Bools:
    """Return the rows in which a column is known."""
    return np.asarray(~np.isnan(left.values[:, 0]))


def _shared(left: list[Left], known: Bools, pair: tuple[int, int]) -> float:
    """Return the rows that two levels are expected to share; all, where one side is a number."""
    n = shared = float(known.sum())
    if not all(side.levels for side in left):
        return n
    for side, place in zip(left, pair, strict=True):
        rows = float((side.values + side.predicted)[known, place].sum())  # the indicator itself
        shared *= min(rows, n - rows) / n
    return shared


def _calibrated(left: list[Left], known: Bools, weights: Floats, n_units: int) -> list[Floats]:
    """Return the residuals of both columns without what is linear in the predictions of either.

    Learners shrink: their errors are, more than anything else, a part of what they predict, and
    errors of the same kind for both columns would pass for dependence.
    """
    predictions = [side.predicted[known] for side in left]
    design = np.concatenate([np.ones((len(weights), 1)), *predictions], axis=1)
    if n_units < 10 * design.shape[1]:  # too few observations for so many levels
        design = design[:, :1]
    roots = np.sqrt(weights)[:, None]
    found = []
    for side in left:
        values = side.values[known]
        slopes = np.linalg.lstsq(roots * design, roots * values, rcond=1e-8)[0]
        found.append(values - design @ slopes)
    return found


@dataclass(frozen=True)
class _Largest:
    """The distribution of the largest of several correlated statistics, if all means are zero."""

    freedom: int
    draws: Floats

    def judged(self, statistic: float, confidence: float) -> tuple[float, float]:
        """Return the p-value of a statistic, and the quantile for intervals."""
        if not len(self.draws):
            law = stats.t(self.freedom)
            return float(2 * law.sf(statistic)), float(law.ppf((1 + confidence) / 2))
        above = np.count_nonzero(self.draws >= statistic)
        drawn = (above + 1) / (len(self.draws) + 1)
        return float(drawn), float(np.quantile(self.draws, confidence))


def _largest(parts: Floats, n_units: int, random: Any) -> _Largest:
    """Return the distribution of the largest of the standardised sums of parts.

    Given the data, sums with Gaussian multipliers are Gaussian with the covariance of the parts,
    from which the draws are made at once.
    """
    freedom = n_units - 1
    if parts.shape[1] == 1:
        return _Largest(freedom, np.zeros(0))
    values, vectors = np.linalg.eigh(parts.T @ parts)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    draws = random.standard_normal((DRAWS, parts.shape[1])) @ root.T
    draws /= np.sqrt(random.chisquare(freedom, (DRAWS, 1)) / freedom)
    return _Largest(freedom, np.abs(draws).max(axis=1))


def _by_holm(tests: list[IndependenceTest], level: float) -> Iterator[IndependenceTest]:
    """Correct the p-values of all tests, in their order."""
    order = sorted(
        (place for place, one in enumerate(tests) if not one.reason),
        key=lambda place: tests[place].p_value,
    )
    adjusted = dict.fromkeys(range(len(tests)), np.nan)
    highest = 0.0
    for rank, place in enumerate(order):
        highest = max(highest, min(1.0, (len(order) - rank) * tests[place].p_value))
        adjusted[place] = highest
    for place, one in enumerate(tests):
        if one.reason:
            yield one
        else:
            p = adjusted[place]
            yield replace(one, p_adjusted=p, is_rejected=bool(p <= level))
