"""Twins: rows that are identical in all features, such as a person counted in several years."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from clearwood._shared.arrays import Index
from clearwood._shared.draws import draw_rows
from clearwood._shared.errors import InputError
from clearwood._shared.numbers import count, number, percent
from clearwood._shared.results import Result
from clearwood.checks.left_over import agreement_of, as_numbers, left_over
from clearwood.table import Column, Kind, Table, as_table, identical_rows

__all__ = ["Twins", "drawn_anew", "some_sets", "twins"]

#: Twins matter where they are this share of the rows, and where this share of the rows would be
#: different ones if rows were resampled.
LEAST_SHARE = 0.05
#: A correlation of the targets of twins that is smaller hardly changes an estimate.
LEAST_AGREEMENT = 0.02
_LEVEL = 0.001
_LEAST_OVERLAP = 0.1
_MOST_ROWS, _MOST_OF_A_SET = 5000, 20
_BINS = 10


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Twins(Result):
    """Rows that are identical in all features; computed by `clearwood.checks.twins`.

    Parameters
    ----------
    n_rows, n_distinct
        Rows, and different rows among them, by their features.
    n_twins
        Rows with at least one twin: another row with the same features.
    largest
        The most rows with the same features.
    n_distinct_expected
        How many different rows there would be if all rows were resampled from the distribution of
        the columns, estimated by small trees: about as many where columns have few levels, many
        more where twins are the same person or thing. None where twins are few.
    agreement
        The correlation between the targets of twins once a forest that was fitted to other rows is
        taken off: 0 where the features explain all that twins share. None without a target, or
        where twins are few or occur by chance.
    p_value
        Of a test that the targets of twins are independent, given the features.
    n_test, n_test_twins
        Rows of the test table, and those with a twin in the table; None without a test table.
    """

    n_rows: int
    n_distinct: int
    n_twins: int
    largest: int
    n_distinct_expected: int | None = None
    agreement: float | None = None
    p_value: float | None = None
    n_test: int | None = None
    n_test_twins: int | None = None
    _derived: ClassVar[tuple[str, ...]] = ("share", "are_unexpected", "agree", "overlaps_test")

    @property
    def share(self) -> float:
        """The share of rows with a twin."""
        return self.n_twins / self.n_rows

    @property
    def are_unexpected(self) -> bool:
        """Whether there are more twins than columns with few levels bring about."""
        if self.n_distinct_expected is None:
            return False
        return self.n_distinct_expected - self.n_distinct >= LEAST_SHARE * self.n_rows

    @property
    def agree(self) -> bool:
        """Whether the targets of twins agree more than the features explain.

        A row is then easier to predict for a model that was fitted to its twins, and resampling
        that separates twins is too optimistic about new rows.
        """
        if self.agreement is None or self.p_value is None:
            return False
        return self.p_value < _LEVEL and self.agreement >= LEAST_AGREEMENT

    @property
    def overlaps_test(self) -> bool:
        """Whether many more test rows have a twin in the table than rows of the table do."""
        if not self.n_test or self.n_test_twins is None:
            return False
        return self.n_test_twins / self.n_test >= self.share + _LEAST_OVERLAP

    def __repr__(self) -> str:
        text = (
            f"Twins: {count(self.n_twins, 'row')} of {self.n_rows:,} ({percent(self.share)}) have "
            f"the features of another row; {count(self.n_distinct, 'different row')}"
        )
        if self.agreement is not None:
            than = "more than" if self.agree else "no more than"
            text += (
                f". Targets of twins agree {than} the features explain (correlation "
                f"{number(self.agreement)})"
            )
        return text


def twins(data: Any, *, test: Any = None, seed: int = 0) -> Twins:
    """Find rows that are identical in all features, and whether their targets agree.

    Rows of the same person, or rows entered twice, are often identical in all features. If
    resampling separates them, a model is tested on rows whose twins it was fitted to, and looks
    better than it is for new people. ``clearwood.read(..., group="identical rows")`` keeps twins
    together. In a table of few categories many rows are identical by chance.

    Parameters
    ----------
    data
        A table; weight, group and time columns are not features.
    test
        Rows that a model is tested on. If they have twins in the table, the model may have been
        fitted to them.
    seed
        Fixes every draw.

    Returns
    -------
    Twins

    Examples
    --------
    >>> import clearwood as cw
    >>> rng = np.random.default_rng(0)
    >>> person = rng.integers(0, 100, 400)
    >>> data = {name: rng.normal(size=100)[person] for name in ("age", "income", "y")}
    >>> result = twins(cw.read(data, target="y"))
    >>> result.n_rows, result.n_distinct, result.agree
    (400, 100, True)
    """
    table = as_table(data)
    columns = [table.column(name) for name in table.features]
    if not columns:
        raise InputError("the table has no features", parameter="data")
    sets = identical_rows(columns)
    rng = np.random.default_rng(seed)
    sizes = np.bincount(sets)
    result = Twins(
        n_rows=table.n_rows,
        n_distinct=len(sizes),
        n_twins=int(sizes[sizes > 1].sum()),
        largest=int(sizes.max()),
    )
    if test is not None:
        result = replace(result, **_overlap(columns, as_table(test)))
    if result.share < LEAST_SHARE:
        return result
    expected = int(identical_rows(drawn_anew(columns, rng)).max()) + 1
    result = replace(result, n_distinct_expected=expected)
    if table.target is None or not result.are_unexpected:
        return result
    agreement, p_value = _agreement(table, columns, sets, rng)
    return replace(result, agreement=agreement, p_value=p_value)


def _overlap(columns: list[Column], test: Table) -> dict[str, int]:
    """Count the test rows that are identical to a row of the table in all features of both."""
    shared = [column for column in columns if column.name in test.names]
    if not shared:
        return {"n_test": test.n_rows, "n_test_twins": 0}
    both = identical_rows(_stacked(column, test.column(column.name)) for column in shared)
    n_rows = len(columns[0])
    seen = np.isin(both[n_rows:], both[:n_rows])
    return {"n_test": test.n_rows, "n_test_twins": int(seen.sum())}


def _stacked(one: Column, other: Column) -> Column:
    if not (one.is_coded or other.is_coded or Kind.TEXT in (one.kind, other.kind)):
        return replace(one, values=np.concatenate([one.values, other.values]))
    # levels of two tables have different codes
    labels = np.concatenate([one.labels(), other.labels()])
    texts = [None if label is None else str(label) for label in labels.tolist()]
    return Column(one.name, Kind.TEXT, np.array(texts, object))


def drawn_anew(columns: list[Column], rng: np.random.Generator) -> list[Column]:
    """Draw rows that are associated as those of the table are, and otherwise independent.

    Column by column, a small tree groups rows by the columns before it, in few bins. A new row
    takes the value of some row of its group.
    """
    n_rows = len(columns[0])
    binned = [_bins(column) for column in columns]
    some = draw_rows(n_rows, _MOST_ROWS, seed=int(rng.integers(2**32)))
    fewest = max(20, len(some) // 200)
    drawn: list[Index] = []  # for each column, the rows that values are taken from
    for k, bins in enumerate(binned):
        old = np.zeros(n_rows, np.intp)
        new = old
        if k:
            tree = DecisionTreeClassifier(
                max_leaf_nodes=64, min_samples_leaf=fewest, random_state=0
            )
            before = np.column_stack(binned[:k])
            tree.fit(before[some], bins[some])
            old = tree.apply(before)
            new = tree.apply(np.column_stack([binned[j][drawn[j]] for j in range(k)]))
        # rows sorted by group: a group is a stretch of them
        order = np.argsort(old, kind="stable")
        first, end = (np.searchsorted(old[order], new, side=side) for side in ("left", "right"))
        drawn.append(order[rng.integers(first, end)])
    return [column.take(rows) for column, rows in zip(columns, drawn, strict=True)]


def _bins(column: Column) -> Index:
    """Return the most frequent levels, or bins with about the same number of rows."""
    values = as_numbers(column)
    levels, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    if len(levels) > _BINS:
        if column.is_coded or column.kind is Kind.TEXT:
            rank = np.argsort(np.argsort(-counts, kind="stable"))
            return np.minimum(rank[codes], _BINS - 1)
        middle = np.cumsum(counts) - counts / 2
        codes = (middle * _BINS / len(values)).astype(np.intp)[codes]
    return codes


def _agreement(
    table: Table, columns: list[Column], sets: Index, rng: np.random.Generator
) -> tuple[float, float]:
    """Return the correlation of what a forest leaves of the targets of twins, and its p-value."""
    rows = some_sets(sets, rng)
    return agreement_of(left_over(table, rows, columns, sets), sets[rows])


def some_sets(sets: Index, rng: np.random.Generator) -> Index:
    """Draw whole sets of identical rows, up to some rows of each and some rows in all."""
    rows = rng.permutation(len(sets))
    place = rng.permutation(sets.max() + 1)[sets[rows]]
    rows = rows[np.argsort(place, kind="stable")]
    own = sets[rows]
    start = np.flatnonzero(np.append(True, own[1:] != own[:-1]))
    within = np.arange(len(own)) - np.repeat(start, np.diff(np.append(start, len(own))))
    return np.sort(rows[within < _MOST_OF_A_SET][:_MOST_ROWS])
