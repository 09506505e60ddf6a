"""Generalised additive models as estimators."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import InputError, Setting, bad_value, unknown_choice, words
from clearwood.models.glassbox.gam.bases import Extrapolate
from clearwood.models.glassbox.gam.covariance import (
    class_covariance,
    corrected,
    deviations,
    scale,
)
from clearwood.models.glassbox.gam.design import Design, build_design
from clearwood.models.glassbox.gam.fitting import Fit, fit_score
from clearwood.models.glassbox.gam.response import FAMILIES, FamilyName
from clearwood.models.glassbox.gam.softmax import fit_classes
from clearwood.models.glassbox.score import Link, ProductTerm, ScoreParts, Spread, SumOfProducts

__all__ = ["GamClassifier", "GamRegressor", "parts_of"]


def parts_of(
    design: Design, coefficients: Floats, deviating: Floats | None, link: Link
) -> ScoreParts:
    """Describe a score by its terms.

    Parameters
    ----------
    design
        The terms.
    coefficients
        Of shape (coefficients, outputs).
    deviating
        Deviations of the coefficients, of shape (coefficients, outputs, deviations).
    link
        Turns the score into the prediction.
    """

    def products(columns: Floats) -> SumOfProducts:
        terms = []
        for term, at in zip(design.terms, design.at, strict=True):
            shape = [len(leading) for leading in term.leading] or [term.width]
            terms.append(
                ProductTerm(term.columns, term.bases, columns[at].reshape(*shape, -1).copy())
            )
        return SumOfProducts(columns[0].copy(), tuple(terms))

    spread = None
    if deviating is not None:
        flat = deviating.reshape(len(deviating), -1)
        spread = Spread(ScoreParts(products(flat)), deviating.shape[2], float("inf"), "covariance")
    return ScoreParts(products(coefficients), None, link, spread)


class _Gam(BaseEstimator):
    """What the two estimators share."""

    def __init__(
        self,
        *,
        n_splines: int = 20,
        select: bool = True,
        extrapolate: Extrapolate = "constant",
        categorical: Sequence[int] = (),
    ) -> None:
        self.n_splines = n_splines
        self.select = select
        self.extrapolate = extrapolate
        self.categorical = categorical

    def _design(self, X: ArrayLike, sample_weight: ArrayLike | None) -> tuple[Design, Floats]:
        """Check settings and rows, and build the terms."""
        if self.extrapolate not in ("constant", "linear"):
            raise unknown_choice(
                "extrapolate", self.extrapolate, ("constant", "linear"), kind=Setting
            )
        if isinstance(self.n_splines, bool) or not 4 <= self.n_splines <= 1_000:
            raise bad_value("n_splines", self.n_splines, "it must be from 4 to 1000")
        matrix = np.asarray(X, np.float64)
        self.n_features_in_ = matrix.shape[1]
        weights = np.ones(len(matrix))
        if sample_weight is not None:
            weights = np.asarray(sample_weight, np.float64)
        design = build_design(
            matrix,
            categorical=self.categorical,
            weights=weights,
            n_splines=self.n_splines,
            select=self.select,
            extrapolate=self.extrapolate,
        )
        return design, weights

    def _keep_single(
        self, design: Design, fit: Fit, y: Floats, weights: Floats, family: FamilyName
    ) -> None:
        """Keep what predictions, bands and tables need of the fit of one score."""
        phi = scale(design, fit, y, weights, family)
        deviating = deviations(corrected(fit, phi))[:, None, :]
        self.parts_ = parts_of(design, fit.coefficients[:, None], deviating, FAMILIES[family].link)
        self.scale_ = phi

    def _score(self, X: ArrayLike) -> Floats:
        check_is_fitted(self)
        return self.parts_(np.asarray(X, np.float64))


class GamRegressor(RegressorMixin, _Gam):
    """An additive model of smooth curves for numbers, counts and amounts."""

    def __init__(
        self,
        *,
        family: FamilyName = "gaussian",
        n_splines: int = 20,
        select: bool = True,
        extrapolate: Extrapolate = "constant",
        categorical: Sequence[int] = (),
    ) -> None:
        super().__init__(
            n_splines=n_splines, select=select, extrapolate=extrapolate, categorical=categorical
        )
        self.family = family

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit curves and their smoothness."""
        target = np.asarray(y, np.float64)
        _check_target(target, self.family)
        design, weights = self._design(X, sample_weight)
        fit = fit_score(design, target, weights=weights, family=self.family)
        self._keep_single(design, fit, target, weights, self.family)
        return self

    def predict(self, X: ArrayLike) -> Floats:
        """Predict the mean."""
        return FAMILIES[self.family].mean(self._score(X)[:, 0])


class GamClassifier(ClassifierMixin, _Gam):
    """An additive model of smooth curves for classes."""

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit curves and their smoothness."""
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        design, weights = self._design(X, sample_weight)
        if len(self.classes_) < 2:
            raise InputError("the target has a single class", parameter="y")
        if len(self.classes_) == 2:
            target = codes.astype(np.float64)
            fit = fit_score(design, target, weights=weights, family="binomial")
            self._keep_single(design, fit, target, weights, "binomial")
            return self
        many = fit_classes(design, codes, len(self.classes_), weights=weights)
        covariance = class_covariance(design, many, weights)
        deviating = None
        if covariance is not None:
            shape = (len(self.classes_), design.width, -1)
            deviating = deviations(covariance).reshape(shape).transpose(1, 0, 2)
        self.parts_ = parts_of(design, many.coefficients, deviating, "softmax")
        self.scale_ = 1.0
        return self

    def decision_function(self, X: ArrayLike) -> Floats:
        """Return the score: that of the second of two classes, or one for each class."""
        score = self._score(X)
        return score[:, 0] if len(self.classes_) == 2 else score

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Return the probabilities of the classes, in the order of ``classes_``."""
        score = self._score(X)
        if len(self.classes_) == 2:
            share = FAMILIES["binomial"].mean(score[:, 0])
            return np.stack([1 - share, share], axis=1)
        score = np.exp(score - score.max(axis=1, keepdims=True))
        return np.asarray(score / score.sum(axis=1, keepdims=True))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the most probable class."""
        return np.asarray(self.classes_[np.argmax(self.predict_proba(X), axis=1)])


def _check_target(y: Floats, family: FamilyName) -> None:
    """Raise where a target is impossible under its family."""
    if family not in FAMILIES or family == "binomial":
        raise unknown_choice("family", family, ("gaussian", "poisson", "gamma"), kind=Setting)
    low, expected = {"gamma": (0.0, "above"), "poisson": (0.0, "at least")}.get(
        family, (-np.inf, "")
    )
    bad = (y <= low) if family == "gamma" else (y < low)
    if bad.any():
        raise InputError(
            f"the target must be {expected} 0 for a {family} model, and {int(bad.sum())} rows "
            "are not",
            parameter="family",
            value=family,
            hint=words("set ", Setting("family", "gaussian"), "."),
        )
