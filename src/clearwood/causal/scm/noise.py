"""Distributions of noise: how they are drawn, and how a value is turned back into a probability."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Bools, Floats

__all__ = ["DISTRIBUTIONS", "Distribution", "probabilities_between", "quantile_of"]

Numbers = NDArray[Any]


@dataclass(frozen=True)
class Distribution:
    """A distribution that equations may draw from.

    Parameters
    ----------
    parameters
        Names of its parameters, in order.
    draw
        From a generator, the number of rows and the parameters to draws.
    frozen
        From the parameters to a distribution of scipy.stats with ``cdf``, ``ppf`` and ``support``.
    valid
        From the parameters to which rows they can be used for, and what they must be in words.
    location, scale
        From the parameters to the two numbers that turn standard noise into this one, where the
        family is such: then noise is inverted without any assumption.
    is_discrete
        Whether it gives whole numbers.
    """

    parameters: tuple[str, ...]
    draw: Callable[..., Numbers]
    frozen: Callable[..., Any]
    valid: Callable[..., Bools]
    expected: str
    standard: Callable[..., tuple[Any, Any]] | None = None
    is_discrete: bool = False

    def probabilities(
        self, low: Floats, high: Floats, at: Sequence[Any], share: Floats
    ) -> tuple[Floats, Floats]:
        """Return the probability up to noise that lies at a share of the way from low to high.

        The way is measured in probability, from that up to before low where noise is discrete. The
        second number is the probability beyond, which is exact in the upper tail.
        """
        below = np.nextafter(low, -np.inf) if self.is_discrete else low
        return probabilities_between(self._law(at), below, high, share)

    def quantile(self, up_to: Floats, beyond: Floats, at: Sequence[Any]) -> Floats:
        """Return the value up to which and beyond which these probabilities lie."""
        return quantile_of(self._law(at), up_to, beyond)

    def possible(self, low: Floats, high: Floats, at: Sequence[Any]) -> Bools:
        """Tell which rows have noise from low to high that can occur."""
        first, last = self._law(at).support()
        inside = (high >= first) & (low <= last)
        if not self.is_discrete:
            return np.asarray(inside)
        # whole numbers from the first at or after low on
        return np.asarray(inside & (np.ceil(low) <= high))

    def _law(self, at: Sequence[Any]) -> Any:
        return self.frozen(*(np.asarray(value, np.float64) for value in at))


def probabilities_between(
    law: Any, below: Floats, high: Floats, share: Floats
) -> tuple[Floats, Floats]:
    """Return the probabilities up to and beyond a share of the way between two values."""
    first, last = law.cdf(below), law.cdf(high)
    beyond_first, beyond_last = law.sf(below), law.sf(high)
    up_to = first + (last - first) * share
    return np.asarray(up_to), np.asarray(beyond_first - (beyond_first - beyond_last) * share)


def quantile_of(law: Any, up_to: Floats, beyond: Floats) -> Floats:
    """Return quantiles, from the nearer tail."""
    lower, upper = law.ppf(np.clip(up_to, 0, 1)), law.isf(np.clip(beyond, 0, 1))
    result = np.asarray(np.where(up_to < 0.5, lower, upper), np.float64)
    if not np.isfinite(result).all() and (beyond > 0).all():
        # scipy takes far upper tails of counts from the lower one, where they are all 1
        result = np.where(~np.isfinite(result), _count_beyond(law, beyond), result)
    return result


def _count_beyond(law: Any, beyond: Floats) -> Floats:
    """Return the smallest count beyond which at most a probability lies, by halving."""
    low, high = np.full(beyond.shape, -1.0), np.ones(beyond.shape)
    for _ in range(50):
        high = np.where(law.sf(high) > beyond, 2 * high, high)
    while (high - low > 1).any():
        middle = np.floor((low + high) / 2)
        is_below = law.sf(middle) > beyond
        low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
    return high


class _Gamma:
    """The gamma distribution; shape 0 stands for a sum of no amounts, which is zero."""

    def __init__(self, shape: Floats, scale: Floats) -> None:
        from scipy.stats import gamma

        self.is_none = shape == 0
        self.law = gamma(np.where(self.is_none, 1.0, shape), scale=scale)

    def cdf(self, x: Floats) -> Floats:
        """Compute the probability up to a value."""
        return np.where(self.is_none, x >= 0, self.law.cdf(x))

    def ppf(self, probability: Floats) -> Floats:
        """Compute the value up to which a probability lies."""
        return np.where(self.is_none, 0.0, self.law.ppf(probability))

    def sf(self, x: Floats) -> Floats:
        """Compute the probability beyond a value."""
        return np.where(self.is_none, x < 0, self.law.sf(x))

    def isf(self, probability: Floats) -> Floats:
        """Compute the value beyond which a probability lies."""
        return np.where(self.is_none, 0.0, self.law.isf(probability))

    def support(self) -> tuple[Any, Any]:
        """Return the smallest and the largest value there can be."""
        return 0.0, np.where(self.is_none, 0.0, np.inf)


def _scipy(name: str, arrange: Callable[..., Mapping[str, Any]]) -> Callable[..., Any]:
    """Make a distribution of scipy.stats from parameters as equations write them."""

    def make(*at: Any) -> Any:
        from scipy import stats

        return getattr(stats, name)(**arrange(*at))

    return make


DISTRIBUTIONS: Mapping[str, Distribution] = {
    "normal": Distribution(
        ("mean", "sd"),
        lambda rng, n, mean, sd: rng.normal(mean, sd, n),
        _scipy("norm", lambda mean, sd: {"loc": mean, "scale": sd}),
        lambda _, sd: sd > 0,
        "its second argument, the standard deviation, must be positive",
        lambda mean, sd: (mean, sd),
    ),
    "uniform": Distribution(
        ("low", "high"),
        lambda rng, n, low, high: rng.uniform(low, high, n),
        _scipy("uniform", lambda low, high: {"loc": low, "scale": high - low}),
        lambda low, high: high > low,
        "its second argument must be larger than its first",
        lambda low, high: (low, high - low),
    ),
    "logistic": Distribution(
        ("mean", "scale"),
        lambda rng, n, mean, scale: rng.logistic(mean, scale, n),
        _scipy("logistic", lambda mean, scale: {"loc": mean, "scale": scale}),
        lambda _, scale: scale > 0,
        "its second argument, the scale, must be positive",
        lambda mean, scale: (mean, scale),
    ),
    "laplace": Distribution(
        ("mean", "scale"),
        lambda rng, n, mean, scale: rng.laplace(mean, scale, n),
        _scipy("laplace", lambda mean, scale: {"loc": mean, "scale": scale}),
        lambda _, scale: scale > 0,
        "its second argument, the scale, must be positive",
        lambda mean, scale: (mean, scale),
    ),
    "exponential": Distribution(
        ("mean",),
        lambda rng, n, mean: rng.exponential(mean, n),
        _scipy("expon", lambda mean: {"scale": mean}),
        lambda mean: mean > 0,
        "its argument, the mean, must be positive",
        lambda mean: (0.0, mean),
    ),
    "gamma": Distribution(
        ("shape", "scale"),
        lambda rng, n, shape, scale: rng.gamma(shape, scale, n),
        _Gamma,
        lambda shape, scale: (shape >= 0) & (scale > 0),
        "its shape must not be negative and its scale must be positive",
    ),
    "beta": Distribution(
        ("a", "b"),
        lambda rng, n, a, b: rng.beta(a, b, n),
        _scipy("beta", lambda a, b: {"a": a, "b": b}),
        lambda a, b: (a > 0) & (b > 0),
        "both arguments must be positive",
    ),
    "poisson": Distribution(
        ("mean",),
        lambda rng, n, mean: rng.poisson(mean, n).astype(np.float64),
        _scipy("poisson", lambda mean: {"mu": mean}),
        lambda mean: (mean >= 0) & (mean <= 1e15),
        "its argument, the mean, must not be negative nor above 1e15",
        is_discrete=True,
    ),
    "binomial": Distribution(
        ("n", "probability"),
        lambda rng, n, size, p: rng.binomial(np.asarray(size).astype(np.int64), p, n).astype(
            np.float64
        ),
        _scipy("binom", lambda size, p: {"n": size, "p": p}),
        lambda size, p: (
            (size >= 0) & (size <= 1e15) & (size == np.floor(size)) & (p >= 0) & (p <= 1)
        ),
        "its first argument must be a whole number and its second a probability",
        is_discrete=True,
    ),
    "bernoulli": Distribution(
        ("probability",),
        lambda rng, n, p: (rng.random(n) < p).astype(np.float64),
        _scipy("bernoulli", lambda p: {"p": p}),
        lambda p: (p >= 0) & (p <= 1),
        "its argument must be a probability, from 0 to 1",
        is_discrete=True,
    ),
}
