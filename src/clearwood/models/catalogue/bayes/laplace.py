"""The Laplace approximation of logistic and Poisson regression with normal priors.

The posterior is taken to be normal, around its mode and with the curvature of its logarithm there
as precision (MacKay 2003, chapter 27; course notes 39). Both log-likelihoods are concave, so that
Newton steps, halved where they go too far, find the mode.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.linalg import cho_solve, cholesky
from scipy.optimize import minimize_scalar
from scipy.special import expit

from clearwood._shared.arrays import Floats
from clearwood.models.catalogue.bayes.priors import Prior, Stated, least_scale

__all__ = ["Family", "Laplace", "LogPosterior", "fit_laplace"]

Family = Literal["logistic", "poisson"]
#: Up to this the prior scale of the default priors is searched for. With more, classes that a
#: column separates would be predicted with certainty; 2.5 is the usual weak prior on this scale.
_MOST_SCALE = 2.5
_MOST_STEPS = 200


@dataclass(frozen=True, eq=False)
class LogPosterior:
    """The log posterior density of coefficients, up to a constant.

    Parameters
    ----------
    design
        Rows by ones and centred columns.
    y, weight
        Targets and what they count.
    family
        Whose log-likelihood.
    mean, precision
        Of the normal priors; the precision is 0 where the prior is flat.
    """

    design: Floats
    y: Floats
    weight: Floats
    family: Family
    mean: Floats
    precision: Floats

    def __call__(self, coefficients: Floats) -> tuple[Floats, Floats]:
        """Compute densities and gradients for coefficients of shape (chains, columns)."""
        score = self.design @ coefficients.T
        if self.family == "logistic":
            means, cumulant = expit(score), np.logaddexp(0.0, score)
        else:
            with np.errstate(over="ignore"):
                means = np.exp(score)
            cumulant = means
        away = coefficients - self.mean
        likelihood = self.weight @ (self.y[:, None] * score - cumulant)
        density = likelihood - 0.5 * away**2 @ self.precision
        with np.errstate(invalid="ignore"):
            gradient = (self.weight[:, None] * (self.y[:, None] - means)).T @ self.design
        return density, gradient - away * self.precision

    def curvature(self, coefficients: Floats) -> Floats:
        """Compute minus the second derivative."""
        score = self.design @ coefficients
        means = expit(score) if self.family == "logistic" else np.exp(score)
        curve = self.weight * (means * (1 - means) if self.family == "logistic" else means)
        gram: Floats = self.design.T @ (curve[:, None] * self.design)
        return gram + np.diag(self.precision)


@dataclass(frozen=True, eq=False)
class Laplace:
    """A normal approximation of a posterior.

    Parameters
    ----------
    prior, scale
        Of the coefficients; the scale is that of the default priors.
    posterior
        What is approximated.
    coefficients, covariance
        Mode and covariance; the score of the mean row first.
    root
        A lower triangular root of the covariance.
    log_evidence
        Up to constants that are the same for all models of the same rows.
    is_converged
        Whether the mode was found.
    """

    prior: Prior
    scale: float
    posterior: LogPosterior
    coefficients: Floats
    covariance: Floats
    root: Floats
    log_evidence: float
    is_converged: bool


def fit_laplace(
    X: Floats,
    y: Floats,
    weight: Floats,
    *,
    family: Family,
    units: Floats,
    stated: Sequence[Stated] = (),
    scale: float | None = None,
) -> Laplace:
    """Approximate the posterior.

    Parameters
    ----------
    X, y, weight
        Centred rows, targets, and what they count.
    family
        "logistic" for targets of 0 and 1, "poisson" for counts and rates.
    units
        Of the default priors.
    stated
        Priors of some columns.
    scale
        Of the default priors; by default the one with the largest product of scale and evidence,
        from `least_scale` on.
    """
    design = np.column_stack([np.ones(len(X)), X])
    mean = float(weight @ y / weight.sum())
    start = np.zeros(design.shape[1])
    start[0] = np.log(mean / (1 - mean)) if family == "logistic" else np.log(mean)

    def at(one: float, begin: Floats) -> Laplace:
        prior = Prior.of(units, stated, one)
        posterior = LogPosterior(
            design,
            y,
            weight,
            family,
            np.concatenate([[0.0], prior.mean]),
            np.concatenate([[0.0], prior.spread**-2.0]),
        )
        return _approximated(prior, one, posterior, begin)

    n_default = len(units) - len({position for position, _, _ in stated})
    if scale is not None or not n_default:
        return at(scale or 1.0, start)
    # a row of even odds, or an expected count, is worth one row
    each = 4 * mean * (1 - mean) if family == "logistic" else mean
    least = least_scale(each * float(weight.sum()), n_default)
    tried: list[Laplace] = []

    def loss(log_scale: float) -> float:
        tried.append(at(float(np.exp(log_scale)), tried[-1].coefficients if tried else start))
        return -_judged(tried[-1])

    minimize_scalar(
        loss, bounds=(np.log(least), np.log(_MOST_SCALE)), method="bounded", options={"xatol": 0.02}
    )
    return max(tried, key=_judged)


def _judged(one: Laplace) -> float:
    """Return the log of evidence times scale; see `conjugate.fit_conjugate`."""
    return one.log_evidence + float(np.log(one.scale))


def _approximated(prior: Prior, scale: float, posterior: LogPosterior, start: Floats) -> Laplace:
    """Find the mode by Newton steps, and the curvature there."""
    at = start.copy()
    density, gradient = (one[0] for one in posterior(at[None, :]))
    is_converged = False
    for _ in range(_MOST_STEPS):
        step = cho_solve((cholesky(posterior.curvature(at), lower=True), True), gradient)
        gain = float(gradient @ step)
        if gain <= 1e-12 * max(1.0, abs(density)):
            is_converged = True
            break
        share = 1.0
        while share > 1e-10:
            moved = at + share * step
            new, slope = (one[0] for one in posterior(moved[None, :]))
            if np.isfinite(new) and new >= density + 1e-4 * share * gain:
                break
            share /= 2
        else:
            is_converged = gain <= 1e-6 * max(1.0, abs(density))  # rounding hides further gains
            break
        at, density, gradient = moved, new, slope
    factor = cholesky(posterior.curvature(at), lower=True)
    covariance = cho_solve((factor, True), np.eye(len(at)))
    # log of the normal density at its mode: the flat prior of the constant counts as 1
    log_evidence = float(density) + 0.5 * len(at) * np.log(2 * np.pi)
    log_evidence -= float(np.log(np.diag(factor)).sum())
    log_evidence -= float(np.log(prior.spread).sum()) + 0.5 * len(prior.spread) * np.log(2 * np.pi)
    root = cholesky((covariance + covariance.T) / 2, lower=True)
    return Laplace(prior, scale, posterior, at, covariance, root, log_evidence, is_converged)
