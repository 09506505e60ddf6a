"""Logistic and softmax regression at the maximum of the likelihood, not near it."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, log_softmax, softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import _check_sample_weight, validate_data

from clearwood._shared.arrays import Floats, Index
from clearwood.models.shared.newton import (
    RowLoss,
    Sums,
    minimum,
    sparse_minimum,
    sums_over,
    warn_not_converged,
)

__all__ = ["Logistic"]

#: With more coefficients, second derivatives take longer than many steps without them.
_MOST_COEFFICIENTS = 1_500
#: Of the library's solver with more coefficients, and the slope of the mean loss that is left.
_TOLERANCE_OF_LARGE = 1e-8
_LARGEST_SLOPE = 1e-6
#: How often columns are added that would get a coefficient.
_MOST_ROUNDS = 50


class Logistic(LogisticRegression):
    """A logistic regression whose last steps are Newton's.

    scikit-learn's own solvers stop where the gradient is small, or where coefficients change
    little, which leaves some that few rows determine far from the maximum. Where the penalty is
    absolute in part, only columns that have a coefficient, or would get one, take part in the
    steps. With more than 1,500 coefficients the fit is scikit-learn's at a small tolerance, and
    warns if its gradient is not small.

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
        outputs = n_classes if n_classes > 2 else 1
        is_large = np.shape(X)[1] * outputs > _MOST_COEFFICIENTS
        with warnings.catch_warnings():
            # the steps below go on from there, or say how far it is
            warnings.simplefilter("ignore", ConvergenceWarning)
            own: float = self.tol  # type: ignore[has-type]
            try:
                if is_large and self.solver == "lbfgs":
                    self.tol = _TOLERANCE_OF_LARGE
                super().fit(X, y, sample_weight=sample_weight)
            finally:
                self.tol = own
        fitted: Any = self
        matrix = validate_data(self, X, dtype=np.float64, reset=False)
        codes = np.searchsorted(self.classes_, np.asarray(y))
        weight: Floats = _check_sample_weight(sample_weight, matrix, dtype=np.float64)
        weight = weight * self._weights_of_classes(codes, weight)[codes]
        no_penalty = self.get_params().get("penalty", "l2") is None or np.isinf(self.C)
        penalty = 0.0 if no_penalty else 1 / (self.C * float(weight.sum()))
        start = np.column_stack([fitted.coef_, fitted.intercept_])
        rows = _Rows(matrix, codes, weight, len(self.classes_))
        share = 0.0
        if self.solver != "lbfgs" and not no_penalty:  # before scikit-learn 1.8 "l1" has no share
            share = float(self.l1_ratio if self.l1_ratio is not None else 1.0)
        if share > 0:
            found = _sparse(rows, start, penalty * (1 - share), penalty * share)
        elif is_large:
            slope = rows.slope(start)
            slope[:, :-1] += penalty * start[:, :-1]
            if np.abs(slope).max() > _LARGEST_SLOPE:
                warn_not_converged("logistic", self.max_iter)
            return self
        else:
            penalties = np.full(start.shape, penalty)
            penalties[:, -1] = 0.0
            found = minimum(
                rows.sums(start.shape), start.ravel(), penalties.ravel(), name="logistic"
            )
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


@dataclass(frozen=True, eq=False)
class _Rows:
    """The rows of a fit: a matrix, codes of classes and weights."""

    matrix: Floats
    codes: Index
    weight: Floats
    n_classes: int

    def sums(self, shape: tuple[int, ...]) -> Callable[[Floats, int], Sums]:
        """Return the sums of coefficients, of shape (outputs, columns and constant) when flat."""
        if self.n_classes == 2:
            target, curve = self.codes.astype(np.float64), RowLoss("logistic")
            return lambda coefficients, _: sums_over(
                self.matrix, target, self.weight, curve, coefficients
            )
        return lambda coefficients, _: _softmax_sums(
            self.matrix, self.codes, self.weight, coefficients.reshape(shape)
        )

    def loss(self, shape: tuple[int, ...]) -> Callable[[Floats], float]:
        """Return the mean loss of coefficients when flat."""

        def mean(coefficients: Floats) -> float:
            score = self.score(coefficients.reshape(shape))
            if self.n_classes == 2:
                each = np.logaddexp(0.0, score[:, 0]) - self.codes * score[:, 0]
            else:
                each = -log_softmax(score, axis=1)[np.arange(len(score)), self.codes]
            return float(np.average(each, weights=self.weight))

        return mean

    def score(self, coefficients: Floats) -> Floats:
        """Return the linear scores of the rows."""
        return np.asarray(self.matrix @ coefficients[:, :-1].T + coefficients[:, -1])

    def slope(self, coefficients: Floats) -> Floats:
        """Return the gradient of the mean loss, of the shape of the coefficients."""
        score = self.score(coefficients)
        if self.n_classes == 2:
            off = expit(score[:, 0]) - self.codes
            off = (off * self.weight)[:, None]
        else:
            off = softmax(score, axis=1) - np.eye(self.n_classes)[self.codes]
            off *= self.weight[:, None]
        total = np.column_stack([off.T @ self.matrix, off.sum(axis=0)])
        return np.asarray(total / self.weight.sum())


def _sparse(rows: _Rows, start: Floats, squared: float, absolute: float) -> Floats:
    """Take steps over the columns that have a coefficient until no other would get one."""
    found = start.copy()
    outputs = len(found)
    used = (found[:, :-1] != 0).any(axis=0)
    for _ in range(_MOST_ROUNDS):
        columns = np.append(np.flatnonzero(used), found.shape[1] - 1)
        if len(columns) * outputs > _MOST_COEFFICIENTS:
            break
        part = _Rows(rows.matrix[:, columns[:-1]], rows.codes, rows.weight, rows.n_classes)
        now = found[:, columns]
        penalties = np.ones(now.shape)
        penalties[:, -1] = 0.0
        here = penalties.ravel()
        solved = sparse_minimum(
            part.sums(now.shape),
            part.loss(now.shape),
            now.ravel(),
            squared * here,
            absolute * here,
            name="logistic",
        )
        found[:, columns] = solved.reshape(now.shape)
        beyond = np.abs(rows.slope(found)[:, :-1]).max(axis=0) > absolute * (1 + 1e-6)
        if not (beyond & ~used).any():
            return found
        used |= beyond
    warn_not_converged("logistic", _MOST_ROUNDS)
    return found


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
