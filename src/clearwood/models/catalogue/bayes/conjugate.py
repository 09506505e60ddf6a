"""Linear regression with a normal-inverse-gamma prior: posterior and evidence in closed form.

Given the variance of the noise, β ~ N(m, σ² V) with a diagonal V; the constant has a flat prior.
The variance has an inverse gamma prior, σ² ~ IG(ν/2, ν s²/2), which counts as ν rows whose noise
has the standard deviation s; with ν = 0 its density is proportional to 1/σ². With A = V⁻¹ + XᵀWX
(columns centred), the posterior of β is a t distribution with n − 1 + ν degrees of freedom around
the ridge estimate (Gelman et al. 2013, section 14; course notes 38.2).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.optimize import minimize_scalar
from scipy.special import gammaln

from clearwood._shared.arrays import Floats
from clearwood.models.catalogue.bayes.priors import Prior, Stated, least_scale

__all__ = ["Conjugate", "fit_conjugate"]

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
