"""Which columns change a model's predictions: by its structure for trees, else by trying."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from clearwood._shared.arrays import Bools, Floats
from clearwood._shared.draws import draw_rows
from clearwood.fitted import FittedModel
from clearwood.forest import Forest
from clearwood.table import Column, StandIn, Table, stand_ins_of
from clearwood.table import as_table as to_table

__all__ = ["stand_ins_in", "used_columns"]

#: Rows whose predictions are tried with other values, and values of a column of numbers.
_ROWS, _VALUES = 500, 21
#: Predictions that differ by less than this share of the largest are equal.
_ROUNDING = 1e-12


def used_columns(model: Any, table: Table, names: Sequence[str]) -> tuple[str, ...]:
    """Return the columns with which predictions change while all others stay as they are.

    A model may take a column and not use it: a tree that does not split by it, a penalty that sets
    its coefficient to 0.

    Parameters
    ----------
    model
        Fitted.
    table
        Rows with the model's features.
    names
        The columns that are asked about.

    Returns
    -------
    tuple of str
        Those of `names` that the model uses.

    Notes
    -----
    The splits of trees are read: a split counts if leaves below it differ. Other models predict
    some rows again with every level of the column, or with its quantiles. That is exact where the
    column has a term of its own, as in linear and additive models: then one row shows it.

    Examples
    --------
    >>> import clearwood as cw
    >>> policies = cw.datasets.insurance(500)
    >>> stump = cw.learner("tree", max_depth=1).fit(policies)
    >>> used_columns(stump, policies, policies.protected)
    ()
    >>> used_columns(cw.learner("glm").fit(policies), policies, policies.protected)
    ('gender',)
    """
    view = FittedModel(model, table)
    own = [name for name in names if name in view.features_in(table)]
    if view.forest is not None:
        splits = _columns_that_matter(view.forest)
        return tuple(name for name in own if name in splits)
    return tuple(name for name in own if _changes(view, table, name))


def stand_ins_in(model: Any, table: Table, protected: Sequence[str]) -> tuple[StandIn, ...]:
    """Return the columns that a model uses and that stand for protected ones.

    Parameters
    ----------
    model
        Fitted; None for all features of the table.
    table
        The training rows.
    protected
        The protected columns.
    """
    names = table.features if model is None else FittedModel(model, table).features_in(table)
    features = [name for name in names if name in table.names and name not in protected]
    found = stand_ins_of(table, protected, features)
    if model is None or not found:
        return found
    asked = list(dict.fromkeys(name for one in found for name in one.columns))
    unused = set(asked) - set(used_columns(model, table, asked))
    if not unused:
        return found
    return stand_ins_of(table, protected, [name for name in features if name not in unused])


def _columns_that_matter(forest: Forest) -> frozenset[str]:
    """Return the columns of splits below which leaves differ."""
    low, high = (np.where(forest.is_leaf[:, None], forest.value, end) for end in (np.inf, -np.inf))
    for node in np.flatnonzero(~forest.is_leaf)[::-1]:  # children come after their parent
        both = [forest.left[node], forest.right[node]]
        low[node], high[node] = low[both].min(axis=0), high[both].max(axis=0)
    matters: Bools = ~forest.is_leaf & (high > low).any(axis=1)
    return frozenset(forest.columns[k] for k in np.unique(forest.groups[forest.feature[matters]]))


def _changes(model: FittedModel, table: Table, name: str) -> bool:
    """Whether the prediction of some row changes with the values of a column."""
    if model.schema is not None:
        table = to_table(table, schema=model.schema)
    rows = table.take(draw_rows(table.n_rows, _ROWS, seed=0))
    before = model.predict(rows, scale="response")
    size = max(float(np.abs(before).max()), 1e-300)
    column = rows.column(name)
    values = np.array(_values(table.column(name)), column.values.dtype)
    for shift in range(len(values)):
        # no batch has one value only, as some models learn the levels from the rows they are given
        turned = values[(np.arange(len(column)) + shift) % len(values)]
        held = replace(column, values=turned)
        columns = tuple(held if one.name == name else one for one in rows.columns)
        after = model.predict(replace(rows, columns=columns), scale="response")
        if np.abs(after - before).max() > _ROUNDING * size:
            return True
    return False


def _values(column: Column) -> Floats | list[Any]:
    """Return the values to try: all levels, or quantiles of numbers; missing where some are."""
    missing = column.missing
    known = column.values[~missing]
    if column.is_coded or known.dtype.kind == "O":
        return [*dict.fromkeys(known.tolist()), *column.values[missing][:1].tolist()]
    chosen = np.sort(known)[np.linspace(0, len(known) - 1, _VALUES).astype(np.intp)]
    return [*np.unique(chosen), *column.values[missing][:1]]
