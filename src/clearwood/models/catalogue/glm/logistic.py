"""Logistic and softmax regression at the maximum of the likelihood, not near it."""

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import _check_sample_weight, validate_data

from clearwood._shared.arrays import Floats, Index
from clearwood.models.shared.iterations import Curve, Sums, minimum, sums_over

__all__ = ["Logistic"]

#: With more coefficients, second derivatives take longer than many steps without them.
_MOST_COEFFICIENTS = 1_500


class Logistic(LogisticRegression):
    """A logistic regression whose last steps are Newton's.

    scikit-learn's own solvers for smooth penalties stop where the gradient is small, which leaves
    coefficients that few rows determine far from the maximum. Where the penalty is absolute in
    part, or with more than 1,500 coefficients, the fit is scikit-learn's, and so is its warning if
    it has not converged.

    Examples
    --------
    >>> X = np.array([[0.0], [0.0], [0.0], [1.0], [1.0], [1.0]])
    >>> model = Logistic(C=np.inf).fit(X, [0, 0, 1, 0, 1, 1])
    >>> float(np.exp(model.coef_[0, 0]).round(9))
    4.0
    """

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit with the library's solver, then to the maximum."""
        n_classes = len(np.unique(np.asarray(y)))
        size = np.shape(X)[1] * (n_classes if n_classes > 2 else 1)
        ends_here = self.solver != "lbfgs" or size > _MOST_COEFFICIENTS
        with warnings.catch_warnings():
            if not ends_here:
                # the steps below go on from there
                warnings.simplefilter("ignore", ConvergenceWarning)
            super().fit(X, y, sample_weight=sample_weight)
        fitted: Any = self
        if ends_here:
            return self
        matrix = validate_data(self, X, dtype=np.float64, reset=False)
        codes = np.searchsorted(self.classes_, np.asarray(y))
        weight: Floats = _check_sample_weight(sample_weight, matrix, dtype=np.float64)
        weight = weight * self._weights_of_classes(codes, weight)[codes]
        no_penalty = self.get_params().get("penalty", "l2") is None or np.isinf(self.C)
        penalty = 0.0 if no_penalty else 1 / (self.C * float(weight.sum()))
        start = np.column_stack([fitted.coef_, fitted.intercept_])
        if len(self.classes_) == 2:
            target, curve = codes.astype(np.float64), Curve("logistic")

            def sums(coefficients: Floats, _: int) -> Sums:
                return sums_over(matrix, target, weight, curve, coefficients)
        else:

            def sums(coefficients: Floats, _: int) -> Sums:
                return _softmax_sums(matrix, codes, weight, coefficients.reshape(start.shape))

        penalties = np.full(start.shape, penalty)
        penalties[:, -1] = 0.0
        found = minimum(sums, start.ravel(), penalties.ravel(), name="logistic")
        found = found.reshape(start.shape)
        fitted.coef_, fitted.intercept_ = found[:, :-1].copy(), found[:, -1].copy()
        return self

    def _weights_of_classes(self, codes: Index, weight: Floats) -> Floats:
        """Return what the rows of each class are multiplied by."""
        chosen: Any = self.class_weight
        n_classes = len(self.classes_)
        if chosen is None:
            return np.ones(n_classes)
        if chosen == "balanced":
            totals = np.bincount(codes, weight, n_classes)
            return np.asarray(totals.sum() / (n_classes * totals))
        return np.array([chosen.get(label, 1.0) for label in self.classes_], np.float64)


def _softmax_sums(X: Floats, codes: Index, weight: Floats, coefficients: Floats) -> Sums:
    """Add up the log loss of several classes and its derivatives by (classes, columns)."""
    n_classes, size = coefficients.shape
    rows = np.column_stack([X, np.ones(len(X))])
    logs = log_softmax(rows @ coefficients.T, axis=1)
    shares = np.exp(logs)
    loss = -float(weight @ logs[np.arange(len(codes)), codes])
    gradient = ((shares - np.eye(n_classes)[codes]) * weight[:, None]).T @ rows
    second = np.empty((n_classes, size, n_classes, size))
    for k in range(n_classes):
        for other in range(k + 1):
            curvature = weight * shares[:, k] * ((k == other) - shares[:, other])
            block = rows.T @ (rows * curvature[:, None])
            second[k, :, other], second[other, :, k] = block, block
    width = n_classes * size
    return Sums(float(weight.sum()), loss, gradient.ravel(), second.reshape(width, width))
