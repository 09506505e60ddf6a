"""Priors of the coefficients, and posteriors: in closed form, and by Laplace's approximation."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.optimize import minimize_scalar
from scipy.special import expit, gammaln

from clearwood._shared.arrays import Bools, Floats

__all__ = [
    "Conjugate",
    "Family",
    "Laplace",
    "LogPosterior",
    "Prior",
    "Stated",
    "default_units",
    "fit_conjugate",
    "fit_laplace",
    "least_scale",
]


# Priors of coefficients: normal, independent, in the units of the columns.


#: Position of a column, mean and standard deviation of its coefficient.
Stated = tuple[int, float, float]


@dataclass(frozen=True, eq=False)
class Prior:
    """Normal priors of the coefficients; the constant has a flat one.

    Parameters
    ----------
    mean, spread
        Of the coefficient of each column, for one unit of it.
    is_stated
        Whether they were stated by the user.
    """

    mean: Floats
    spread: Floats
    is_stated: Bools

    @classmethod
    def of(cls, units: Floats, stated: Sequence[Stated], scale: float) -> "Prior":
        """Put priors together: those stated, else zero give or take so many default units.

        Examples
        --------
        >>> Prior.of(np.array([0.5, 4.0]), [(1, 3.0, 1.0)], scale=2.0).spread
        array([1., 1.])
        """
        mean, spread = np.zeros(len(units)), scale * units
        is_stated = np.zeros(len(units), bool)
        for position, centre, deviation in stated:
            mean[position], spread[position] = centre, deviation
            is_stated[position] = True
        return cls(mean, spread, is_stated)


def least_scale(information: float, n_columns: int) -> float:
    """Return the least scale of default priors that the evidence may choose, in standard units.

    The evidence takes all effects together: a single strong one among small ones has too narrow a
    prior then, and an interval that covers it too rarely. With ten rows for each column or more,
    the least scale costs next to nothing; with fewer it is lower, since there a wide prior makes
    predictions worse.

    Parameters
    ----------
    information
        Of the constant, in rows whose noise is that of the unit.
    n_columns
        Columns with a default prior.

    Examples
    --------
    >>> least_scale(60, 4), least_scale(40, 16)
    (1.0, 0.5)
    """
    return float(min(1.0, np.sqrt(information / (10 * max(n_columns, 1)))))


def default_units(X: Floats, weight: Floats, unit: float) -> Floats:
    """Return what a coefficient is when a column moves the score by one unit.

    A column of numbers moves by its standard deviation, one of zeros and ones from one to the
    other.

    Examples
    --------
    >>> default_units(np.array([[0.0, 4.0], [1.0, 8.0]]), np.ones(2), 3.0)
    array([3. , 1.5])
    """
    share = weight / weight.sum()
    spread = np.sqrt(share @ (X - share @ X) ** 2)
    is_sign = ((X == 0) | (X == 1)).all(axis=0)
    return np.asarray(unit / np.where(is_sign | (spread <= 0), 1.0, spread))


# Linear regression with a normal-inverse-gamma prior: posterior and evidence in closed form.
#
# Given the variance of the noise, β ~ N(m, σ² V) with a diagonal V; the constant has a flat
# prior. The variance has an inverse gamma prior, σ² ~ IG(ν/2, ν s²/2), which counts as ν rows
# whose noise has the standard deviation s; with ν = 0 its density is proportional to 1/σ². With A
# = V⁻¹ + XᵀWX (columns centred), the posterior of β is a t distribution with n − 1 + ν degrees of
# freedom around the ridge estimate (Gelman et al. 2013, section 14; course notes 38.2).


#: Between these the prior standard deviation of what a standard deviation of a column adds is
#: searched for, in standard deviations of the noise.
_RATIOS = (1e-3, 100.0)
#: As a share of the target's standard deviation.
_LEAST_NOISE = 1e-3
#: The least scale in standard deviations of the target, of which effects are a part.
_SHARE = 0.5


@dataclass(frozen=True, eq=False)
class Conjugate:
    """The posterior of a linear regression.

    Parameters
    ----------
    prior
        Of the coefficients, where the noise has its estimated standard deviation.
    scale
        Of the default priors.
    coefficients
        Their posterior mean; the score of the mean row first.
    scale_matrix
        Of the t distribution of these.
    freedom
        Degrees of freedom of the t distribution.
    noise
        Standard deviation of the noise: the root of b/a, for σ² ~ IG(a, b) after the data.
    log_evidence
        The log density of the targets with everything integrated out, up to the constants of flat
        priors, which are the same for all models of the same rows.
    """

    prior: Prior
    scale: float
    coefficients: Floats
    scale_matrix: Floats
    freedom: float
    noise: float
    log_evidence: float


@dataclass(frozen=True, eq=False)
class _Moments:
    """What the posterior depends on: sums over centred rows."""

    gram: Floats
    cross: Floats
    square: float
    level: float
    total: float
    noise: float  # what is expected, and the rows it counts for
    rows: float

    def posterior(self, prior: Prior, reference: float, scale: float) -> Conjugate:
        """Compute the posterior for β ~ N(mean, (spread / reference)² σ²)."""
        root = prior.spread / reference
        # residuals from the prior mean, in units of the prior
        gram = root[:, None] * self.gram * root
        cross = root * (self.cross - self.gram @ prior.mean)
        square = self.square - 2 * prior.mean @ self.cross
        square += prior.mean @ self.gram @ prior.mean
        # without noise the rows weigh so much that rounding could undo the prior
        rounding = 4 * len(root) * np.finfo(np.float64).eps * float(np.trace(gram))
        factor = cholesky(gram + (1 + rounding) * np.eye(len(root)), lower=True)
        half = solve_triangular(factor, cross, lower=True)
        step = cho_solve((factor, True), cross)
        freedom = self.rows + self.total - 1
        left = self.rows * self.noise**2 + max(float(square - half @ half), 0.0)
        left = max(left, 1e-300)
        variance = left / freedom
        matrix = np.zeros((len(root) + 1, len(root) + 1))
        matrix[0, 0] = variance / self.total
        inverse = cho_solve((factor, True), np.diag(root)) * root[:, None]
        matrix[1:, 1:] = variance * (inverse + inverse.T) / 2
        log_evidence = (
            float(gammaln(freedom / 2))
            - freedom / 2 * np.log(left / 2)
            - float(np.log(np.diag(factor)).sum())
            - (self.total - 1) / 2 * np.log(2 * np.pi)
            - np.log(self.total) / 2
        )
        if self.rows > 0:
            half_rows = self.rows / 2
            log_evidence += half_rows * np.log(half_rows * self.noise**2) - gammaln(half_rows)
        return Conjugate(
            prior=prior,
            scale=scale,
            coefficients=np.concatenate([[self.level], prior.mean + root * step]),
            scale_matrix=matrix,
            freedom=float(freedom),
            noise=float(np.sqrt(variance)),
            log_evidence=float(log_evidence),
        )


def fit_conjugate(
    X: Floats,
    y: Floats,
    weight: Floats,
    *,
    units: Floats,
    stated: Sequence[Stated] = (),
    scale: float | None = None,
    noise: tuple[float, float] | None = None,
) -> Conjugate:
    """Compute the posterior.

    Parameters
    ----------
    X, y, weight
        Centred rows, targets, and how many rows each row stands for.
    units
        Of the default priors.
    stated
        Priors of some columns.
    scale
        Of the default priors, in units; by default the one with the largest product of scale and
        evidence, from half of `least_scale` on. The factor keeps it away from zero, where intervals
        would be too narrow (Chung et al. 2013).
    noise
        The expected standard deviation of the noise, and the number of rows it counts for.

    Notes
    -----
    A conjugate prior is proportional to the noise. Stated priors hold where the noise is what is
    expected; where nothing is, at what the data show, found by iteration.
    """
    total = float(weight.sum())
    level = float(weight @ y / total)
    centred = y - level
    weighted = weight[:, None] * X
    expected, rows = noise if noise is not None else (0.0, 0.0)
    moments = _Moments(
        X.T @ weighted,
        weighted.T @ centred,
        float(weight @ centred**2),
        level,
        total,
        expected,
        rows,
    )
    spread = float(np.sqrt(moments.square / total)) or 1.0
    if rows > 0:
        return _with_scale(moments, units, stated, scale, expected, spread)
    reference = spread
    for _ in range(50):
        result = _with_scale(moments, units, stated, scale, reference, spread)
        # priors cannot hold at no noise at all
        noise_found = max(result.noise, _LEAST_NOISE * spread)
        if abs(noise_found - reference) <= 1e-6 * reference:
            break
        reference = noise_found
    return result


def _with_scale(
    moments: _Moments,
    units: Floats,
    stated: Sequence[Stated],
    scale: float | None,
    reference: float,
    spread: float,
) -> Conjugate:
    """Compute the posterior at a scale, by default at the best one by the evidence."""
    if scale is not None:
        return moments.posterior(Prior.of(units, stated, scale), reference, scale)

    def at(log_ratio: float) -> Conjugate:
        one = float(np.exp(log_ratio)) * reference / spread
        return moments.posterior(Prior.of(units, stated, one), reference, one)

    n_default = len(units) - len({position for position, _, _ in stated})
    if not n_default:
        return at(0.0)
    least = _SHARE * least_scale(moments.total, n_default) * spread / reference
    low = float(np.clip(least, *_RATIOS))
    best = minimize_scalar(
        lambda log_ratio: -at(log_ratio).log_evidence - log_ratio,
        bounds=(np.log(low), np.log(max(_RATIOS[1], 2 * low))),
        method="bounded",
        options={"xatol": 1e-4},
    )
    return at(float(best.x))


# The Laplace approximation of logistic and Poisson regression with normal priors.
#
# The posterior is taken to be normal, around its mode and with the curvature of its logarithm
# there as precision (MacKay 2003, chapter 27; course notes 39). Both log-likelihoods are concave,
# so that Newton steps, halved where they go too far, find the mode.


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
