"""The columns that may be chosen, as numbers: what every method of selection starts from.

A column of the table is one candidate, whatever it becomes: a category is a block of indicators, a
number with gaps is a block of its values and of an indicator of the gaps.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.errors import InputError
from clearwood._shared.weights import counted
from clearwood.checks import effective_rows, is_ordered, ranks
from clearwood.models.shared.folds import Folds
from clearwood.table import Column, Kind, Table, Task

__all__ = ["Candidates", "candidates", "standardised"]

#: Levels of a category beyond the most frequent ones are one level.
_MOST_LEVELS = 20
#: Bins of a number for methods that count.
_BINS = 5
#: Directions of a block with less than this share of its variance are taken to be constant.
_LEAST_VARIANCE = 1e-9


@dataclass(frozen=True, eq=False)
class Candidates:
    """Columns that may be chosen, and the target.

    Parameters
    ----------
    rows
        The rows of the table that count, those with a weight above 0.
    names
        Of the candidates.
    blocks
        The numbers that each candidate is made of: (rows, parts) each, without gaps.
    columns
        Their columns, at the rows that count.
    is_category
        Whether a candidate is a category, whose levels have no order.
    target
        Numbers, or positions of classes.
    task
        What is predicted.
    weights
        Of the rows, their mean is 1; all rows have one above 0.
    effective_rows
        How many rows of equal weight would be as exact.
    groups
        Rows that belong together; None where each row is on its own.
    left_out
        Features that cannot be chosen, with the reason.
    seed
        For random choices.
    """

    rows: Index
    names: tuple[str, ...]
    blocks: tuple[Floats, ...]
    columns: tuple[Column, ...]
    is_category: NDArray[np.bool_]
    target: NDArray[Any]
    task: Task
    weights: Floats
    effective_rows: float
    groups: NDArray[Any] | None
    left_out: dict[str, str]
    seed: int

    def __len__(self) -> int:
        return len(self.names)

    @property
    def n_rows(self) -> int:
        """How many rows count."""
        return len(self.target)

    @cached_property
    def codes(self) -> Index:
        """The bin or level of each row: (rows, candidates)."""
        return np.stack([_codes(column, self.weights) for column in self.columns], axis=1)

    @cached_property
    def matrix(self) -> Floats:
        """All blocks side by side."""
        return np.hstack(self.blocks)

    @property
    def values(self) -> Floats:
        """One number for each row and candidate: its value, gaps at the median, or its level."""
        return np.stack(
            [
                codes if is_category else block[:, 0]
                for block, codes, is_category in zip(
                    self.blocks, self.codes.T, self.is_category, strict=True
                )
            ],
            axis=1,
            dtype=np.float64,
        )

    @cached_property
    def owners(self) -> Index:
        """The candidate that each column of `matrix` belongs to."""
        return np.repeat(np.arange(len(self)), [block.shape[1] for block in self.blocks])

    @cached_property
    def whitened(self) -> tuple[Floats, Index]:
        """Blocks whose parts are uncorrelated with mean 0 and variance 1, and their owners."""
        return _whitened(self.matrix, self.owners, self.weights)

    @cached_property
    def responses(self) -> Floats:
        """The target as numbers with mean 0 and variance 1; for classes, of their indicators."""
        if not self.task.is_classification:
            values = np.asarray(self.target, np.float64)[:, None]
        else:
            values = np.asarray(self.target[:, None] == np.unique(self.target)[1:], np.float64)
        return _whitened(values, np.zeros(values.shape[1], np.intp), self.weights)[0]

    @cached_property
    def target_codes(self) -> Index:
        """The class of each row, or the bin of its number."""
        if self.task.is_classification:
            return np.unique(self.target, return_inverse=True)[1]
        column = Column("target", Kind.NUMBER, np.asarray(self.target, np.float64))
        return _codes(column, self.weights)

    def by_owner(self, values: Floats, owners: Index | None = None) -> Floats:
        """Sum the values of parts over the candidates that they belong to."""
        owners = self.owners if owners is None else owners
        return np.bincount(owners, values, minlength=len(self)).astype(np.float64)

    def folds(self, n: int) -> list[tuple[Index, Index]]:
        """Return the training and the test rows of folds; rows of a group stay together."""
        if self.groups is not None and len(np.unique(self.groups)) >= n:
            splitter = GroupKFold(n, shuffle=True, random_state=self.seed)
            return list(splitter.split(self.target, self.target, self.groups))
        folds = Folds(n, stratify=self.task.is_classification, seed=self.seed)
        return list(folds.split(self.target, self.target))

    def halves(self, rng: np.random.Generator) -> tuple[Index, Index]:
        """Draw two halves of the rows that share none, nor a group."""
        units = np.arange(self.n_rows) if self.groups is None else self.groups
        names, unit = np.unique(units, return_inverse=True)
        place = rng.permutation(len(names))[unit]
        half = len(names) // 2
        return np.flatnonzero(place < half), np.flatnonzero((half <= place) & (place < 2 * half))


def candidates(
    table: Table, target: NDArray[Any], weight: Floats | None, task: Task, seed: int
) -> Candidates:
    """Prepare the features of a table that vary over the rows that count."""
    rows, weights = counted(weight, table.n_rows)
    worth = effective_rows(len(rows), weights)
    weights = weights / weights.mean()
    target = np.asarray(target)[rows]
    if task.is_classification and len(np.unique(target)) < 2:
        raise InputError(
            "columns cannot be selected: all rows have the same class",
            parameter="select",
            hint="selection compares classes, so that it needs at least two.",
        )
    names, blocks, columns, is_category = [], [], [], []
    left_out: dict[str, str] = {}
    for name in table.features:
        column = table.column(name).take(rows)
        block = None if column.kind is Kind.TEXT else _block(column, weights)
        if block is None or not block.shape[1]:
            left_out[name] = "text" if block is None else "constant in the training rows"
            continue
        names.append(name)
        blocks.append(block)
        columns.append(column)
        is_category.append(not _is_number(column))
    if not names:
        listed = ", ".join(f"{name!r} ({reason})" for name, reason in list(left_out.items())[:8])
        raise InputError(
            f"no column can be selected: {listed or 'there are no columns'}",
            parameter="select",
            hint="a model needs at least one number, category or date that varies.",
        )
    groups = table.groups
    return Candidates(
        rows,
        tuple(names),
        tuple(blocks),
        tuple(columns),
        np.array(is_category),
        target,
        task,
        weights,
        worth,
        None if groups is None else groups[rows],
        left_out,
        seed,
    )


def standardised(matrix: Floats, weights: Floats) -> Floats:
    """Return columns with weighted mean 0 and variance 1; a constant one is 0.

    Examples
    --------
    >>> standardised(np.array([[1.0], [1.0], [5.0]]), np.array([1.0, 1.0, 2.0]))
    array([[-1.],
           [-1.],
           [ 1.]])
    """
    total = weights.sum()
    centred = matrix - weights @ matrix / total
    # so that squares of large numbers do not overflow
    largest = np.abs(centred).max(axis=0)
    centred /= np.where(largest > 0, largest, 1.0)
    spread = np.sqrt(weights @ centred**2 / total)
    return np.asarray(centred / np.where(spread > 0, spread, 1.0))


def _is_number(column: Column) -> bool:
    return is_ordered(column) or column.kind is Kind.YES_NO


def _block(column: Column, weights: Floats) -> Floats:
    """Return the numbers of a column that vary: values and gaps, or indicators of levels."""
    missing = column.missing
    if not _is_number(column):
        levels = _levels(column, weights)
        kinds = np.unique(levels)
        # the last level follows from the others
        return np.asarray(levels[:, None] == kinds[:-1], np.float64)
    if column.kind is Kind.DATE:
        values = column.values.astype("datetime64[us]").astype(np.float64) / 86_400e6
    else:
        values = column.values.astype(np.float64)
    parts = []
    present = values[~missing]
    if len(present) and present.min() < present.max():
        parts.append(np.where(missing, np.median(present), values))
    if 0 < missing.sum() < len(missing):
        parts.append(missing.astype(np.float64))
    return np.stack(parts, axis=1) if parts else np.empty((len(values), 0))


def _levels(column: Column, weights: Floats) -> Index:
    """Return the level of each row, rare levels as one; missing is a level of its own."""
    counts = np.bincount(column.values + 1, weights)
    place = np.full(len(counts), _MOST_LEVELS)
    frequent = np.argsort(-counts, kind="stable")[:_MOST_LEVELS]
    place[frequent] = np.arange(len(frequent))
    return np.asarray(place[column.values + 1], np.intp)


def _codes(column: Column, weights: Floats) -> Index:
    """Return the level of each row, or its bin among quantiles; missing is on its own."""
    if column.is_coded:
        return _levels(column, weights)
    place = ranks(column, weights)
    return np.where(np.isnan(place), _BINS, np.minimum(place * _BINS, _BINS - 1)).astype(np.intp)


def _whitened(matrix: Floats, owners: Index, weights: Floats) -> tuple[Floats, Index]:
    """Return uncorrelated columns with weighted mean 0 and variance 1 that span each block.

    Parameters
    ----------
    matrix
        Blocks side by side.
    owners
        The block that each column belongs to, in rising order.
    weights
        Of the rows.

    Returns
    -------
    tuple of ndarray and ndarray
        The new columns, at most as many for each block as it had, and the blocks they belong to.
    """
    parts = standardised(matrix, weights)
    kept = np.ones(len(owners), bool)
    for k in np.flatnonzero(np.bincount(owners) > 1):
        own = np.flatnonzero(owners == k)
        block = parts[:, own]
        variances, directions = np.linalg.eigh(block.T @ (block * weights[:, None]) / len(weights))
        used = variances > _LEAST_VARIANCE * variances.max()
        kept[own[used.sum() :]] = False
        parts[:, own[: used.sum()]] = block @ (directions[:, used] / np.sqrt(variances[used]))
    return (parts, owners) if kept.all() else (parts[:, kept], owners[kept])
