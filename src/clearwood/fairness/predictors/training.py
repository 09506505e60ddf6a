"""Rows to fit to, and models fitted again to them or to other columns."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from clearwood._shared.errors import InputError
from clearwood.fitted import FittedModel
from clearwood.models import TableModel
from clearwood.table import Column, Kind, Role, Schema, Table, read
from clearwood.table import as_table as to_table

__all__ = ["fitted_to", "schema_of", "training_table", "with_roles"]


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


def schema_of(model: FittedModel, table: Table) -> Schema:
    """Return the columns that the model was fitted to; those of the table where it keeps none."""
    if model.schema is not None:
        return model.schema
    names = model.features_in(table)
    columns = (
        replace(one, role=Role.IGNORED)
        if one.role in (Role.FEATURE, Role.PROTECTED) and one.name not in names
        else one
        for one in table.schema.columns
    )
    return replace(table.schema, columns=tuple(columns))


def with_roles(table: Table, names: Sequence[str], role: Role) -> Table:
    """Return a table in which some columns have another role.

    Examples
    --------
    >>> import clearwood as cw
    >>> policies = cw.datasets.insurance(50)
    >>> with_roles(policies, ["gender"], Role.IGNORED).features
    ('age', 'region', 'height', 'mileage', 'power')
    """
    return replace(table, roles={**table.roles, **dict.fromkeys(names, role)}, options=None)


def fitted_to(model: Any, table: Table) -> Any:
    """Return a copy of the model, fitted to the features and the target of a table."""
    if not (hasattr(model, "fit") and hasattr(model, "get_params")):
        raise InputError(
            f"a {type(model).__name__} cannot be fitted again",
            parameter="model",
            hint="give a learner, or an estimator of scikit-learn.",
        )
    fresh = clone(model)
    if isinstance(fresh, TableModel):
        return fresh.fit(table)
    weights = table.weights
    options = {}
    if weights is not None and has_fit_parameter(fresh, "sample_weight"):
        options = {"sample_weight": weights}
    frame = table.X.by_header().to_frame()
    return fresh.fit(frame, table.y, **options)
