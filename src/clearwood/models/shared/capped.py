"""Estimators whose sizes are reduced to what the rows and columns allow."""

from collections.abc import Mapping
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from clearwood._shared.arrays import Floats

__all__ = ["Capped", "WeightedCapped"]

Limit = Literal["rows", "columns", "both", "rank"]


def _has_probabilities(capped: "Capped") -> bool:
    return hasattr(getattr(capped, "estimator_", capped.estimator), "predict_proba")


class Capped(BaseEstimator):
    """An estimator with no more neighbours or components than the data allow.

    A setting tuned on a large table stays valid on a fold of a small one.

    Parameters
    ----------
    estimator
        The estimator to fit.
    limits
        For each size setting: whether "rows", "columns", "both" or the "rank" of the centred
        features limits it.

    Attributes
    ----------
    estimator_ : object
        The fitted estimator, its settings reduced where needed.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> model = Capped(KNeighborsRegressor(n_neighbors=50), {"n_neighbors": "rows"})
    >>> model.fit(np.arange(3.0)[:, None], [0.0, 1.0, 5.0]).predict([[1.0]])
    array([2.])
    """

    def __init__(self, estimator: Any, limits: Mapping[str, Limit]) -> None:
        self.estimator = estimator
        self.limits = limits

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Reduce the settings where needed, then fit."""
        return self._fit(X, y, {})

    def _fit(self, X: ArrayLike, y: ArrayLike, weights: Mapping[str, Any]) -> Self:
        X = np.asarray(X)
        settings = self.estimator.get_params()
        cut = {key: min(settings[key], _most(X, limit)) for key, limit in self.limits.items()}
        self.estimator_ = clone(self.estimator).set_params(**cut)
        self.estimator_.fit(X, y, **weights)
        self.n_features_in_ = X.shape[1]
        if hasattr(self.estimator_, "classes_"):
            self.classes_ = self.estimator_.classes_
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict with the fitted estimator."""
        check_is_fitted(self)
        predicted: NDArray[Any] = np.ravel(self.estimator_.predict(X))
        return predicted

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: ArrayLike) -> Floats:
        """Predict the probability of each class."""
        check_is_fitted(self)
        probabilities: Floats = self.estimator_.predict_proba(X)
        return probabilities

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = inner.classifier_tags
        tags.regressor_tags = inner.regressor_tags
        return tags


class WeightedCapped(Capped):
    """`Capped`, for estimators that take row weights."""

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Reduce the settings where needed, then fit."""
        if sample_weight is None:
            return self._fit(X, y, {})
        # a pipeline hands weights to its last step under the step's name
        step = f"{self.estimator.steps[-1][0]}__" if isinstance(self.estimator, Pipeline) else ""
        return self._fit(X, y, {f"{step}sample_weight": sample_weight})


def _most(X: NDArray[Any], limit: Limit) -> int:
    rows, columns = X.shape
    if limit == "rank":
        return max(1, int(np.linalg.matrix_rank(X - X.mean(axis=0))))
    limits: dict[str, int] = {"rows": rows, "columns": columns, "both": min(rows, columns)}
    return limits[limit]
