"""A basis of natural cubic splines for each column of numbers."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import CubicSpline
from sklearn.base import BaseEstimator, TransformerMixin, is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from clearwood._shared.arrays import Floats
from clearwood.models.catalogue.gam.trust import trusted_ends
from clearwood.models.shared.response import FamilyName
from clearwood.models.shared.thin_ends import supported_ranges

__all__ = ["NaturalSpline", "SplinePipeline"]

#: With more columns, or more than two classes, no fit judges rows far out.
MOST_JUDGED = 100


class NaturalSpline(TransformerMixin, BaseEstimator):
    """Replace each column of numbers by a basis of natural cubic splines.

    A natural cubic spline is a cubic polynomial between knots, has two continuous derivatives and
    is linear beyond the outer knots (Hiabu 2024, section 4.3.1). scikit-learn's
    ``SplineTransformer`` can continue a spline linearly, but its second derivative then jumps at
    the outer knots. The basis function of a knot is one there and zero at all other knots, so its
    coefficient is the height of the curve at the knot.

    Columns with too few distinct values for the knots, such as indicators, stay as they are.

    Parameters
    ----------
    n_knots
        Knots for each column, at quantiles of the training rows from the smallest to the largest
        value.

    Attributes
    ----------
    knots_ : list of ndarray
        The knots of each column; empty for columns left as they are.
    ends_ : ndarray
        The values that values beyond count as, below and above.

    Examples
    --------
    >>> x = np.arange(9.0)[:, None]
    >>> basis = NaturalSpline(n_knots=3).fit(x)
    >>> basis.knots_
    [array([0., 4., 8.])]
    >>> basis.transform([[4.0], [8.0], [10.0]])
    array([[ 0.   ,  1.   ,  0.   ],
           [ 0.   ,  0.   ,  1.   ],
           [ 0.125, -0.75 ,  1.625]])
    """

    def __init__(self, *, n_knots: int = 6) -> None:
        self.n_knots = n_knots

    def fit(
        self,
        X: ArrayLike,
        y: Any = None,  # noqa: ARG002 - scikit-learn's signature
        ends: Floats | None = None,
    ) -> Self:
        """Place the knots; beyond ``ends``, of shape (2, columns), values count as these."""
        matrix = np.asarray(X, dtype=np.float64)
        self.n_features_in_ = matrix.shape[1]
        self.ends_ = np.array([[-np.inf], [np.inf]]) if ends is None else ends
        self.knots_ = [self._knots(column) for column in np.clip(matrix, *self.ends_).T]
        return self

    def _knots(self, column: Floats) -> Floats:
        # ties can put two quantiles on one value, and three knots make the simplest curve
        knots = np.unique(np.quantile(column, np.linspace(0, 1, self.n_knots)))
        enough = len(knots) >= 3 and len(np.unique(column)) > self.n_knots
        return knots if enough else np.zeros(0)

    def transform(self, X: ArrayLike) -> Floats:
        """Evaluate the basis functions."""
        check_is_fitted(self)
        columns = np.clip(np.asarray(X, dtype=np.float64), *self.ends_).T
        parts = [
            _natural_basis(column, knots) if len(knots) else column[:, None]
            for column, knots in zip(columns, self.knots_, strict=True)
        ]
        return np.hstack(parts)


class SplinePipeline(Pipeline):
    """A `NaturalSpline`, and a model of its functions that takes weights.

    A row far beyond all others would lead the end of a curve. Where it contradicts a fit without
    it, the curve ends before it, and the row counts less.
    """

    def fit(self, X: ArrayLike, y: ArrayLike | None = None, **params: Any) -> Self:
        """Judge rows far out, and fit every step."""
        matrix = np.asarray(X, dtype=np.float64)
        (first, _), *_, (last, model) = self.steps
        given = params.get(f"{last}__sample_weight")
        weights = np.ones(len(matrix)) if given is None else np.asarray(given, np.float64)
        ends = supported_ranges(matrix, (weights > 0).astype(np.float64))
        is_far = (matrix < ends[0]).any() or (matrix > ends[1]).any()
        classes, codes = np.unique(np.asarray(y), return_inverse=True)
        is_class = is_classifier(model)
        if is_far and matrix.shape[1] <= MOST_JUDGED and not (is_class and len(classes) > 2):
            target = (codes if is_class else np.asarray(y)).astype(np.float64)
            family: FamilyName = "binomial" if is_class else "gaussian"
            ends, params[f"{last}__sample_weight"] = trusted_ends(matrix, target, weights, family)
        if is_far:
            params[f"{first}__ends"] = ends
        fitted: Self = super().fit(X, y, **params)
        return fitted


def _natural_basis(values: Floats, knots: Floats) -> Floats:
    curves = CubicSpline(knots, np.eye(len(knots)), bc_type="natural")
    inside = np.clip(values, knots[0], knots[-1])
    slope = curves(inside, 1) * (values - inside)[:, None]
    basis: Floats = curves(inside) + slope
    return basis
