"""Columns that hold a protected column in another form: they determine it, or it determines them.

Known in the literature as redundant encodings (Dwork, Hardt, Pitassi, Reingold and Zemel 2012).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Bools, Floats, Index
from clearwood._shared.draws import draw_rows
from clearwood._shared.errors import Option, Text, words
from clearwood._shared.messages import tell
from clearwood._shared.numbers import percent
from clearwood._shared.results import Result
from clearwood._shared.weights import counted
from clearwood.table.column import Column
from clearwood.table.table import Table
from clearwood.table.types import NUMERIC, Kind

__all__ = ["StandIn", "noted_stand_ins", "stand_ins_of"]

#: The share of the errors of the best guess without a column (of the variance of numbers) that it
#: has to remove on other rows.
DETERMINES, DETERMINES_NUMBERS = 0.95, 0.98
#: Groups, and the rest of the rows, have at least so many rows.
_FEWEST = 10
#: Numbers that each occur in so many rows on average are told apart one by one.
_ROWS_PER_VALUE = 2
#: Rows for levels, which are counted, and for trees.
_MOST_ROWS, _MOST_FOR_TREES = 50_000, 3000
_FOLDS = 5
#: Trees, their leaves, and the folds that they are tried on.
_TREES, _LEAVES, _TRIED = 10, 64, 2
#: Categories with more levels enter trees by the share of each group among their other rows.
_MOST_INDICATORS = 20
#: More groups than this are not asked about.
_MOST = 50
#: Sets of fewer columns are tried one by one; beyond it, their sizes double.
_SMALL = 6


@dataclass(frozen=True, kw_only=True)
class StandIn(Result):
    """Columns that stand for protected ones.

    Parameters
    ----------
    protected
        The protected column, or several that are crossed.
    columns
        The fewest columns that were found to determine it, or the one that it determines.
    group
        The group that is told from all others; None where all groups are, and for numbers.
    share
        By how much the errors of the best guess without the columns fall, on rows that they were
        not learned from; of numbers, the squared errors.
    right, base
        The share of these rows that are right, and that of the best guess; of numbers, `share`
        and 0.
    is_function
        Whether the protected columns determine the column, which then holds nothing else.
    """

    protected: tuple[str, ...]
    columns: tuple[str, ...]
    group: str | None
    share: float
    right: float
    base: float
    is_function: bool = False
    _derived = ("text",)

    @property
    def text(self) -> str:
        """What was found, in words."""
        own = " × ".join(map(repr, self.protected))
        several = len(self.columns) > 1
        listed = ", ".join(map(repr, self.columns[:5]))
        if len(self.columns) > 5:
            listed += f" and {len(self.columns) - 5} more"
        subject = f"the columns {listed} together" if several else f"the column {listed}"
        if self.is_function:
            known = "explains" if len(self.protected) == 1 else "explain"
            how = (
                f"{known} {percent(self.share)} of its variance"
                if not self.base
                else f"{'tells' if len(self.protected) == 1 else 'tell'} it for "
                f"{percent(self.right)} of other rows, against {percent(self.base)} without"
            )
            return f"{subject} is the protected {own} in another form, which {how}"
        if not self.base:
            verb = "explain" if several else "explains"
            return f"{subject} {verb} {percent(self.share)} of the variance of the protected {own}"
        what = f"the protected {own}"
        what = what if self.group is None else f"whether {what} is {self.group}"
        return (
            f"{subject} tell{'' if several else 's'} {what} for {percent(self.right)} of other "
            f"rows, against {percent(self.base)} without"
        )

    def __str__(self) -> str:
        return self.text


def stand_ins_of(
    table: Table, protected: Sequence[str], columns: Sequence[str], *, seed: int = 0
) -> tuple[StandIn, ...]:
    """Find columns that determine protected ones, or that protected ones determine.

    Parameters
    ----------
    table
        The rows; those of weight 0 do not count.
    protected, columns
        The protected columns, and those to look at.
    seed
        Fixes folds and draws.

    Returns
    -------
    tuple of StandIn
        For each protected column the single columns that determine it or one of its groups, or
        where there is none the smallest set of several that was found; then the same for groups of
        crossed protected columns, and at last columns that protected ones determine.

    Examples
    --------
    >>> race = np.random.default_rng(0).choice(3, 500)
    >>> column = Column("race", Kind.CATEGORY, race.astype(np.int32), ("asian", "black", "white"))
    >>> flag = Column("white", Kind.NUMBER, (race == 2) * 1.0)
    >>> print(*stand_ins_of(Table((column, flag)), ["race"], ["white"]))
    the column 'white' tells whether the protected 'race' is white for 100 % of other rows,
    against 62.4 % without
    """
    counting, _ = counted(table.weights, table.n_rows)
    rows = counting[draw_rows(len(counting), _MOST_ROWS, seed=seed)]
    own = [table.column(name).take(rows) for name in protected]
    others = [table.column(name).take(rows) for name in columns if name not in protected]
    units = np.arange(len(rows)) if table.groups is None else table.groups[rows]
    found: list[StandIn] = []
    for asked in [[column] for column in own] + ([own] if len(own) > 1 else []):
        known = {name for one in found for name in one.columns}
        rest = others if len(asked) == 1 else [one for one in others if one.name not in known]
        wanted = _Wanted.of(asked, units, seed)
        found += [] if wanted is None else _that_determine(wanted, rest)
    known = {one.columns[0] for one in found if len(one.columns) == 1}
    for column in others:
        wanted = _Wanted.of([column], units, seed) if column.name not in known else None
        if wanted is None:
            continue
        for asked in [[one] for one in own] + ([own] if len(own) > 1 else []):
            told = wanted.told_by(asked)
            if told.is_determined and told.group is None:
                names = tuple(one.name for one in asked)
                found.append(told.stand_in(names, (column.name,), is_function=True))
                break
    return tuple(found)


def noted_stand_ins(table: Table) -> tuple[Text, ...]:
    """Warn of the features that stand for the protected columns of a table; return the notes."""
    if not table.protected:
        return ()
    features = [name for name in table.features if name not in table.protected]
    notes = tuple(
        words(
            f"{one.text}: a model can use it in place of what is protected; leave it out with ",
            Option("ignore", [one.columns[0]]),
            ", or protect it too",
        )
        for one in stand_ins_of(table, table.protected, features)
    )
    for note in notes:
        tell(note)
    return notes


def _that_determine(wanted: "_Wanted", others: Sequence[Column]) -> list[StandIn]:
    """Find the single columns, or else the smallest set of several, that determine groups."""
    alone = [(column, wanted.told_by([column])) for column in others]
    found = [
        told.stand_in(wanted.names, (column.name,)) for column, told in alone if told.is_determined
    ]
    usable = [column for column in others if column.kind is not Kind.TEXT]
    # that several columns together tell a crossed group is known from each protected column
    if found or len(usable) < 2 or len(wanted.names) > 1:
        return found
    if not wanted.told_by(usable).is_determined:
        return []
    chosen = wanted.smallest(usable)
    names = tuple(column.name for column in chosen)
    return [wanted.told_by(chosen).stand_in(wanted.names, names)]


@dataclass(frozen=True)
class _Told:
    """How well groups or numbers are told."""

    share: float
    right: float
    base: float
    group: str | None
    are_numbers: bool

    @property
    def is_determined(self) -> bool:
        return self.share >= (DETERMINES_NUMBERS if self.are_numbers else DETERMINES)

    def stand_in(
        self, protected: tuple[str, ...], columns: tuple[str, ...], *, is_function: bool = False
    ) -> StandIn:
        return StandIn(
            protected=protected,
            columns=columns,
            group=self.group,
            share=self.share,
            right=self.right,
            base=self.base,
            is_function=is_function,
        )


@dataclass(frozen=True, eq=False)
class _Wanted:
    """What columns are tried on: the groups of columns, or the numbers of one.

    Parameters
    ----------
    names
        The columns.
    labels
        The groups; empty for numbers.
    values
        The group of each row by position, or its number.
    rows
        The rows with a value.
    fold
        Of each of these rows; rows that are tied together are in one.
    """

    names: tuple[str, ...]
    labels: tuple[str, ...]
    values: Floats
    rows: Index
    fold: Index

    @classmethod
    def of(cls, columns: Sequence[Column], units: NDArray[Any], seed: int) -> "_Wanted | None":
        """Read groups or numbers; None where there is nothing to tell, or too much."""
        rows = np.flatnonzero(~np.any([column.missing for column in columns], axis=0))
        if len(rows) < 2 * _FEWEST:
            return None
        labels: tuple[str, ...] = ()
        if len(columns) == 1 and _is_number(columns[0]):
            values = _numbers(columns[0])[rows]
            has_some = bool(np.ptp(values) > 0)
        else:
            levels = [column.labels()[rows].astype(str) for column in columns]
            texts = np.array([" / ".join(row) for row in zip(*levels, strict=True)])
            distinct, codes = np.unique(texts, return_inverse=True)
            labels, values = tuple(distinct.tolist()), codes.astype(np.float64)
            outside = len(rows) - int(np.bincount(codes).max())
            has_some = outside >= _FEWEST and len(labels) <= _MOST
        if not has_some:
            return None
        number_of = np.unique(units[rows], return_inverse=True)[1].ravel()
        rng = np.random.default_rng(seed)
        fold = rng.permutation(np.arange(number_of.max() + 1) % _FOLDS)[number_of]
        names = tuple(column.name for column in columns)
        return cls(names, labels, values, rows, fold.astype(np.intp))

    def told_by(self, columns: Sequence[Column]) -> _Told:
        """Measure how well all groups are told on other rows; if they are not, the best told."""
        ways = []
        if len(columns) == 1:
            level = _levels(columns[0].take(self.rows))
            if not _is_number(columns[0]) or level.max() * _ROWS_PER_VALUE < len(level):
                ways.append(self._judged(self._by_level(level), np.arange(len(level))))
        if len(columns) > 1 or _is_number(columns[0]):
            ways.append(self._judged(*self._by_trees(columns)))
        return max(ways, key=lambda one: (one.is_determined, one.share))

    def _judged(self, predicted: Floats, used: Index) -> _Told:
        """Compare predictions with the groups or numbers of some rows."""
        truth = self.values[used]
        if not self.labels:
            left = float(((predicted - truth) ** 2).sum() / ((truth - truth.mean()) ** 2).sum())
            return _Told(1 - left, 1 - left, 0.0, None, are_numbers=True)
        whole = _told(predicted == truth, np.bincount(truth.astype(np.intp)).max(), None)
        if whole.is_determined or len(self.labels) == 2:
            return whole
        groups = []
        for k, label in enumerate(self.labels):
            inside = truth == k
            most = max(int(inside.sum()), int((~inside).sum()))
            groups.append(_told(inside == (predicted == k), most, label))
        return max([whole, *groups], key=lambda one: (one.is_determined, one.share))

    def smallest(self, columns: Sequence[Column]) -> list[Column]:
        """Return few of the columns that determine as much as all of them."""
        used = draw_rows(len(self.rows), _MOST_FOR_TREES, seed=0)
        matrix, owner = self._matrix(columns, used, np.ones(len(used), bool))
        importance = self._trees(many=True).fit(matrix, self.values[used]).feature_importances_
        order = np.argsort(-np.bincount(owner, importance, minlength=len(columns)), kind="stable")
        sizes = [*range(2, _SMALL), *(_SMALL * 2**k for k in range(8))]
        chosen = list(columns)
        for size in (size for size in sizes if size < len(columns)):
            some = [columns[k] for k in order[:size]]
            if self.told_by(some).is_determined:
                chosen = some
                break
        for column in chosen[::-1] if len(chosen) <= _SMALL else ():
            fewer = [one for one in chosen if one is not column]
            if len(fewer) > 1 and self.told_by(fewer).is_determined:
                chosen = fewer
        return chosen

    def _by_trees(self, columns: Sequence[Column]) -> tuple[Floats, Index]:
        """Predict rows from those of other folds, numbers by a line too; say which rows."""
        used = draw_rows(len(self.rows), _MOST_FOR_TREES, seed=0)
        truth, fold = self.values[used], self.fold[used]
        by_trees, by_line = np.full(len(used), np.nan), np.full(len(used), np.nan)
        for k in np.unique(fold)[:_TRIED]:
            held = fold == k
            matrix, _ = self._matrix(columns, used, ~held)
            trees = self._trees(many=len(columns) > 1).fit(matrix[~held], truth[~held])
            by_trees[held] = trees.predict(matrix[held])
            if not self.labels:
                with_one = np.column_stack([np.ones(len(used)), matrix])
                line = np.linalg.lstsq(with_one[~held], truth[~held], rcond=None)[0]
                by_line[held] = with_one[held] @ line
        tried = ~np.isnan(by_trees)
        truth, by_trees, by_line = truth[tried], by_trees[tried], by_line[tried]
        if not self.labels and ((by_line - truth) ** 2).sum() < ((by_trees - truth) ** 2).sum():
            return by_line, used[tried]
        return by_trees, used[tried]

    def _by_level(self, level: Index) -> Floats:
        """Predict the most frequent group, or the mean, of each level in the other folds."""
        predicted = np.empty(len(level))
        truth = self._indicators(np.arange(len(level)))
        for k in np.unique(self.fold):
            held = self.fold == k
            means = _means_by_level(level, truth, ~held)[level[held]]
            predicted[held] = means.argmax(axis=1) if self.labels else means[:, 0]
        return predicted

    def _indicators(self, used: Index) -> Floats:
        """Return a column for each group, or the numbers."""
        values: Floats = self.values[used][:, None]
        if not self.labels:
            return values
        return np.asarray(values == np.arange(len(self.labels)), np.float64)

    def _matrix(
        self, columns: Sequence[Column], used: Index, training: Bools
    ) -> tuple[Floats, Index]:
        """Return columns as numbers, and which column each of these is of.

        Numbers have an indicator of gaps, levels one each. Of many levels, each row has the share
        of every group among the other training rows of its level.
        """
        parts: list[Floats] = []
        for column in columns:
            some = column.take(self.rows[used])
            if _is_number(column):
                values, gaps = _numbers(some), some.missing
                filled = np.where(gaps, values[~gaps].mean() if (~gaps).any() else 0.0, values)
                parts.append(np.column_stack([filled, gaps] if gaps.any() else [filled]))
                continue
            level = _levels(some)
            n_levels = int(level.max()) + 1
            if n_levels <= _MOST_INDICATORS:
                parts.append((level[:, None] == np.arange(n_levels)).astype(np.float64))
                continue
            truth = self._indicators(used)
            parts.append(_means_by_level(level, truth, training, without_own=True))
        owner = np.repeat(np.arange(len(parts)), [part.shape[1] for part in parts])
        return np.column_stack(parts), owner

    def _trees(self, *, many: bool) -> Any:
        """Return one tree or several, of limited size."""
        from sklearn import ensemble, tree

        if not many:
            one = tree.DecisionTreeClassifier if self.labels else tree.DecisionTreeRegressor
            return one(max_leaf_nodes=_LEAVES, random_state=0)
        some = ensemble.ExtraTreesClassifier if self.labels else ensemble.ExtraTreesRegressor
        return some(_TREES, max_features=None, max_leaf_nodes=_LEAVES, random_state=0)


def _told(are_right: Bools, most: int, group: str | None) -> _Told:
    """Compare how many rows are right with the best guess for all of them."""
    n = len(are_right)
    if n - most < _FEWEST:
        return _Told(0.0, 0.0, 0.0, group, are_numbers=False)
    share = 1 - float((~are_right).sum()) / (n - most)
    return _Told(share, float(are_right.mean()), most / n, group, are_numbers=False)


def _levels(column: Column) -> Index:
    """Number the values of a column; missing is one of them."""
    values = _numbers(column) if _is_number(column) else column.labels().astype(str)
    return np.asarray(np.unique(values, return_inverse=True)[1].ravel(), np.intp)


def _means_by_level(
    level: Index, truth: Floats, training: Bools, *, without_own: bool = False
) -> Floats:
    """Return the means of the training rows of each level, or of the others of each row's level.

    Levels without such rows have the mean of all.
    """
    n_levels = int(level.max()) + 1
    each = training.astype(np.float64)
    totals = [each, *(each * one for one in truth.T)]
    by_level = np.array([np.bincount(level, one, minlength=n_levels) for one in totals])
    rows, sums = by_level[:1].T, by_level[1:].T
    if without_own:
        rows, sums = rows[level] - each[:, None], sums[level] - each[:, None] * truth
    overall = truth[training].mean(axis=0)
    return np.asarray(np.where(rows > 0, sums / np.maximum(rows, 1), overall), np.float64)


def _is_number(column: Column) -> bool:
    """Whether the values of a column are used as numbers; dates are."""
    return column.kind in NUMERIC or column.kind is Kind.DATE


def _numbers(column: Column) -> Floats:
    if column.kind is Kind.DATE:
        days = column.values.astype("datetime64[s]").astype(np.float64) / 86_400
        return np.asarray(np.where(column.missing, np.nan, days), np.float64)
    return column.values.astype(np.float64)
