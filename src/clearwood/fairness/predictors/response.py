"""Any model as numbers on the scale of the target, and models fitted again to other columns."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from clearwood._shared.errors import InputError
from clearwood.fairness.groups.rows import read_with
from clearwood.fitted import FittedModel
from clearwood.models import TableModel
from clearwood.table import Role, Schema, Table

__all__ = [
    "ReadRows",
    "fitted_to",
    "read_both",
    "read_rows",
    "schema_of",
    "with_roles",
]


def read_rows(model: Any, data: Any, protected: Any = None) -> Table:
    """Return the data as a table: the model's columns with their roles, and protected ones."""
    names = (protected,) if isinstance(protected, str) else tuple(protected or ())
    return read_with(data, getattr(model, "schema_", None), names)


@dataclass(frozen=True, eq=False)
class ReadRows:
    """The rows that models are fitted to, and those that predictions are measured on.

    Parameters
    ----------
    training
        The rows of every fit; None where they are not given.
    measured
        The rows whose predictions are compared: the test rows, or those of the fit without any.
    """

    training: Table | None
    measured: Table

    @property
    def has_test(self) -> bool:
        """Whether other rows are measured than those of the fit."""
        return self.measured is not self.training

    def of_fits(self) -> Table:
        """Return the rows that models are fitted to, or refuse where they are not known."""
        if self.training is None:
            raise InputError(
                "models are fitted again to the training rows, and there are only test rows",
                parameter="data",
                hint="give the rows that the model was fitted to as well.",
            )
        return self.training


def read_both(model: Any, data: Any, test: Any, protected: Any = None) -> ReadRows:
    """Read the training rows, and the test rows where there are any."""
    training = None if data is None else read_rows(model, data, protected)
    if test is not None:
        return ReadRows(training, read_rows(model, test, protected))
    if training is None:
        raise InputError("there are no rows to compare", parameter="data")
    return ReadRows(training, training)


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
