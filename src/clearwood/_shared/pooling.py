"""Estimates from several imputed tables, joined by Rubin's rules."""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from clearwood._shared.arrays import Floats

__all__ = ["Pooled", "pool", "pooled_test"]


@dataclass(frozen=True)
class Pooled:
    """Estimates joined over imputed tables.

    Parameters
    ----------
    values
        Their means.
    standard_errors
        Of the means: the errors within tables, and how far the estimates differ between them.
    freedom
        Degrees of freedom of the t distribution (Barnard and Rubin 1999).
    unknown
        The fraction of missing information: how much of what complete rows would say is unknown.
    """

    values: Floats
    standard_errors: Floats
    freedom: Floats
    unknown: Floats


def pool(values: Floats, variances: Floats, freedom: float) -> Pooled:
    """Join estimates by Rubin's rules.

    Parameters
    ----------
    values, variances
        Of each table: (tables, ...).
    freedom
        Degrees of freedom if nothing were missing; may be infinite.

    Notes
    -----
    With m tables, Q the mean of the estimates, U that of their variances and B the variance
    between tables, the variance of Q is T = U + (1 + 1/m) B. With λ = (1 + 1/m) B / T, the degrees
    of freedom are 1 / (1/ν₁ + 1/ν₂), where ν₁ = (m - 1) / λ² and
    ν₂ = (ν + 1) / (ν + 3) · ν (1 - λ) for ν without gaps (Barnard and Rubin 1999).

    Examples
    --------
    >>> joined = pool(np.array([[1.0], [2.0], [3.0]]), np.ones((3, 1)), np.inf)
    >>> joined.values, joined.standard_errors.round(3), joined.freedom.round(3)
    (array([2.]), array([1.528]), array([6.125]))
    """
    m = len(values)
    within, between = variances.mean(axis=0), (1 + 1 / m) * values.var(axis=0, ddof=1)
    total = within + between
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(total > 0, between / total, 0.0)
        inverse = share**2 / (m - 1)
        if np.isfinite(freedom):
            inverse = inverse + (freedom + 3) / ((freedom + 1) * freedom * (1 - share))
        joint = np.where(inverse > 0, 1 / inverse, np.inf)
        ratio = between / within
        unknown = np.where(
            np.isfinite(ratio), (ratio + 2 / (joint + 3)) / (ratio + 1), np.where(between > 0, 1, 0)
        )
    return Pooled(
        values.mean(axis=0),
        np.asarray(np.sqrt(total)),
        np.asarray(joint),
        np.asarray(np.where(between > 0, unknown, 0.0)),
    )


def pooled_test(values: Floats, covariances: Floats, freedom: float) -> tuple[float, float, float]:
    """Test that several coefficients are zero, over imputed tables.

    The statistic D₁ of Li, Raghunathan and Rubin (1991), with the degrees of freedom of Reiter
    (2007) where those without gaps are finite.

    Parameters
    ----------
    values, covariances
        Of each table: (tables, coefficients), and twice the coefficients.
    freedom
        Degrees of freedom if nothing were missing; may be infinite.

    Returns
    -------
    tuple
        The statistic, as a χ²; its degrees of freedom; the p-value.

    Examples
    --------
    >>> estimates = np.array([[1.0, 0.0], [2.0, 1.0], [3.0, -1.0]])
    >>> statistic, rank, p_value = pooled_test(estimates, np.stack([np.eye(2)] * 3), np.inf)
    >>> round(statistic, 3), rank, round(p_value, 3)
    (1.714, 2.0, 0.456)
    """
    m = len(values)
    mean, within = values.mean(axis=0), covariances.mean(axis=0)
    rank = int(np.linalg.matrix_rank(within, hermitian=True))
    inverse = np.linalg.pinv(within, hermitian=True)
    if rank < 2:
        # one coefficient has the test of its own t distribution
        main = int(np.argmax(np.diag(within)))
        joined = pool(values[:, [main]], covariances[:, [main], [main]], freedom)
        statistic = float((joined.values[0] / joined.standard_errors[0]) ** 2)
        return statistic, float(rank), float(stats.f.sf(statistic, 1, joined.freedom[0]))
    off = values - mean
    between = off.T @ off / (m - 1)
    # the increase of the variance by the gaps, on average over the coefficients
    rise = max((1 + 1 / m) * float(np.sum(between * inverse)) / rank, 1e-12)
    statistic = float(mean @ inverse @ mean) / (1 + rise)
    residual = _residual_freedom(rank, m, rise, freedom)
    return statistic, float(rank), float(stats.f.sf(statistic / rank, rank, residual))


def _residual_freedom(rank: int, m: int, rise: float, freedom: float) -> float:
    """Return the degrees of freedom of the denominator of D₁."""
    t = float(rank * (m - 1))
    if t <= 4:
        infinite = t * (1 + 1 / rank) * (1 + 1 / rise) ** 2 / 2
    else:
        infinite = 4 + (t - 4) * (1 + (1 - 2 / t) / rise) ** 2
    if not np.isfinite(freedom):
        return infinite
    known = (freedom + 1) / (freedom + 3) * freedom
    if t <= 4:
        return min(infinite, known)
    a = rise * t / (t - 2)
    c = known - 4 * (1 + a)
    if c <= 0:  # too few rows for the approximation
        return max(min(infinite, known / (1 + rise)), 1.0)
    b = known - 2 * (1 + a)
    first = 1 / (t - 4)
    z = (
        1 / c
        + first * a**2 * b / ((1 + a) ** 2 * c)
        + first * (8 * a**2 * b / ((1 + a) * c**2) + 4 * a**2 / ((1 + a) * c))
        + first * (4 * a**2 / (c * b) + 16 * a**2 * b / c**3)
        + first * 8 * a**2 / c**2
    )
    return 4 + 1 / z
