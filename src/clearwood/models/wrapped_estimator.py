"""An estimator of scikit-learn that can be fitted to a table."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

from clearwood.table import Encoder, Table

__all__ = ["WrappedEstimator"]


class WrappedEstimator(BaseEstimator):
    """A scikit-learn estimator that can be fitted to a table.

    The columns are encoded (categories as 0/1 columns, missing values imputed), and the encoding is
    learned from the rows it is fitted to. A pipeline that begins with a ``ColumnTransformer``
    prepares its columns itself and gets them unchanged, in a pandas frame.

    Parameters
    ----------
    estimator
        The estimator; ``set_params`` knows its parameters by their own names.

    Examples
    --------
    >>> import clearwood as cw
    >>> from sklearn.linear_model import Ridge
    >>> data = cw.datasets.load("diabetes")
    >>> WrappedEstimator(Ridge()).fit(data).predict(data.head(2)).shape
    (2,)
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: FBT001, FBT002 - sklearn's
        """Return the estimator and, with ``deep``, its parameters under their own names."""
        inner = self.estimator.get_params(deep=True) if deep else {}
        return {**inner, "estimator": self.estimator}

    def set_params(self, **params: Any) -> Self:
        """Change the estimator or its parameters."""
        if "estimator" in params:
            self.estimator = params.pop("estimator")
        if params:
            self.estimator.set_params(**params)
        return self

    def __getattr__(self, name: str) -> Any:
        # predict_proba and decision_function are there when the estimator has them
        if name in ("predict_proba", "decision_function") and "estimator" in self.__dict__:
            inner = self.__dict__.get("estimator_", self.estimator)
            method = getattr(inner, name)
            return lambda X: method(self._columns(X))
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def fit(self, X: Table, y: None = None) -> Self:
        """Learn encoding and model from a table."""
        del y
        task, target, weights = X.task, X.y, X.weights
        assert task is not None
        self.schema_ = X.schema
        self.encoder_ = None
        if not _prepares_columns(self.estimator):
            self.encoder_ = Encoder(categories="onehot", missing="impute", task=task.value)
            encoded: Any = self.encoder_.fit_transform(X, target, sample_weight=weights)
        else:
            encoded = X.X.to_frame("pandas")
        options = {} if weights is None else {"sample_weight": weights}
        self.estimator_ = clone(self.estimator).fit(encoded, target, **options)
        if task.is_classification:
            self.classes_ = self.estimator_.classes_
        return self

    def predict(self, X: Table) -> NDArray[Any]:
        """Predict with the fitted estimator."""
        predicted: NDArray[Any] = np.ravel(self.estimator_.predict(self._columns(X)))
        return predicted

    def _columns(self, table: Table) -> Any:
        if self.encoder_ is None:
            return table.select(self.schema_.features).to_frame("pandas")
        return self.encoder_.transform(table)


def _prepares_columns(estimator: Any) -> bool:
    first = estimator
    while isinstance(first, Pipeline) and first.steps:
        first = first.steps[0][1]
    return isinstance(first, ColumnTransformer)
