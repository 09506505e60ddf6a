"""Rows, picked out by one column, that nearly all have the same value of the target.

They are the rows of a level, of several levels, or of a range of numbers. A strong and honest
column of numbers has such rows too, at the end of a long slope, so that numbers are suspect only
where there is a jump: rows just outside a range are unlike those just inside.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.model_selection import GroupKFold
from sklearn.tree import DecisionTreeRegressor

from clearwood._shared.arrays import Bools, Floats, Index
from clearwood._shared.numbers import number
from clearwood._shared.weights import effective
from clearwood.checks.leak import Leak, Sign, Suspect
from clearwood.table import NUMERIC, Column, Kind, Table

__all__ = ["FEWEST_OF_A_LEVEL", "pure_rows", "valued"]

#: Rows are nearly pure from this share of one value of the target on. Their odds are so many times
#: those of the other rows, and at the lower end of the interval at least so many times.
PURE, TIMES_THE_ODDS, TIMES_AT_LEAST = 0.9, 10.0, 5.0
#: Fewer rows are not looked at.
FEWEST_OF_A_LEVEL = 10
#: At the end of a range the odds jump so many times, at the lower end of the interval, in windows
#: of so many rows or normal scores on both sides.
_JUMP, _WINDOW_ROWS, _WINDOW_SCORES, _Z_OF_A_JUMP = 3.0, 30, 0.25, 3.0

#: The chance of a false alarm over all levels together, and over all ranges together.
_LEVEL = 0.01
_MOST_LEVELS, _MOST_OUTCOMES = 50, 8
_LEAVES = 12
_FOLDS = 5
#: Several levels are chosen by these shares of the outcome in training rows.
_CHOOSING = (0.6, 0.9)
_FEWEST_LEVELS = 4


@dataclass(frozen=True)
class _Rows:
    """Some rows that are looked at, and those that they are compared with."""

    column: str
    kind: Sign
    own: Bools
    #: The value of the target that is looked at; the most frequent one where None.
    outcome: int | None = None
    #: Rows that they have to be unlike, too.
    beside: Bools | None = None
    #: Where the odds have to jump at the ends: the column as normal scores.
    axis: Floats | None = None
    level: str = ""
    levels: tuple[str, ...] = ()
    above: float | None = None
    up_to: float | None = None
    #: In how many ways the rows could have been picked.
    ways: int = 1


def pure_rows(table: Table, names: Sequence[str], rows: Index, weights: Floats) -> list[Suspect]:
    """Return levels and ranges whose rows nearly all have one value of the target."""
    look = _Look(table, rows, weights)
    found: list[Suspect] = []
    columns = [table.column(name).take(rows) for name in names]
    levels = [one for column in columns for one in look.levels(column)]
    for one in levels:
        found += look.leaks(one, len(levels))
    pure = {one.leak.column for one in found}
    ranges = [one for column in columns for one in look.ranges(column)]
    unions = [one for c in columns if c.name not in pure for one in look.unions(c)]
    for several in (ranges, unions):
        n_ways = sum(one.ways for one in several)
        for one in several:
            if one.column not in pure:
                leaks = list(look.leaks(one, n_ways))
                pure |= {one.leak.column for one in leaks}
                found += leaks
    return found


class _Look:
    """Compares rows by the target."""

    def __init__(self, table: Table, rows: Index, weights: Floats) -> None:
        assert table.target is not None
        self.target, self.is_weighted = table.target, table.weights is not None
        self.outcomes, self.codes = valued(table.column(table.target).take(rows))
        self.weights = weights
        self.units: Index = np.arange(len(rows))
        if table.groups is not None:
            self.units = np.unique(table.groups[rows], return_inverse=True)[1].astype(np.intp)
        self.base = np.bincount(self.codes, weights) / weights.sum()
        counts = np.bincount(self.codes)
        often = np.argsort(-self.base, kind="stable")[:_MOST_OUTCOMES]
        #: Values of the target that many rows can have in common.
        self.frequent = [
            int(k) for k in often if counts[k] >= FEWEST_OF_A_LEVEL and self.base[k] < PURE
        ]
        self.members = np.column_stack(
            [self.codes == k for k in self.frequent] or [np.zeros(len(rows), bool)]
        )
        #: What a unit of weight counts for.
        self.scale = effective(weights, self.units) / weights.sum()

    def leaks(self, one: _Rows, n_looked: int) -> Iterator[Suspect]:
        """Yield the leak, if the rows are pure and the others are not."""
        own, weights = one.own, self.weights
        shares = np.bincount(self.codes[own], weights[own], len(self.base)) / weights[own].sum()
        outcome = int(shares.argmax()) if one.outcome is None else one.outcome
        share, size = self._share(own, outcome)
        if share < PURE or self.base[outcome] >= PURE:
            return
        if one.axis is not None and not self._jumps(one.axis, own, outcome):
            return
        low, high = _exact(share, size, _LEVEL / n_looked)
        odds = _odds(float(self.base[outcome]))
        if one.beside is not None and one.beside.any():
            odds = max(odds, _odds(*self._share(one.beside, outcome)))
        is_unlike = _odds(share, size) >= TIMES_THE_ODDS * odds
        if not is_unlike or (low < 1 and low / (1 - low) < TIMES_AT_LEAST * odds):
            return
        leak = Leak(
            column=one.column,
            target=self.target,
            kind=one.kind,
            explained=np.nan,
            level=one.level,
            levels=one.levels,
            above=one.above,
            up_to=one.up_to,
            outcome=str(self.outcomes[outcome]),
            rows=int(own.sum()),
            members=int((self.codes[own] == outcome).sum()),
            share=share,
            low=low,
            high=high,
            base=float(self.base[outcome]),
            others=self._share(~own, outcome)[0],
            is_weighted=self.is_weighted,
        )
        yield Suspect(leak, own)

    def _share(self, rows: Bools | Index, outcome: int) -> tuple[float, float]:
        """Return the share of rows with a value of the target, and how many rows these count as."""
        weights = self.weights[rows]
        share = float(weights @ (self.codes[rows] == outcome) / weights.sum())
        return share, effective(weights, self.units[rows])

    def levels(self, column: Column) -> Iterator[_Rows]:
        """Yield the frequent values of a column with the rows that have them, and missingness."""
        names, codes = valued(column)
        axis = None if _axis(column) is None else self._scores(column)
        counts = np.bincount(codes, minlength=len(names))
        often = np.argsort(-counts, kind="stable")[:_MOST_LEVELS]
        most = len(codes) - FEWEST_OF_A_LEVEL
        for code in often:
            if FEWEST_OF_A_LEVEL <= counts[code] <= most:
                own, level = codes == code, str(names[code])
                yield _Rows(column.name, "level", own, axis=axis if code else None, level=level)
        if FEWEST_OF_A_LEVEL <= counts[0] <= most:
            yield _Rows(column.name, "level", codes != 0, level="present")

    def ranges(self, column: Column) -> Iterator[_Rows]:
        """Yield the range of a column of numbers that sets a value of the target apart best."""
        x = _axis(column)
        if not self.frequent or x is None or (known := ~np.isnan(x)).sum() < 2 * _WINDOW_ROWS:
            return
        weights = self.weights[known]
        tree = DecisionTreeRegressor(max_leaf_nodes=_LEAVES, min_samples_leaf=FEWEST_OF_A_LEVEL)
        tree.fit(x[known, None], self.members[known], sample_weight=weights)
        cuts = np.sort(tree.tree_.threshold[tree.tree_.children_left >= 0])
        if not len(cuts):
            return
        leaves = np.searchsorted(cuts, x)  # a leaf has the numbers up to its cut
        totals = np.bincount(leaves[known], weights, len(cuts) + 1) * self.scale
        axis, ways = self._scores(column), len(np.unique(x[known]))
        for place, outcome in enumerate(self.frequent):
            member = self.members[known, place]
            inside = np.bincount(leaves[known], weights * member, len(cuts) + 1) * self.scale
            run = _best_run(inside, totals)
            if run is None:
                continue
            own = known & (leaves >= run[0]) & (leaves <= run[1])
            yield _Rows(
                column.name,
                "range",
                own,
                outcome=outcome,
                axis=axis,
                above=float(cuts[run[0] - 1]) if run[0] else None,
                up_to=float(cuts[run[1]]) if run[1] < len(cuts) else None,
                ways=ways,
            )

    def _scores(self, column: Column) -> Floats:
        """Return numbers as quantiles of the normal distribution, equal ones in the middle."""
        x = _axis(column)
        assert x is not None
        known = ~np.isnan(x)
        _, places = np.unique(x[known], return_inverse=True)
        totals = np.bincount(places, self.weights[known])
        middle = (np.cumsum(totals) - totals / 2) / totals.sum()
        scores = np.full(len(x), np.nan)
        scores[known] = stats.norm.ppf(middle)[places]
        return scores

    def _jumps(self, axis: Floats, own: Bools, outcome: int) -> bool:
        """Whether the odds jump at every end of a stretch of numbers that has rows beyond it."""
        for sign in (1.0, -1.0):
            along = sign * axis  # the end is the upper one
            end = along[own].max()
            beyond = along > end
            if not beyond.any():
                continue
            logits, variance = [], 0.0
            for side, away in ((own, end - along), (beyond, along - end)):
                rows = np.flatnonzero(side)
                rows = rows[np.argsort(away[rows], kind="stable")]
                reach = np.cumsum(self.weights[rows]) * self.scale
                enough = min(int(np.searchsorted(reach, _WINDOW_ROWS)), len(rows) - 1)
                limit = max(away[rows[0]] + _WINDOW_SCORES, away[rows[enough]])
                rows = rows[away[rows] <= limit]
                share, size = self._share(rows, outcome)
                logits.append(np.log(_odds(share, size)))
                variance += 1 / (share * size + 0.5) + 1 / ((1 - share) * size + 0.5)
            jump = logits[0] - logits[1]
            least = max(_Z_OF_A_JUMP * np.sqrt(variance) + np.log(_JUMP), np.log(TIMES_THE_ODDS))
            if jump < least:
                return False
        return True

    def unions(self, column: Column) -> Iterator[_Rows]:
        """Yield rows of levels that other rows of theirs mark, by a value of the target."""
        if not self.frequent or column.kind in (Kind.DATE, Kind.NUMBER):
            return
        names, codes = valued(column)
        counts = np.bincount(codes, minlength=len(names))
        n_shared = counts[counts >= 2].sum()  # other levels have no other rows
        if (counts > 0).sum() < _FEWEST_LEVELS or n_shared < len(codes) / 2:
            return
        n_units = int(self.units.max()) + 1
        if n_units < _FOLDS:
            return
        splits = list(
            GroupKFold(_FOLDS, shuffle=True, random_state=0).split(codes, groups=self.units)
        )
        ways = len(_CHOOSING) * len(self.frequent)
        for place, outcome in enumerate(self.frequent):
            member, base = self.members[:, place], self.base[outcome]
            for least in _CHOOSING:
                own = np.zeros(len(codes), bool)
                near = np.zeros(len(codes), bool)
                for train, test in splits:
                    chosen = self._chosen(codes, member, base, train, len(names)) >= least
                    own[test] = chosen[codes[test]]
                    near[test] = _beside(chosen)[codes[test]]
                if not FEWEST_OF_A_LEVEL <= own.sum() <= len(own) - FEWEST_OF_A_LEVEL:
                    continue
                every = self._chosen(codes, member, base, np.arange(len(codes)), len(names))
                yield _Rows(
                    column.name,
                    "levels",
                    own,
                    outcome=outcome,
                    beside=None if column.is_coded else near & ~own,
                    levels=tuple(
                        str(names[k])
                        for k in np.argsort(-counts, kind="stable")
                        if every[k] >= least and counts[k]
                    ),
                    ways=ways,
                )

    def _chosen(self, codes: Index, member: Bools, base: float, train: Index, size: int) -> Floats:
        """Return the share of an outcome in each level, shrunk to that of all rows."""
        w = self.weights[train] * self.scale
        total = np.bincount(codes[train], w, size)
        inside = np.bincount(codes[train], w * member[train], size)
        return np.asarray((inside + base) / (total + 1))


def _beside(chosen: Bools) -> Bools:
    """Return the numbers next to the chosen ones."""
    beside = np.zeros(len(chosen), bool)
    others = np.flatnonzero(~chosen[1:]) + 1  # the first is missing
    places = np.searchsorted(others, np.flatnonzero(chosen[1:]) + 1)
    for near in (places - 1, places):
        beside[others[near[(near >= 0) & (near < len(others))]]] = True
    return beside


def _best_run(inside: Floats, totals: Floats) -> tuple[int, int] | None:
    """Return the first and last of the leaves that are pure together, by the likelihood ratio."""
    best, chosen = 0.0, None
    k, n = np.append(0.0, np.cumsum(inside)), np.append(0.0, np.cumsum(totals))
    for first in range(len(inside)):
        for last in range(first, len(inside)):
            members, size = k[last + 1] - k[first], n[last + 1] - n[first]
            if size < FEWEST_OF_A_LEVEL or size >= n[-1] or members < PURE * size:
                continue
            ratio = _information(members, size) + _information(k[-1] - members, n[-1] - size)
            ratio -= _information(k[-1], n[-1])
            if ratio > best:
                best, chosen = ratio, (first, last)
    return chosen


def _information(members: float, size: float) -> float:
    """Return the largest log likelihood of so many members."""
    share = min(max(members / size, 1e-12), 1 - 1e-12)
    return float(members * np.log(share) + (size - members) * np.log1p(-share))


def _odds(share: float, size: float = 1e12) -> float:
    """Return odds, with half an observation more on either side."""
    return (share * size + 0.5) / ((1 - share) * size + 0.5)


def _exact(share: float, n: float, level: float) -> tuple[float, float]:
    """Return the exact interval of a share, from quantiles of the beta distribution."""
    k = share * n
    low = float(stats.beta.ppf(level / 2, k, n - k + 1)) if k > 0 else 0.0
    high = float(stats.beta.ppf(1 - level / 2, k + 1, n - k)) if k < n else 1.0
    return low, high


def valued(column: Column) -> tuple[NDArray[Any], Index]:
    """Return the distinct values of a column and the position of each row's among them.

    The first is "missing".
    """
    if column.is_coded:
        names = np.array(["missing", *map(str, column.levels)], dtype=object)
        return names, np.asarray(column.values + 1, np.intp)
    missing = column.missing
    known = column.values[~missing]
    values, places = np.unique(
        known.astype(str) if column.kind is Kind.TEXT else known, return_inverse=True
    )
    codes = np.zeros(len(column), np.intp)
    codes[~missing] = places + 1
    written = [number(v, 6) if values.dtype.kind == "f" else str(v) for v in values]
    return np.array(["missing", *written], dtype=object), codes


def _axis(column: Column) -> Floats | None:
    """Return a column of numbers; None for others."""
    return None if column.kind not in NUMERIC else np.asarray(column.values, np.float64)
