"""Rows to fit to, whether a table names its target or it is passed beside the features."""

from dataclasses import replace
from typing import Any

import numpy as np

from clearwood._shared.errors import InputError
from clearwood.table import Column, Kind, Role, Table, read
from clearwood.table import as_table as to_table

__all__ = ["training_table"]


def training_table(X: Any, y: Any, sample_weight: Any) -> Table:
    """Return a table with target and weights.

    Examples
    --------
    >>> table = training_table({"age": [30, 40, 50, 60, 70]}, [1.5, 2, 0.5, 1, 3], [1, 1, 2, 1, 1])
    >>> table.features, table.y, table.weights
    (('age',), array([1.5, 2. , 0.5, 1. , 3. ]), array([1., 1., 2., 1., 1.]))
    """
    table = to_table(X)
    if y is not None:
        table = _with_target(table, y)
    elif table.target is None:
        raise InputError(
            "fit needs y: the target is missing",
            parameter="y",
            hint="requires y to be passed, but the target y is None; pass fit(X, y), or a table "
            "that names its target.",
        )
    if sample_weight is None:
        return table
    weights = np.asarray(sample_weight, dtype=np.float64).ravel()
    if len(weights) != table.n_rows:
        raise InputError(
            f"there are {len(weights)} weights for {table.n_rows} rows", parameter="sample_weight"
        )
    return _with(table, Column(_unused("weight", table), Kind.NUMBER, weights), Role.WEIGHT)


def _with_target(table: Table, y: Any) -> Table:
    """Add the target as a column."""
    name = _unused("target", table)
    own = read({name: np.asarray(y).ravel()}, target=name)
    if own.n_rows != table.n_rows:
        raise InputError(
            f"y has {own.n_rows + own.dropped} values, {own.dropped} of them missing, for "
            f"{table.n_rows} rows",
            parameter="y",
        )
    roles = {key: role for key, role in table.roles.items() if role is not Role.TARGET}
    table = replace(table, roles=roles, task=own.task)
    return _with(table, own.column(name), Role.TARGET)


def _with(table: Table, column: Column, role: Role) -> Table:
    """Add a column of some role, which no other column keeps."""
    roles = {name: Role.IGNORED if other is role else other for name, other in table.roles.items()}
    return replace(
        table,
        columns=(*table.columns, column),
        roles={**roles, column.name: role},
        options=None,
    )


def _unused(name: str, table: Table) -> str:
    """Return a name that no column has."""
    while name in table.names:
        name += "_"
    return name
