"""By how much counts vary more than Poisson's law: the dispersion of quasi-Poisson errors."""

from dataclasses import dataclass

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood._shared.numbers import number

__all__ = ["OVERDISPERSED", "Dispersion", "are_whole", "count_dispersion", "overdispersed"]

#: Counts with a larger dispersion are warned about.
OVERDISPERSED = 1.5
#: With a smaller share of the expected counts left to residuals, a fit says nothing about them.
_LEAST_LEFT = 1e-6
#: Rates times exposures differ from whole counts by at most this share.
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Dispersion:
    """The variance of counts as a multiple of their mean, and how well it is known.

    Parameters
    ----------
    value
        The dispersion: 1 for Poisson's law.
    freedom
        Degrees of freedom of the estimate; infinite where it is 1 and not an estimate.
    """

    value: float
    freedom: float


def count_dispersion(
    y: Floats, mean: Floats, weights: Floats, exposure: Floats, taken: float = 0.0
) -> Dispersion:
    """Estimate the dispersion of counts or rates about fitted means.

    With counts Y of means m and leverages h it is Σ (Y − m)² / Σ m (1 − h). Where all means are
    equal this is Pearson's statistic over its degrees of freedom. Otherwise rows count by their
    mean, as they do in the coefficients: errors stay right on average where the variance grows
    faster than the mean, as that of negative binomial counts does, and a single count in a row
    where none was expected decides nothing. As the fitted counts add up to the observed ones, the
    estimate of counts that are all but 0 and 1 is as exact as that of large ones.

    Whole counts vary by Poisson's law at least, so that their dispersion is never below 1 and no
    error falls below that of the observed events; other numbers have a dispersion of any size.

    Parameters
    ----------
    y, mean
        Counts, or rates where rows have an exposure, and their fitted means.
    weights
        How many times each row counts, times its exposure.
    exposure
        Of each row.
    taken
        Σ m h, the part of the expected counts that the fit uses up.

    Examples
    --------
    >>> y = np.array([0.0, 4.0, 1.0, 3.0])
    >>> ones = np.ones(4)
    >>> count_dispersion(y, 2 * ones, ones, ones, taken=2.0)
    Dispersion(value=1.6666666666666667, freedom=3.0)
    """
    used = weights > 0
    observed, expected = exposure[used] * y[used], exposure[used] * mean[used]
    times = weights[used] / exposure[used]
    whole = float(times @ expected)
    left = whole - taken
    if not left > _LEAST_LEFT * whole:
        return Dispersion(1.0, np.inf)
    value = float(times @ (observed - expected) ** 2) / left
    if value <= 1 and are_whole(observed):
        return Dispersion(1.0, np.inf)
    # so many rows of equal means would estimate it as well
    return Dispersion(value, max(whole * left / float(times @ expected**2), 1.0))


def are_whole(values: Floats) -> bool:
    """Whether numbers are counts, up to the rounding of a rate times its exposure."""
    return bool((np.abs(values - np.rint(values)) <= _ROUNDING * np.maximum(values, 1.0)).all())


def overdispersed(dispersion: float) -> str:
    """Say that counts vary more than Poisson's law allows.

    Examples
    --------
    >>> print(overdispersed(2.345))
    the counts vary 2.35 times as much as Poisson's law allows (dispersion 2.35): standard errors, \
intervals and p-values allow for it, but a cause may be missing, or rows may depend on each other; \
the negative binomial distribution of learner 'glm' is made for such counts
    """
    size = number(dispersion)
    return (
        f"the counts vary {size} times as much as Poisson's law allows (dispersion {size}): "
        "standard errors, intervals and p-values allow for it, but a cause may be missing, or rows "
        "may depend on each other; the negative binomial distribution of learner 'glm' is made for "
        "such counts"
    )
