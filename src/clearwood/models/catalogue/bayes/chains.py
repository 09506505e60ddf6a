"""Chains of draws: samplers of our own, and one of another package, with their diagnostics."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import MissingExtraError
from clearwood._shared.progress import Step, silent

__all__ = ["Chains", "effective_size", "hamiltonian", "nuts", "r_hat"]


# Draws from a posterior by Hamiltonian Monte Carlo, and how well chains agree.
#
# The coordinates are those in which the Laplace approximation is a standard normal, so that one
# step size suits all of them and a quarter of a turn leads to a nearly independent draw (Neal
# 2011). Chains move together, as rows of one matrix; the step size is adapted in the warm-up
# (Hoffman and Gelman 2014, section 3.2).


_TARGET = 0.8  # of the probability of acceptance
_MOST_STEPS = 64

Density = Callable[[Floats], tuple[Floats, Floats]]


@dataclass(frozen=True, eq=False)
class Chains:
    """Draws, of shape (chains, draws, coefficients), and the share of moves accepted."""

    draws: Floats
    accepted: float


def hamiltonian(
    posterior: Density,
    centre: Floats,
    root: Floats,
    *,
    draws: int,
    chains: int,
    seed: int,
    step: Step = silent,
) -> Chains:
    """Draw from a posterior.

    Parameters
    ----------
    posterior
        From (chains, coefficients) to log densities and their gradients.
    centre, root
        Mean, and a root of the covariance, of a normal approximation.
    draws
        Kept of each chain; half as many are used to warm up, at least 100.
    chains
        Their number.
    seed
        Fixes the draws.
    step
        Called with 1 after every move.

    Examples
    --------
    >>> def normal(x):
    ...     return -0.5 * (x**2).sum(axis=1), -x
    >>> found = hamiltonian(normal, np.zeros(2), np.eye(2), draws=400, chains=4, seed=0)
    >>> bool(np.abs(found.draws.mean(axis=(0, 1))).max() < 0.1)
    True
    """
    generator = np.random.default_rng(seed)

    def density(place: Floats) -> tuple[Floats, Floats]:
        value, gradient = posterior(centre + place @ root.T)
        return value, gradient @ root

    # wider than the posterior, so that chains that do not mix are seen to disagree
    at = 1.5 * generator.standard_normal((chains, len(centre)))
    value, gradient = density(at)
    lost = ~np.isfinite(value)
    at[lost] = 0.0
    value, gradient = density(at)
    size = _StepSize(0.5)
    warm_up = max(draws // 2, 100)
    kept = np.empty((chains, draws, len(centre)))
    accepted = 0.0
    for k in range(warm_up + draws):
        length = 0.5 * np.pi * generator.uniform(0.6, 1.4)
        epsilon = size.now if k < warm_up else size.final
        n_steps = int(np.clip(np.ceil(length / epsilon), 1, _MOST_STEPS))
        momentum = generator.standard_normal(at.shape)
        energy = value - 0.5 * (momentum**2).sum(axis=1)
        place, slope = at, gradient
        with np.errstate(over="ignore", invalid="ignore"):
            speed = momentum + 0.5 * epsilon * slope
            for one in range(n_steps):
                place = place + epsilon * speed
                height, slope = density(place)
                speed = speed + (epsilon if one < n_steps - 1 else 0.5 * epsilon) * slope
            gain = height - 0.5 * (speed**2).sum(axis=1) - energy
        chance = np.where(np.isfinite(gain), np.exp(np.minimum(gain, 0.0)), 0.0)
        moved = generator.random(chains) < chance
        at = np.where(moved[:, None], place, at)
        value = np.where(moved, height, value)
        gradient = np.where(moved[:, None], slope, gradient)
        if k < warm_up:
            size.learn(float(chance.mean()))
        else:
            kept[:, k - warm_up] = at
            accepted += float(chance.mean()) / draws
        step(1)
    return Chains(centre + kept @ root.T, accepted)


class _StepSize:
    """Dual averaging: the step size at which the acceptance is as wanted."""

    def __init__(self, start: float) -> None:
        self.now = self.final = start
        self._middle = np.log(10 * start)
        self._error = self._mean = 0.0
        self._rounds = 0

    def learn(self, chance: float) -> None:
        self._rounds += 1
        self._error += (_TARGET - chance - self._error) / (self._rounds + 10)
        log = self._middle - np.sqrt(self._rounds) / 0.05 * self._error
        log = min(log, np.log(1.5))
        share = self._rounds**-0.75
        self._mean = share * log + (1 - share) * self._mean
        self.now, self.final = float(np.exp(log)), float(np.exp(self._mean))


def r_hat(draws: Floats) -> float:
    """Compute the rank-normalised split R-hat of one coefficient (Vehtari et al. 2021, section 4).

    It compares the variance between halves of chains with that within. Chains that agree have
    values below 1.01.

    Parameters
    ----------
    draws
        Of shape (chains, draws).

    Examples
    --------
    >>> agree = np.random.default_rng(0).normal(size=(4, 500))
    >>> bool(r_hat(agree) < 1.01), bool(r_hat(agree + np.arange(4)[:, None]) > 1.5)
    (True, True)
    """
    halves = _halves(draws)
    folded = np.abs(halves - np.median(halves))
    return max(_plain_r_hat(_normalised(halves)), _plain_r_hat(_normalised(folded)))


def effective_size(draws: Floats) -> float:
    """Compute how many independent draws are as exact: the smaller of bulk and tails.

    For the bulk, of rank-normalised draws; for the tails, of the shares below the quantiles of 5 %
    and 95 % (Vehtari et al. 2021, section 4.3).

    Parameters
    ----------
    draws
        Of shape (chains, draws).

    Examples
    --------
    >>> agree = np.random.default_rng(0).normal(size=(4, 500))
    >>> bool(1500 < effective_size(agree) < 2500)
    True
    """
    halves = _halves(draws)
    tails = [(halves <= end).astype(np.float64) for end in np.quantile(draws, (0.05, 0.95))]
    return min(map(_plain_size, (_normalised(halves), *tails)))


def _halves(draws: Floats) -> Floats:
    """Split every chain into two, leaving out the middle draw of an odd number."""
    half = draws.shape[1] // 2
    return np.concatenate([draws[:, :half], draws[:, draws.shape[1] - half :]])


def _normalised(draws: Floats) -> Floats:
    """Replace draws by normal quantiles of their ranks."""
    ranks = rankdata(draws, method="average").reshape(draws.shape)
    return np.asarray(ndtri((ranks - 0.375) / (draws.size + 0.25)))


def _plain_r_hat(draws: Floats) -> float:
    n = draws.shape[1]
    within = draws.var(axis=1, ddof=1).mean()
    between = draws.mean(axis=1).var(ddof=1)
    if within <= 0:
        return 1.0 if between <= 0 else np.inf
    return float(np.sqrt((n - 1) / n + between / within))


def _plain_size(draws: Floats) -> float:
    """Compute the effective size by Geyer's initial monotone sequence of autocorrelations."""
    m, n = draws.shape
    if n < 4 or np.ptp(draws) == 0:
        return float(m * n)
    centred = draws - draws.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(centred, 2 * n, axis=1)
    covariance = np.fft.irfft(np.abs(spectrum) ** 2, axis=1)[:, :n].real / n
    within = covariance[:, 0].mean() * n / (n - 1)
    total = within * (n - 1) / n
    if m > 1:
        total += draws.mean(axis=1).var(ddof=1)
    if total <= 0:
        return float(m * n)
    correlation = 1 - (within - covariance.mean(axis=0)) / total
    correlation[0] = 1.0
    pairs = correlation[: n - n % 2].reshape(-1, 2).sum(axis=1)
    pairs = pairs[: len(pairs) - 1] if n > 4 else pairs
    negative = np.flatnonzero(pairs < 0)
    last = negative[0] if len(negative) else len(pairs)
    kept = np.minimum.accumulate(pairs[:last]) if last else pairs[:1]
    # the first of a pair that ends the sequence still counts if it is positive
    rest = 0.0
    if last < len(pairs):
        rest = max(correlation[2 * last], 0.0)
    time = max(-1 + 2 * kept.sum() + rest, 1 / np.log10(m * n))
    return float(m * n / time)


