"""Estimators around others: sizes cut to the data, standardised targets, calibrated scores."""

from collections.abc import Mapping
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import Setting, unknown_choice
from clearwood.models.shared.folds import Folds

__all__ = ["Capped", "StandardisedTarget", "WeightedCapped", "with_probabilities"]


# Estimators whose sizes are reduced to what the rows and columns allow.


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


# Regression on a target brought to mean zero and variance one.


class StandardisedTarget(RegressorMixin, BaseEstimator):
    """Fit a regressor to the standardised target; predict on the target's own scale.

    A penalty, a tolerance or a learning rate then means the same for prices in cents as in
    millions, so one default and one tuning range serve every table. scikit-learn's
    ``TransformedTargetRegressor`` does the same but takes no row weights by name.

    Parameters
    ----------
    regressor
        The regressor to fit; it has to take row weights.

    Attributes
    ----------
    regressor_ : object
        The fitted regressor, on the standardised scale.
    mean_, scale_ : float
        Mean and standard deviation of the target.

    Examples
    --------
    >>> from sklearn.linear_model import Lasso
    >>> X = np.arange(6.0)[:, None]
    >>> euros = StandardisedTarget(Lasso(alpha=0.1)).fit(X, X.ravel())
    >>> cents = StandardisedTarget(Lasso(alpha=0.1)).fit(X, 100 * X.ravel())
    >>> bool(np.allclose(cents.predict(X), 100 * euros.predict(X)))
    True
    """

    def __init__(self, regressor: Any) -> None:
        self.regressor = regressor

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the scale of the target, then the regressor."""
        target = np.asarray(y, dtype=np.float64)
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        self.mean_ = float(np.average(target, weights=weights))
        spread = float(np.sqrt(np.average((target - self.mean_) ** 2, weights=weights)))
        self.scale_ = spread if spread > 0 else 1.0
        self.regressor_ = clone(self.regressor)
        self.regressor_.fit(X, (target - self.mean_) / self.scale_, sample_weight=weights)
        self.n_features_in_ = self.regressor_.n_features_in_
        return self

    def predict(self, X: ArrayLike) -> Floats:
        """Predict on the target's own scale."""
        check_is_fitted(self)
        predicted: Floats = np.ravel(self.regressor_.predict(X))
        return predicted * self.scale_ + self.mean_

    @property
    def coef_(self) -> Floats:
        """Coefficients on the target's own scale, where the regressor is linear."""
        coefficients: Floats = np.ravel(self.regressor_.coef_)
        return coefficients * self.scale_

    @property
    def intercept_(self) -> float:
        """Intercept on the target's own scale, where the regressor is linear."""
        return float(np.ravel(self.regressor_.intercept_)[0] * self.scale_ + self.mean_)


# Probabilities for classifiers that only have scores.


_METHODS = {"platt": "sigmoid", "isotonic": "isotonic"}


def with_probabilities(classifier: Any, method: str, *, seed: int = 0) -> Any:
    """Calibrate a classifier: map its scores to probabilities, fitted to held-out rows.

    The classifier itself is fitted to all rows; the map is fitted to the scores that each row gets
    from a classifier fitted to the other two of three folds.

    Parameters
    ----------
    classifier
        A classifier with a ``decision_function``.
    method
        "platt" for a logistic curve, "isotonic" for an increasing step function (needs a thousand
        rows or so), "none" to leave the classifier as it is.
    seed
        Fixes the folds.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> with_probabilities(SVC(), "isotonic").method
    'isotonic'
    """
    if method == "none":
        return classifier
    if method not in _METHODS:
        raise unknown_choice("probabilities", method, ["none", *_METHODS], kind=Setting)
    from sklearn.calibration import CalibratedClassifierCV

    return CalibratedClassifierCV(
        classifier, method=_METHODS[method], cv=Folds(3, stratify=True, seed=seed), ensemble=False
    )
