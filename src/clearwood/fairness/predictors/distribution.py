"""The distribution of the protected columns over which a fair predictor averages."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood import forest as forests
from clearwood._shared.arrays import Floats, Index
from clearwood._shared.errors import InputError, bad_value, unknown_choice
from clearwood._shared.weights import counted
from clearwood.explanation import learner_players
from clearwood.fairness.groups.grouping import distinct, values_of
from clearwood.fitted import FittedModel
from clearwood.forest import Forest
from clearwood.models import Learner
from clearwood.table import NUMERIC, Column, Kind, Table
from clearwood.table import as_table as to_table

__all__ = ["Distribution", "distribution_of"]

#: Combinations of values up to which every one is averaged over.
MOST_CELLS = 512
#: Combinations up to which none are joined: predicting them is quicker than reading the model.
_FEW_CELLS = 8


@dataclass(frozen=True, eq=False)
class Distribution:
    """Values of the protected columns, and the share that each combination has.

    Parameters
    ----------
    cells
        The protected columns: one row for each combination.
    shares
        The share of each combination; their sum is 1.
    is_exact
        Whether an average over the cells is the average over all values of the data. It is not
        for columns of many numbers in a model without steps, where the mean of each of 512 equally
        likely bins is taken (of several columns, points of their joint distribution).

    Examples
    --------
    >>> import clearwood as cw
    >>> distribution = distribution_of(cw.datasets.insurance(100), ["gender"])
    >>> distribution.labels, distribution.shares.round(2)
    ((('female',), ('male',)), array([0.47, 0.53]))
    """

    cells: Table
    shares: Floats
    is_exact: bool = True

    def __len__(self) -> int:
        return len(self.shares)

    @property
    def names(self) -> tuple[str, ...]:
        """The protected columns."""
        return self.cells.names

    @property
    def labels(self) -> tuple[tuple[Any, ...], ...]:
        """The values of each combination, None for missing."""
        return values_of(self.cells)


def distribution_of(
    table: Table, names: Sequence[str], distribution: Any = "marginal", *, model: Any = None
) -> Distribution:
    """Return the distribution of protected columns.

    Parameters
    ----------
    table
        The rows.
    names
        The protected columns.
    distribution
        "marginal" for the joint distribution in the rows, weighted as the table says; the share of
        each level (of each combination, for several columns); or a weight for each row.
    model
        A fitted model. Combinations that it cannot tell apart are joined, which changes no average.
    """
    if isinstance(distribution, Mapping):
        return _given(table, names, distribution)
    if isinstance(distribution, str) and distribution != "marginal":
        raise unknown_choice("distribution", distribution, ["marginal"])
    cells, which = distinct(table, names)
    rows, weights = _weights(table, distribution)
    shares = np.bincount(which[rows], weights, minlength=cells.n_rows)
    return _joined(Distribution(cells, shares / shares.sum()), table, model)


def _weights(table: Table, distribution: Any) -> tuple[Index, Floats]:
    """Return the rows that count, and how much."""
    if isinstance(distribution, str):
        return counted(table.weights, table.n_rows)
    try:
        weights = np.asarray(distribution, dtype=np.float64)
        return counted(weights, table.n_rows)
    except (TypeError, ValueError, InputError):
        raise bad_value(
            "distribution",
            type(distribution).__name__,
            f'it must be "marginal", shares by level, or {table.n_rows} weights of 0 or more',
        ) from None


def _given(table: Table, names: Sequence[str], distribution: Mapping[Any, Any]) -> Distribution:
    """Return a distribution that the user wrote down."""
    columns = [table.column(name) for name in names]
    keys = [key if isinstance(key, tuple) and len(names) > 1 else (key,) for key in distribution]
    for key in keys:
        if len(key) != len(names):
            raise bad_value(
                "distribution", key, f"it needs a value of each of {', '.join(map(repr, names))}"
            )
    try:
        shares = np.array([float(share) for share in distribution.values()])
    except (TypeError, ValueError):
        shares = np.array([np.nan])
    if not len(shares) or not np.isfinite(shares).all() or (shares < 0).any() or not shares.any():
        raise bad_value(
            "distribution", dict(distribution), "shares must be numbers of 0 or more, and not all 0"
        )
    cells = [
        replace(column, values=_values(column, [key[k] for key in keys]))
        for k, column in enumerate(columns)
    ]
    return Distribution(Table(tuple(cells)), shares / shares.sum())


def _values(column: Column, labels: Iterable[Any]) -> NDArray[Any]:
    """Return labels of a column as its values."""
    if column.is_coded:
        codes = []
        for label in labels:
            text = str(label)
            if label is not None and text not in column.levels:
                raise unknown_choice("distribution", label, column.levels)
            codes.append(-1 if label is None else column.levels.index(text))
        return np.array(codes, np.int32)
    if column.kind is Kind.DATE:
        return np.array(list(labels), "datetime64[us]")
    try:
        return np.array([np.nan if one is None else float(one) for one in labels])
    except (TypeError, ValueError):
        raise bad_value("distribution", list(labels), f"{column.name!r} holds numbers") from None


def _joined(distribution: Distribution, table: Table, model: Any) -> Distribution:
    """Join combinations that the model cannot tell apart; of too many, take likely points."""
    distribution = Distribution(
        distribution.cells.take(distribution.shares > 0),
        distribution.shares[distribution.shares > 0],
    )
    if len(distribution) > _FEW_CELLS and model is not None:
        codes = _codes(model, table, distribution.cells)
        if codes is not None:
            _, first, which = np.unique(codes, axis=0, return_index=True, return_inverse=True)
            order = np.argsort(first)
            shares: Floats = np.bincount(which.ravel(), distribution.shares).astype(np.float64)
            distribution = Distribution(distribution.cells.take(first[order]), shares[order])
    if len(distribution) <= MOST_CELLS or all(
        column.is_coded for column in distribution.cells.columns
    ):
        return distribution
    if len(distribution.names) == 1 and distribution.cells.columns[0].kind in NUMERIC:
        return _binned(distribution)
    # cells are sorted, so these are quantiles of equal weight
    points = (np.arange(MOST_CELLS) + 0.5) / MOST_CELLS
    chosen = np.searchsorted(np.cumsum(distribution.shares), points).clip(max=len(distribution) - 1)
    kept, times = np.unique(chosen, return_counts=True)
    return Distribution(distribution.cells.take(kept), times / MOST_CELLS, is_exact=False)


def _binned(distribution: Distribution) -> Distribution:
    """Join the values of one column of numbers to means of bins of about equal weight."""
    column = distribution.cells.columns[0]
    middle = np.cumsum(distribution.shares) - distribution.shares / 2
    bins = np.minimum((middle * MOST_CELLS).astype(np.intp), MOST_CELLS - 1)
    bins[column.missing] = MOST_CELLS
    used, which = np.unique(bins, return_inverse=True)
    shares: Floats = np.bincount(which, distribution.shares).astype(np.float64)
    values = np.bincount(which, distribution.shares * np.nan_to_num(column.values)) / shares
    values[used == MOST_CELLS] = np.nan
    kept = replace(column, kind=Kind.NUMBER, values=values)
    return Distribution(Table((kept,)), shares, is_exact=False)


def _codes(model: Any, table: Table, cells: Table) -> NDArray[Any] | None:
    """Return what the model sees of each combination; None where that cannot be read."""
    own = {column.name: column for column in cells.columns}
    base = table.take(np.zeros(cells.n_rows, np.intp))
    rows = replace(base, columns=tuple(own.get(c.name, c) for c in base.columns))
    forest = None if model is None else FittedModel(model).forest
    if forest is not None:
        seen = [k for k, g in enumerate(forest.groups) if forest.columns[g] in own]
        values = forests.rounded(forest, forest.matrix(rows))
        return np.column_stack([np.zeros(len(values)), *(_steps(forest, k, values) for k in seen)])
    if isinstance(model, Learner):
        players, groups = learner_players(model)
        encoded = model.encoder_.transform(to_table(rows, schema=model.schema_))
        codes: NDArray[Any] = np.nan_to_num(
            encoded[:, [players[g] in own for g in groups]], nan=np.inf
        )
        return codes
    return None


def _steps(forest: Forest, feature: int, values: Floats) -> Floats:
    """Number the intervals between the thresholds of one of the model's columns."""
    column = values[:, feature]
    nodes = ~forest.is_leaf & (forest.feature == feature)
    if (forest.category_start[nodes] >= 0).any():
        return np.nan_to_num(column, nan=np.inf)
    thresholds = np.unique(forest.threshold[nodes])
    cell = np.searchsorted(thresholds, column).astype(np.float64)
    if forest.zero_missing[nodes].any():
        cell[np.abs(column) <= forests.ZERO] = -2
    cell[np.isnan(column)] = -1
    return cell
