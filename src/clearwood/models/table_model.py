"""What every model that takes tables can do, whatever it is made of."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import ClassifierTags, RegressorTags, Tags
from sklearn.utils.validation import check_is_fitted

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import InputError, Option, words
from clearwood.table import Schema, Table, Task, as_table

__all__ = ["TableModel"]


class TableModel(BaseEstimator):
    """A scikit-learn estimator that takes tables and records the columns it was fitted to.

    A `Learner` is one, and so is a model that is made of learners. Subclasses have ``predict``.

    Attributes
    ----------
    schema_ : Schema
        The columns seen in fitting, with their roles; its features are those a prediction needs.
    task_ : Task
        What is predicted.
    """

    schema_: Schema
    task_: Task

    @property
    def described(self) -> str:
        """What messages call it."""
        return f"this {type(self).__name__}"

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict: numbers for regression and counts, labels for classes."""
        raise NotImplementedError

    def expected(self, X: Any) -> Floats:
        """Predict totals: the rate that `predict` returns, times the exposure of each row.

        Parameters
        ----------
        X
            Rows with the features and the exposure; where an exposure is missing, so is the
            result.

        Examples
        --------
        >>> import clearwood as cw
        >>> rows = {"age": [20, 30, 40, 50, 60], "years": [1.0, 0.5, 2, 1, 1], "claims": [1, 1] * 2}
        >>> rows["claims"] += [0]
        >>> data = cw.read(rows, target="claims", exposure="years")
        >>> model = cw.learner("glm", alpha=0).fit(data)
        >>> float(model.expected(data).sum().round(6))
        4.0
        """
        check_is_fitted(self, "schema_")
        name = self.schema_.exposure
        if name is None:
            raise InputError(
                f"{self.described} was fitted without an exposure, so `predict` returns what "
                "is expected",
                parameter="exposure",
            )
        table = as_table(X, schema=self.schema_, exposure=True)
        if table.exposures is None:
            raise InputError(
                f"the new data lacks the exposure {name!r}",
                parameter="exposure",
                value=name,
                hint="`predict` returns the rate, which needs none.",
            )
        return np.asarray(self.predict(table) * table.exposures)

    def check_outcome(self, data: Any) -> None:
        """Refuse a table whose target is a total where the fitted model predicts a rate.

        Parameters
        ----------
        data
            Anything; only tables with the model's target are checked.
        """
        schema = getattr(self, "schema_", None)
        if schema is None or schema.exposure is None or not isinstance(data, Table):
            return
        if data.target == schema.target and data.exposure is None:
            raise InputError(
                f"the model predicts {schema.outcome}, but the table has {data.target!r} without "
                "an exposure",
                parameter="exposure",
                hint=words("read the table with ", Option("exposure", schema.exposure), "."),
            )

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Compute the accuracy for classes, R² for numbers; training rows give too good a score."""
        truth = y
        if y is None and isinstance(X, Table):
            self.check_outcome(X)
            truth = X.y
            sample_weight = X.weights if sample_weight is None else sample_weight
        predicted = self.predict(X)
        measure = accuracy_score if self.task_.is_classification else r2_score
        return float(measure(truth, predicted, sample_weight=sample_weight))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        task = getattr(self, "task_", None) or getattr(self, "task", None)
        if task in ("binary", "multiclass"):
            tags.estimator_type = "classifier"
            tags.classifier_tags = ClassifierTags()
        elif task in ("regression", "count", "amount"):
            tags.estimator_type = "regressor"
            tags.regressor_tags = RegressorTags()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags
