"""Any model as numbers on the scale of the target, and models fitted again to other columns."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import InputError
from clearwood.fairness.groups.rows import read_with
from clearwood.forest import Forest, from_model, supports
from clearwood.models import TableModel
from clearwood.table import Role, Schema, Table, Task

__all__ = [
    "ReadRows",
    "classes_of",
    "features_of",
    "fitted_to",
    "forest_of",
    "is_fitted",
    "read_both",
    "read_rows",
    "respond",
    "schema_of",
    "task_of",
    "with_roles",
]


def is_fitted(model: Any) -> bool:
    """Whether a model can predict as it is."""
    if not hasattr(model, "fit"):
        return True
    try:
        check_is_fitted(model, "schema_" if isinstance(model, TableModel) else None)
    except NotFittedError:
        return False
    except TypeError:  # no estimator in scikit-learn's sense
        return True
    return True


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


def schema_of(model: Any, table: Table) -> Schema:
    """Return the columns that the model was fitted to; those of the table where it keeps none."""
    schema = getattr(model, "schema_", None)
    if isinstance(schema, Schema):
        return schema
    names = features_of(model, table)
    columns = (
        replace(one, role=Role.IGNORED)
        if one.role in (Role.FEATURE, Role.PROTECTED) and one.name not in names
        else one
        for one in table.schema.columns
    )
    return replace(table.schema, columns=tuple(columns))


def features_of(model: Any, table: Table) -> tuple[str, ...]:
    """Return the columns that the model predicts from, as the table calls them."""
    schema = getattr(model, "schema_", None)
    if isinstance(schema, Schema):
        return schema.features
    names = _own_names(model)
    if names is None:
        return table.features
    return tuple(table.column(name).name for name in names)


def _own_names(model: Any) -> Sequence[str] | None:
    if isinstance(model, Forest):
        return model.columns
    names = getattr(getattr(model, "best_estimator_", model), "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def forest_of(model: Any) -> Forest | None:
    """Return the trees of a model, where it is made of trees."""
    try:
        return from_model(model) if supports(model) else None
    except InputError:
        return None


def task_of(model: Any, table: Table) -> Task:
    """Return what the model predicts."""
    task = getattr(model, "task_", None) or table.task
    if task is not None:
        return Task(task)
    labels = classes_of(model)
    if labels is None:
        return Task.REGRESSION
    return Task.BINARY if len(labels) == 2 else Task.MULTICLASS


def classes_of(model: Any) -> NDArray[Any] | None:
    """Return the labels of the classes, in the order of the probabilities."""
    labels = getattr(model, "classes", None) if isinstance(model, Forest) else None
    labels = getattr(model, "classes_", labels)
    return None if labels is None else np.asarray(labels)


def respond(model: Any, table: Table, task: Task) -> Floats:
    """Predict on the scale of the target: a column of numbers, or one for each class.

    Parameters
    ----------
    model
        Fitted.
    table
        Rows with the model's features.
    task
        What the model predicts.

    Examples
    --------
    >>> import clearwood as cw
    >>> wine = cw.datasets.load("wine")
    >>> respond(cw.learner("lda").fit(wine), wine.head(2), wine.task).round(2)
    array([[1., 0., 0.],
           [1., 0., 0.]])
    """
    if task.is_classification and not hasattr(model, "predict_proba"):
        raise InputError(
            f"{_named(model)} has no probabilities, which are what is averaged over groups",
            parameter="model",
            hint="choose a learner that has them, such as 'logistic' or 'gbm'.",
        )
    rows: Any = table if isinstance(model, TableModel | Forest) else _frame(model, table)
    predict = model.predict_proba if task.is_classification else getattr(model, "predict", model)
    predicted = predict(rows)
    return np.asarray(predicted, dtype=np.float64).reshape(table.n_rows, -1)


def _named(model: Any) -> str:
    return model.described if isinstance(model, TableModel) else f"a {type(model).__name__}"


def _frame(model: Any, table: Table) -> Any:
    """Return rows in the form that a model of another library takes."""
    names = _own_names(model)
    frame = nw.from_native(table.by_header().to_frame(), eager_only=True)
    if names is not None:
        return frame.select(list(names)).to_native()
    # an estimator that was fitted to an array counts its columns
    return frame.to_numpy() if hasattr(model, "n_features_in_") else frame.to_native()


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
