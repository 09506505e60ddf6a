"""Discriminant analysis, also of rare classes, and the separating hyperplane."""

import warnings
from collections.abc import Sequence
from itertools import product
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_array, eye_array, hstack
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.svm import SVC
from sklearn.utils.validation import check_is_fitted

from clearwood._shared.arrays import Bools, Floats
from clearwood._shared.errors import InputError, Setting, bad_value, words
from clearwood._shared.numbers import count
from clearwood._shared.weights import counted
from clearwood.models.shared.folds import Folds
from clearwood.models.shared.rows import check_real, check_whole

__all__ = [
    "LinearDiscriminant",
    "QuadraticDiscriminant",
    "RegularisedDiscriminant",
    "SeparatingHyperplane",
    "fisher_directions",
]


# Discriminant analysis of scikit-learn where a class has a single row.


# the covariance that is shrunk is that of all classes, in which one row counts for little
_REMARK = "Only one sample available"


class LinearDiscriminant(LinearDiscriminantAnalysis):
    """Linear discriminant analysis, without scikit-learn's remark on a class with one row."""

    def fit(self, X: Any, y: Any) -> Self:
        """Fit, without the remark."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", _REMARK, UserWarning)
            super().fit(X, y)
        return self


class QuadraticDiscriminant(QuadraticDiscriminantAnalysis):
    """Quadratic discriminant analysis that says what to do about a class with one row."""

    def fit(self, X: Any, y: Any) -> Self:
        """Fit, if each class has a covariance of its own."""
        if np.unique(y, return_counts=True)[1].min() == 1:
            raise InputError(
                "the rarest class has a single row, and thus no covariance of its own",
                parameter="target",
                hint="leave that class out, merge it with another, or take learner 'rda' or 'lda'.",
            )
        super().fit(X, y)
        return self


# Discriminant analysis between linear and quadratic, in few coordinates if wanted.


#: Directions in which the pooled covariance is smaller than this share of its largest are left out.
_NO_SPREAD = 1e-10
#: Weights that are tried where none is given.
_TRIED_POOLING = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
_TRIED_SHRINKAGE = (0.0, 0.01, 0.05, 0.2, 0.5, 1.0)
_FOLDS = 5
#: A class that did occur counts as at least so probable, as in `sklearn.metrics.log_loss`.
_LEAST_PROBABILITY = 1e-15


def fisher_directions(
    means: Floats, priors: Floats, covariance: Floats
) -> tuple[Floats, NDArray[np.float64]]:
    """Return Fisher's discriminant directions, and the between-class variance along each.

    Parameters
    ----------
    means, priors
        Of the classes.
    covariance
        Within classes.

    Returns
    -------
    directions : ndarray of shape (columns, coordinates)
        Uncorrelated within classes, with variance 1.
    between : ndarray
        Variance of the class means, in decreasing order.

    Examples
    --------
    >>> means = np.array([[0.0, 0.0], [4.0, 0.0], [2.0, 1.0]])
    >>> directions, between = fisher_directions(means, np.full(3, 1 / 3), np.diag([4.0, 1.0]))
    >>> np.abs(directions).round(2).tolist(), between.round(3).tolist()
    ([[0.5, 0.0], [0.0, 1.0]], [0.667, 0.222])
    """
    sizes, axes = np.linalg.eigh(covariance)
    kept = sizes > _NO_SPREAD * sizes.max(initial=0.0)
    sphere = axes[:, kept] / np.sqrt(sizes[kept])
    centred = (means - priors @ means) @ sphere
    _, strength, turned = np.linalg.svd(np.sqrt(priors)[:, None] * centred, full_matrices=False)
    n = min(len(means) - 1, sphere.shape[1])
    return sphere @ turned[:n].T, strength[:n] ** 2


class RegularisedDiscriminant(ClassifierMixin, BaseEstimator):
    """Normal classes whose covariances are shrunk to a common one and to a sphere.

    Friedman (1989): with the weight ``pooling`` each class's covariance is mixed with the pooled
    one, so that 1 is linear and 0 quadratic discriminant analysis; with the weight ``shrinkage``
    the result is mixed with a sphere of the same mean variance.

    Parameters
    ----------
    pooling
        From 0 (each class its own covariance) to 1 (one for all).
    shrinkage
        From 0 to 1 (a sphere). None, for either weight: the value, or the pair of values, with the
        least log loss of rows held out in 5 folds.
    rank
        Use only so many of Fisher's discriminant coordinates (reduced-rank discriminant analysis);
        ``pooling`` has to be 1. All when None.

    Attributes
    ----------
    pooling_, shrinkage_ : float
        As set, or as chosen.
    tried_ : dict
        Where a weight is chosen: the values of ``pooling`` and ``shrinkage`` that were tried, and
        the ``log_loss`` of each pair, NaN where a class has no covariance of its own.
    means_, priors_ : ndarray
        Of the classes.
    covariance_ : ndarray
        The pooled covariance, shrunk.
    covariances_ : ndarray
        Those of the classes, after mixing.
    coef_, intercept_ : ndarray
        Of the linear scores, where ``pooling`` is 1.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RegularisedDiscriminant(pooling=0.5, shrinkage=0.1).fit(X, y)
    >>> float((model.predict(X) == y).mean().round(2))
    0.98
    """

    def __init__(
        self,
        *,
        pooling: float | None = 0.5,
        shrinkage: float | None = 0.1,
        rank: int | None = None,
    ) -> None:
        self.pooling = pooling
        self.shrinkage = shrinkage
        self.rank = rank

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Estimate means and covariances."""
        self._check_settings()
        matrix = np.asarray(X, dtype=np.float64)
        rows, weight = counted(sample_weight, len(matrix))
        matrix, target = matrix[rows], np.asarray(y)[rows]
        self.n_features_in_ = matrix.shape[1]
        self.pooling_, self.shrinkage_ = self._weights(matrix, target, weight)
        self.classes_, codes = np.unique(target, return_inverse=True)
        totals = np.bincount(codes, weight)
        self.priors_ = totals / totals.sum()
        indicator = np.zeros((len(totals), len(matrix)))
        indicator[codes, np.arange(len(matrix))] = weight
        self.means_ = (indicator @ matrix) / totals[:, None]
        spread = matrix - self.means_[codes]
        scatters = np.stack([(spread * w[:, None]).T @ spread for w in indicator])
        pooled = scatters.sum(axis=0)
        sizes, axes = np.linalg.eigh(pooled)
        self.axes_ = axes[:, sizes > _NO_SPREAD * sizes.max(initial=0.0)]
        own, common = 1.0 - self.pooling_, self.pooling_
        mixed = own * scatters + common * pooled
        mixed /= (own * totals + common * totals.sum())[:, None, None]
        self.covariances_ = np.stack([self._shrunk(one) for one in mixed])
        self.covariance_ = self._shrunk(pooled / totals.sum())
        if self.pooling_ == 1:
            self._fit_linear()
        else:
            self._fit_quadratic(np.bincount(codes).tolist())
        return self

    def _weights(self, matrix: Floats, target: NDArray[Any], weight: Floats) -> tuple[float, float]:
        """Return the weights as set, or the pair that predicts held-out rows best."""
        self.tried_: dict[str, Any] = {}
        if self.pooling is not None and self.shrinkage is not None:
            return float(self.pooling), float(self.shrinkage)
        poolings = _TRIED_POOLING if self.pooling is None else (float(self.pooling),)
        shrinkages = _TRIED_SHRINKAGE if self.shrinkage is None else (float(self.shrinkage),)
        folds = list(Folds(_FOLDS, stratify=True).split(matrix, target))
        losses = np.full((len(poolings), len(shrinkages)), np.nan)
        for (i, pooling), (j, shrinkage) in product(enumerate(poolings), enumerate(shrinkages)):
            fresh = RegularisedDiscriminant(pooling=pooling, shrinkage=shrinkage, rank=self.rank)
            total = 0.0
            try:
                for train, test in folds:
                    fresh.fit(matrix[train], target[train], weight[train])
                    place = np.searchsorted(fresh.classes_, target[test])
                    right = fresh.predict_proba(matrix[test])[np.arange(len(test)), place]
                    total -= float(weight[test] @ np.log(np.maximum(right, _LEAST_PROBABILITY)))
            except InputError:  # a class of too few rows for a covariance of its own
                continue
            losses[i, j] = total / float(weight.sum())
        self.tried_ = {
            "pooling": np.array(poolings),
            "shrinkage": np.array(shrinkages),
            "log_loss": losses,
        }
        if np.isnan(losses).all():
            return poolings[-1], shrinkages[-1]  # whose own refusal names the class
        # of equal pairs the one nearest to linear and to a sphere
        i, j = np.argwhere(losses == np.nanmin(losses))[-1]
        return poolings[i], shrinkages[j]

    def _shrunk(self, covariance: Floats) -> Floats:
        """Mix a covariance with a sphere, in the directions in which rows differ."""
        inner = self.axes_.T @ covariance @ self.axes_
        size = np.trace(inner) / max(len(inner), 1)
        inner = (1 - self.shrinkage_) * inner + self.shrinkage_ * size * np.eye(len(inner))
        shrunk: Floats = self.axes_ @ inner @ self.axes_.T
        return shrunk

    def _fit_linear(self) -> None:
        """Turn means and the common covariance into linear scores."""
        directions, _ = fisher_directions(self.means_, self.priors_, self.covariance_)
        if self.rank is not None:
            directions = directions[:, : self.rank]
        self.directions_ = directions
        inside = self.means_ @ directions
        coefficients = inside @ directions.T
        intercepts = np.log(self.priors_) - 0.5 * (inside**2).sum(axis=1)
        if len(self.classes_) == 2:
            coefficients = coefficients[1:] - coefficients[:1]
            intercepts = intercepts[1:] - intercepts[:1]
        self.coef_, self.intercept_ = coefficients, intercepts

    def _fit_quadratic(self, counts: Sequence[int]) -> None:
        """Invert the covariance of each class."""
        spheres, logs = [], []
        for covariance, n_rows in zip(self.covariances_, counts, strict=True):
            inner = self.axes_.T @ covariance @ self.axes_
            sizes, turned = np.linalg.eigh(inner)
            if sizes.size and sizes[0] <= _NO_SPREAD * sizes[-1]:
                raise InputError(
                    f"a class of {count(n_rows, 'row')} does not vary in every direction, so it "
                    "has no covariance of its own",
                    parameter="pooling",
                    value=self.pooling_,
                    hint=words(
                        "raise ", Setting("pooling", 0.5), " or ", Setting("shrinkage", 0.1), "."
                    ),
                )
            spheres.append(self.axes_ @ (turned / np.sqrt(sizes)))
            logs.append(float(np.log(sizes).sum()))
        self.spheres_, self.log_determinants_ = np.stack(spheres), np.array(logs)

    def decision_function(self, X: ArrayLike) -> Floats:
        """Return the log density and prior of each class; for two, the second less the first."""
        check_is_fitted(self)
        matrix = np.asarray(X, dtype=np.float64)
        if self.pooling_ == 1:
            scores: Floats = matrix @ self.coef_.T + self.intercept_
            return scores[:, 0] if len(self.classes_) == 2 else scores
        distances = [
            (((matrix - mean) @ sphere) ** 2).sum(axis=1)
            for mean, sphere in zip(self.means_, self.spheres_, strict=True)
        ]
        scores = np.log(self.priors_) - 0.5 * (np.stack(distances, axis=1) + self.log_determinants_)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Predict the probability of each class."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            scores = np.column_stack([np.zeros(len(scores)), scores])
        probabilities: Floats = softmax(scores, axis=1)
        return probabilities

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the class."""
        best: NDArray[Any] = self.classes_[np.argmax(self.predict_proba(X), axis=1)]
        return best

    def _check_settings(self) -> None:
        """Refuse settings that mean nothing."""
        for name, share in (("pooling", self.pooling), ("shrinkage", self.shrinkage)):
            if share is not None:
                check_real(name, share, 0.0, 1.0)
        if self.rank is None:
            return
        check_whole("rank", self.rank, 1)
        if self.pooling != 1:
            raise bad_value(
                "rank",
                self.rank,
                "Fisher's coordinates need one covariance for all classes",
                hint=words("set ", Setting("pooling", 1), "."),
                kind=Setting,
            )


# The separating hyperplane with the widest margin.


#: So large that no row of separable classes is given up for a wider margin.
_HARD = 1e6
#: How far a row may lie inside the margin by rounding.
_TOLERANCE = 1e-3


class SeparatingHyperplane(ClassifierMixin, BaseEstimator):
    """The hyperplane between two classes whose distance from the nearest rows is greatest.

    It exists only if a hyperplane separates the classes of the training rows (Hastie, Tibshirani
    and Friedman 2009, section 4.5.2). Otherwise the fit is refused.

    Attributes
    ----------
    coef_, intercept_ : ndarray
        Of the score: its sign is the class, and it is 1 or -1 on the margin.
    margin_ : float
        The distance between the hyperplane and the nearest rows.
    support_ : ndarray
        Positions of the rows on the margin, which alone determine the hyperplane.

    Examples
    --------
    >>> model = SeparatingHyperplane().fit([[0.0], [1.0], [3.0], [9.0]], [0, 0, 1, 1])
    >>> round(model.margin_, 3), model.support_.tolist()
    (1.0, [1, 2])
    """

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Find the hyperplane, or refuse classes that overlap."""
        matrix, target = np.asarray(X, dtype=np.float64), np.asarray(y)
        self.n_features_in_ = matrix.shape[1]
        self.classes_, codes = np.unique(target, return_inverse=True)
        if len(self.classes_) != 2:
            raise InputError(
                f"a separating hyperplane is for two classes, and there are {len(self.classes_)}",
                parameter="target",
                hint="take learner 'lda' or 'svm'.",
            )
        side = np.where(codes == 1, 1.0, -1.0)
        # the machine takes hours on classes that overlap, so a linear program looks first
        _refuse(_least_overlap(matrix, side) > _TOLERANCE)
        machine = SVC(kernel="linear", C=_HARD, tol=1e-6).fit(matrix, codes)
        _refuse(side * machine.decision_function(matrix) < 1 - _TOLERANCE)
        self.coef_, self.intercept_ = machine.coef_.copy(), machine.intercept_.copy()
        self.margin_ = 1.0 / float(np.linalg.norm(self.coef_))
        self.support_ = machine.support_.copy()
        return self

    def decision_function(self, X: ArrayLike) -> Floats:
        """Return the score of rows: above 0 for the second class."""
        check_is_fitted(self)
        score: Floats = np.asarray(X, dtype=np.float64) @ self.coef_[0] + self.intercept_[0]
        return score

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the class by the side of the hyperplane."""
        side: NDArray[Any] = self.classes_[(self.decision_function(X) > 0).astype(int)]
        return side


def _least_overlap(matrix: Floats, side: Floats) -> Floats:
    """Return how far rows lie inside the margin of the hyperplane with the least sum of that."""
    n, width = matrix.shape
    scores = csr_array(-side[:, None] * np.column_stack([matrix, np.ones(n)]))
    solved = linprog(
        np.append(np.zeros(width + 1), np.ones(n)),
        A_ub=hstack([scores, -eye_array(n)], format="csr"),
        b_ub=-np.ones(n),
        bounds=[(None, None)] * (width + 1) + [(0, None)] * n,
        method="highs",
    )
    overlap: Floats = solved.x[width + 1 :]
    return overlap


def _refuse(inside: Bools) -> None:
    """Refuse classes if any row lies inside the margin."""
    if inside.any():
        raise InputError(
            f"no hyperplane separates the classes: the best has "
            f"{count(int(inside.sum()), 'row')} of {len(inside)} on the other side or inside the "
            "margin",
            parameter="target",
            hint="take learner 'svm', which allows some, or 'logistic'.",
        )
