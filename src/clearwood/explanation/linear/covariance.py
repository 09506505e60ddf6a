"""Covariances of the coefficients of generalised linear models."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, xlogy

from clearwood._shared.arrays import Bools, Floats, Index
from clearwood._shared.dispersion import Dispersion, count_dispersion
from clearwood.models import diverging_columns

__all__ = ["Errors", "Family", "GlmFit"]

Errors = Literal["model", "robust", "cluster"]
Family = Literal["normal", "poisson", "negative-binomial", "gamma", "tweedie", "binomial"]

#: Directions of the matrix with a smaller share of the largest eigenvalue are not determined.
_SINGULAR = 1e-10
#: Families whose coefficients may have no finite value.
_CAN_DIVERGE = ("binomial", "poisson", "negative-binomial", "tweedie")
#: Steps of a fit by iterated least squares, halvings of one, and when it has converged.
_MOST_STEPS = 100
_MOST_HALVINGS = 20
_CONVERGED = 1e-12


@dataclass(frozen=True, eq=False)
class GlmFit:
    """A fitted generalised linear model with the link of its family's usual use.

    Parameters
    ----------
    family
        "normal" has the identity link, "binomial" the logit, the others the logarithm.
    power
        Of the variance, for "tweedie".
    matrix
        The model's matrix, its first column 1.
    coefficients
        Of its columns.
    y
        The target: a rate where there is an exposure; 0 and 1 for "binomial".
    weights
        Of the rows: weight times exposure.
    counts
        How many observations each row stands for: its weight without the exposure.
    penalty
        What half the squared coefficients, without the constant, are multiplied by before they are
        taken from the log-likelihood (up to the dispersion).
    sources
        The column of the table that each column of the matrix, but the first, is made from.
    overdispersion
        θ of the variance m + θ m² of counts of mean m, for "negative-binomial". It is orthogonal to
        the coefficients: its own error has no part in theirs.
    """

    family: Family
    power: float
    matrix: Floats
    coefficients: Floats
    y: Floats
    weights: Floats
    counts: Floats
    penalty: float = 0.0
    sources: tuple[str, ...] = ()
    overdispersion: float = 0.0

    def covariance(self, errors: Errors, groups: NDArray[Any] | None = None) -> Floats:
        """Return the covariance of the coefficients; of estimable combinations it is unique.

        "model" is the inverse information times the dispersion; "robust" the sandwich of White
        (1980) with the factor n / (n - p), HC1; "cluster" the same over groups, with the factor
        G / (G - 1) · (n - 1) / (n - p).
        """
        inverse = self._inverse
        if errors == "model":
            return np.asarray(self.dispersion * inverse)
        scores, n = self._scores, len(self.y)
        factor = n / max(n - self.rank, 1)
        if errors == "cluster":
            assert groups is not None
            labels, which = np.unique(groups, return_inverse=True)
            sums = np.zeros((len(labels), scores.shape[1]))
            np.add.at(sums, which, scores)
            scores = sums
            factor = len(labels) / max(len(labels) - 1, 1) * (n - 1) / max(n - self.rank, 1)
        half = scores @ inverse
        return np.asarray(factor * half.T @ half)

    @property
    def dispersion(self) -> float:
        """The dispersion: 1 for classes, else estimated, of amounts by Pearson's statistic."""
        return self._dispersion.value

    @property
    def dispersion_freedom(self) -> float:
        """Degrees of freedom of the dispersion; infinite where it is known."""
        return self._dispersion.freedom

    @cached_property
    def _dispersion(self) -> Dispersion:
        if self.family in ("binomial", "negative-binomial"):
            return Dispersion(1.0, np.inf)
        mean, slope, variance = self._moments
        if self.family == "poisson":
            exposure = self.weights / self.counts
            # the leverage of one observation is that of the row's weight over its count
            each = self.weights * mean * exposure * slope**2 / variance
            taken = float(np.sum(self._inverse * (self.matrix.T @ (each[:, None] * self.matrix))))
            return count_dispersion(self.y, mean, self.weights, exposure, taken)
        pearson = float(self.weights @ ((self.y - mean) ** 2 / variance))
        return Dispersion(pearson / max(self.freedom, 1.0), max(self.freedom, 1.0))

    @property
    def variance_power(self) -> float:
        """The power of the mean that the variance of a family with a log link is at most."""
        known = {"poisson": 1.0, "negative-binomial": 1.0, "gamma": 2.0}
        return known.get(self.family, self.power)

    @property
    def diverging(self) -> tuple[str, ...]:
        """The columns that separate classes, or have rows without events, if any do."""
        if self.family not in _CAN_DIVERGE or self.penalty > 0:
            return ()
        rows = np.flatnonzero(self.weights > 0)
        y, score = self.y[rows], self.matrix[rows] @ self.coefficients
        sign = np.where(y == 0, -1.0, 0.0)
        if self.family == "binomial":
            sign = np.where(y == 0, -1.0, 1.0)
        else:
            score = score - np.log(np.average(y, weights=self.weights[rows]))
        return diverging_columns(
            self.matrix[rows, 1:], score, sign, self.coefficients[1:], self.sources
        )

    @property
    def freedom(self) -> float:
        """Observations less the rank of the matrix."""
        return float(self.counts.sum()) - self.rank

    @property
    def rank(self) -> int:
        """How many combinations of the coefficients the rows determine."""
        return int(self._eigen[3].sum())

    def is_estimable(self, weights: Floats) -> bool:
        """Whether the rows determine a combination of the coefficients."""
        scale, _, vectors, kept = self._eigen
        scaled = weights * scale
        outside = vectors[:, ~kept].T @ scaled
        return bool(np.abs(outside).max(initial=0.0) <= 1e-5 * np.abs(scaled).max(initial=0.0))

    def steps_left(self, weights: Floats) -> Floats:
        """Return how far combinations would move in one more step of the fit."""
        slope = self._scores.sum(axis=0) - self._pull
        return np.asarray(weights @ (self._inverse @ slope))

    def shrinkage(self, weights: Floats) -> Floats:
        """Return how far combinations would move without the penalty, to first order."""
        return np.asarray(weights @ (self._inverse @ self._pull))

    @property
    def deviance(self) -> float:
        """Twice what the log-likelihood lacks to its largest, up to the dispersion."""
        return self._deviance(self._moments[0])

    def without(self, columns: Index) -> "GlmFit":
        """Fit again without some columns of the matrix, by iterated least squares."""
        kept = np.setdiff1d(np.arange(self.matrix.shape[1]), columns)
        one = replace(self, matrix=self.matrix[:, kept], coefficients=self.coefficients[kept])
        score = self.matrix @ self.coefficients
        known, best = False, np.inf
        for _ in range(_MOST_STEPS):
            mean, slope, variance = self._moments_of(score)
            weights = self.weights * slope**2 / variance
            working = score + (self.y - mean) / slope
            root = np.sqrt(weights)[:, None]
            solved = np.linalg.lstsq(one.matrix * root, working * root[:, 0], rcond=None)[0]
            if known:  # a step that is too long is halved
                for _ in range(_MOST_HALVINGS):
                    if self._deviance(self._moments_of(one.matrix @ solved)[0]) <= best:
                        break
                    solved = (solved + one.coefficients) / 2
            one, known = replace(one, coefficients=np.asarray(solved, np.float64)), True
            score = one.matrix @ solved
            before, best = best, self._deviance(self._moments_of(score)[0])
            if abs(before - best) <= _CONVERGED * (1.0 + best):
                break
        return one

    def _deviance(self, mean: Floats) -> float:
        y = self.y
        if self.family == "normal":
            return float(self.weights @ (y - mean) ** 2)
        if self.family == "binomial":
            lacks = -xlogy(y, mean) - xlogy(1 - y, 1 - mean)
            return float(2 * self.weights @ lacks)
        mean = np.maximum(mean, 1e-300)
        if self.family == "negative-binomial":
            exposure, theta = self.weights / self.counts, self.overdispersion
            lacks = xlogy(y, y / mean) - (y + 1 / (theta * exposure)) * (
                np.log1p(theta * exposure * y) - np.log1p(theta * exposure * mean)
            )
        elif self.family == "poisson":
            lacks = xlogy(y, y / mean) - y + mean
        elif self.family == "gamma" or self.power == 2:
            lacks = y / mean - 1 - np.log(np.maximum(y, 1e-300) / mean)
        else:
            p = self.power
            lacks = (
                np.maximum(y, 0.0) ** (2 - p) / ((1 - p) * (2 - p))
                - y * mean ** (1 - p) / (1 - p)
                + mean ** (2 - p) / (2 - p)
            )
        return float(2 * self.weights @ lacks)

    @property
    def _pull(self) -> Floats:
        """The derivative of the penalty."""
        pull = self.penalty * self.coefficients
        pull[0] = 0.0
        return np.asarray(pull)

    @cached_property
    def _moments(self) -> tuple[Floats, Floats, Floats]:
        """The mean, its derivative by the score, and the variance up to the dispersion."""
        return self._moments_of(self.matrix @ self.coefficients)

    def _moments_of(self, score: Floats) -> tuple[Floats, Floats, Floats]:
        ones = np.ones(len(score))
        if self.family == "normal":
            return score, ones, ones
        if self.family == "binomial":
            mean = np.asarray(expit(score))
            variance = np.maximum(mean * (1 - mean), 1e-300)
            return mean, variance, variance
        mean = np.exp(score)
        variance = mean**self.variance_power
        if self.family == "negative-binomial":
            variance = mean * (1 + self.overdispersion * self.weights / self.counts * mean)
        return mean, mean, variance

    @cached_property
    def _scores(self) -> Floats:
        """The derivative of each row's log-likelihood, up to the dispersion."""
        mean, slope, variance = self._moments
        return np.asarray(
            (self.weights * (self.y - mean) * slope / variance)[:, None] * self.matrix
        )

    @cached_property
    def _eigen(self) -> tuple[Floats, Floats, Floats, Bools]:
        """The scales of the columns, eigenvalues and eigenvectors of the information so scaled."""
        _, slope, variance = self._moments
        information = self.matrix.T @ ((self.weights * slope**2 / variance)[:, None] * self.matrix)
        # columns of any size count alike in what is singular
        scale = 1.0 / np.sqrt(np.maximum(np.diag(information), 1e-300))
        values, vectors = np.linalg.eigh(information * np.outer(scale, scale))
        return scale, values, vectors, values > _SINGULAR * values[-1]

    @cached_property
    def _inverse(self) -> Floats:
        """A generalised inverse of the information."""
        scale, values, vectors, kept = self._eigen
        half = vectors[:, kept] / np.sqrt(values[kept]) * scale[:, None]
        return np.asarray(half @ half.T)
