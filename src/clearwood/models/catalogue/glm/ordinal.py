"""Ordinal regression by statsmodels, kept as plain arrays."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, ndtr
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from clearwood._shared.arrays import Floats
from clearwood.models.shared.rows import independent_columns

__all__ = ["OrderedRegression"]


_CUMULATIVE = {"logit": expit, "probit": ndtr}


class OrderedRegression(ClassifierMixin, BaseEstimator):
    """The proportional odds model: P(y ≤ j | x) = F(b_j − βᵀx).

    Only the coefficients and the cut-points are kept, so that a fitted model is plain arrays.
    Columns that depend linearly on others and the constant get coefficient zero: the fit is the
    same without them, and statsmodels refuses them.

    Parameters
    ----------
    link
        "logit" or "probit": whether F is the logistic or the normal distribution.
    order
        Places of the classes among the sorted ones, from the lowest class to the highest: (1, 2, 0)
        for "low", "mid", "high". By default the classes are in the order they sort.

    Attributes
    ----------
    classes_ : ndarray
        The classes as they sort; probabilities have one column for each.
    coef_ : ndarray of shape (n_columns,)
    thresholds_ : ndarray of shape (n_classes - 1,)
        The cut-points b_1 < b_2 < ... from the lowest class to the highest.

    References
    ----------
    Course notes, section 22.3. The notes count k + (m − 2) parameters; with m − 1 cut-points there
    are k + (m − 1).

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]])
    >>> y = np.array([0, 1, 0, 2, 1, 2])
    >>> model = OrderedRegression().fit(X, y)
    >>> bool(model.coef_[0] > 0)
    True
    >>> model.predict_proba(X[:1]).shape
    (1, 3)
    """

    def __init__(self, *, link: str = "logit", order: Sequence[int] | None = None) -> None:
        self.link = link
        self.order = order

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Maximise the likelihood."""
        from statsmodels.miscmodels.ordinal_model import OrderedModel

        X = np.asarray(X, dtype=np.float64)
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        self.n_features_in_ = X.shape[1]
        kept = independent_columns(X)
        model = OrderedModel(self._ranks()[codes], X[:, kept], distr=self.link)
        # the Hessian is for standard errors, which are not kept
        result = model.fit(method="bfgs", maxiter=2_000, disp=0, skip_hessian=True)
        self.coef_ = np.zeros(X.shape[1])
        self.coef_[kept] = result.params[: len(kept)]
        self.thresholds_ = model.transform_threshold_params(result.params)[1:-1]
        return self

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Probability of each class."""
        check_is_fitted(self)
        score = np.asarray(X, dtype=np.float64) @ self.coef_
        below = _CUMULATIVE[self.link](self.thresholds_ - score[:, None])
        ends = np.ones((len(score), 1))
        probabilities: Floats = np.diff(np.hstack([0 * ends, below, ends]))
        return probabilities[:, self._ranks()]

    def _ranks(self) -> NDArray[np.intp]:
        """Place of each of the sorted classes in the order of the model."""
        places = np.arange(len(self.classes_))
        return places if self.order is None else np.argsort(np.asarray(self.order))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the most probable class."""
        likeliest: NDArray[Any] = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return likeliest
