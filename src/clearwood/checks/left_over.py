"""What a forest leaves of the target on rows that it was not fitted to."""

from collections.abc import Sequence

import numpy as np
from scipy.stats import norm
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import GroupKFold

from clearwood._shared.arrays import Floats, Index
from clearwood.table import Column, Kind, Table

__all__ = ["agreement_of", "as_numbers", "indicators", "left_over", "pairs_of"]

_FOLDS = 3
_TREES = 50


def left_over(
    table: Table,
    rows: Index,
    columns: Sequence[Column],
    units: Index | None = None,
    truth: Floats | None = None,
) -> Floats:
    """Return what a forest of some columns leaves of the target, one column for each class.

    Rows of a unit are predicted by a forest that was fitted to other units. Without columns, the
    mean of the others is taken off. ``truth`` stands for the target, if it is given.
    """
    exposures = None if table.exposures is None or truth is not None else table.exposures[rows]
    truth = indicators(table.target_column.take(rows)) if truth is None else truth[:, None]
    left = np.empty_like(truth)
    features = np.column_stack(
        [as_numbers(column.take(rows)) for column in columns] or [np.zeros(len(rows))]
    )
    own = np.arange(len(rows)) if units is None else units[rows]
    for train, test in GroupKFold(_FOLDS).split(features, groups=own):
        weights = None if exposures is None else exposures[train]
        if not columns:
            left[test] = truth[test] - np.average(truth[train], axis=0, weights=weights)
            continue
        forest = RandomForestRegressor(_TREES, min_samples_leaf=3, max_features=0.5, random_state=0)
        forest.fit(features[train], truth[train].squeeze(), sample_weight=weights)
        left[test] = truth[test] - forest.predict(features[test]).reshape(len(test), -1)
    if exposures is not None:
        left *= np.sqrt(exposures)[:, None]  # a rate over a long exposure varies less
    return left


def indicators(column: Column) -> Floats:
    """Return numbers as one column, classes as indicators."""
    if not column.is_coded:
        return np.asarray(column.values[:, None], np.float64)
    codes = column.values
    return np.asarray(codes[:, None] == np.unique(codes)[None, :], np.float64)


def as_numbers(column: Column) -> Floats:
    """Return a column as numbers; levels and texts by their codes."""
    if column.kind is Kind.TEXT:
        texts = np.where(column.missing, "", column.values)
        return np.unique(texts, return_inverse=True)[1].astype(np.float64)
    return np.where(column.missing, np.nan, column.values.astype(np.float64))


def pairs_of(left: Floats, units: Index) -> tuple[float, float, float]:
    """Return the sum of the products of rows of a unit, that of their squares, and how many."""
    total = squares = n_pairs = 0.0
    order = np.argsort(units, kind="stable")
    for own in np.split(order, np.flatnonzero(np.diff(units[order])) + 1):
        products = (left[own] @ left[own].T)[np.triu_indices(len(own), 1)]
        total += products.sum()
        squares += (products**2).sum()
        n_pairs += len(products)
    return total, squares, n_pairs


def agreement_of(left: Floats, units: Index) -> tuple[float, float]:
    """Return the correlation of what is left of rows of a unit, and its p-value."""
    # given the features, products of different rows have mean zero and are uncorrelated
    total, squares, n_pairs = pairs_of(left, units)
    spread = (left**2).sum(axis=1).mean()
    if not squares > 0 or not spread > 0:
        return 0.0, 1.0
    return float(total / n_pairs / spread), float(norm.sf(total / np.sqrt(squares)))