# Draws from a posterior by the no-U-turn sampler of nutpie.


def nuts(
    posterior: Density,
    centre: Floats,
    root: Floats,
    *,
    draws: int,
    chains: int,
    seed: int,
    step: Step = silent,
) -> Chains:
    """Draw from a posterior, with parameters as those of `hamiltonian`."""
    if find_spec("nutpie") is None:
        raise MissingExtraError("method 'nuts' of learner 'bayes'", extra="nuts")
    import nutpie
    from nutpie.compiled_pyfunc import from_pyfunc

    def make_density() -> Any:
        def density(place: Floats) -> tuple[float, Floats]:
            value, gradient = posterior((centre + root @ place)[None, :])
            return float(value[0]), gradient[0] @ root

        return density

    def make_expanded(*_: int) -> Any:
        return lambda place: {"place": np.array(place)}

    compiled = from_pyfunc(
        len(centre),
        make_density,
        make_expanded,
        [np.dtype(np.float64)],
        [(len(centre),)],
        ["place"],
    )
    trace = nutpie.sample(
        compiled,
        draws=draws,
        tune=max(draws // 2, 100),
        chains=chains,
        cores=1,
        seed=seed,
        progress_bar=False,
    )
    step(draws + max(draws // 2, 100))
    places = np.asarray(trace.posterior["place"], np.float64)
    return Chains(centre + places @ root.T, float("nan"))
