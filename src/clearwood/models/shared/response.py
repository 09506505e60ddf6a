"""Distributions of the target: the families, their links and working models."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import expit, xlogy

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import InputError, Setting, words

__all__ = ["FAMILIES", "POWER", "Family", "FamilyName", "check_target"]

FamilyName = Literal["gaussian", "binomial", "poisson", "gamma", "tweedie"]
#: Scores beyond this give the same mean, so that squares of means stay finite.
LIMIT = 150.0
#: The variance of amounts that can be zero is this power of their mean, times the scale.
POWER = 1.5


@dataclass(frozen=True)
class Family:
    """A distribution with its link.

    Parameters
    ----------
    name
        Which distribution.
    link
        As `clearwood.models.shared.score.Link`.
    has_scale
        Whether the size of the noise is estimated.
    is_quadratic
        Whether one working model is the likelihood itself.
    """

    name: FamilyName
    link: Literal["identity", "log", "logistic"]
    has_scale: bool
    is_quadratic: bool = False

    def start(self, y: Floats, weights: Floats) -> Floats:
        """Return scores to start from, one for each row."""
        # zeros start in proportion to the mean: the unit of the target makes no difference
        least = 0.1 * float(np.average(y, weights=weights)) if weights.any() else 0.1
        match self.name:
            case "gaussian":
                return y.copy()
            case "binomial":
                share = (y + 0.5) / 2
                return np.asarray(np.log(share / (1 - share)))
            case "poisson" | "tweedie":
                return np.log(y + least)
            case "gamma":
                return np.log(y)

    def mean(self, score: Floats) -> Floats:
        """Return the mean of the target at a score."""
        match self.link:
            case "identity":
                return score
            case "logistic":
                return np.asarray(expit(score))
            case "log":
                return np.exp(np.clip(score, -LIMIT, LIMIT))

    def score(self, mean: float) -> float:
        """Return the score at a mean."""
        match self.link:
            case "identity":
                return mean
            case "logistic":
                return float(np.log(mean / (1 - mean)))
            case "log":
                return float(np.log(mean))

    def working(self, y: Floats, score: Floats) -> tuple[Floats, Floats]:
        """Return the residuals on the scale of the score, and the weight of each row."""
        match self.name:
            case "gaussian":
                return y - score, np.ones_like(y)
            case "binomial":
                mean = self.mean(score)
                weight = np.maximum(mean * (1 - mean), 1e-8)
                return (y - mean) / weight, weight
            case "poisson":
                mean = self.mean(score)
                return (y - mean) / mean, mean
            case "gamma":
                mean = self.mean(score)
                return (y - mean) / mean, np.ones_like(y)
            case "tweedie":
                mean = self.mean(score)
                return (y - mean) / mean, mean ** (2 - POWER)

    def deviance(self, y: Floats, score: Floats) -> Floats:
        """Return twice the loss of log likelihood against a perfect fit, for each row."""
        match self.name:
            case "gaussian":
                return np.asarray((y - score) ** 2)
            case "binomial":
                return np.asarray(2 * (np.logaddexp(0, score) - y * score))
            case "poisson":
                mean = self.mean(score)
                return np.asarray(2 * (xlogy(y, y / mean) - y + mean))
            case "gamma":
                ratio = y / self.mean(score)
                return np.asarray(2 * (ratio - 1 - np.log(ratio)))
            case "tweedie":
                mean = self.mean(score)
                own = y ** (2 - POWER) / ((1 - POWER) * (2 - POWER))
                slope = mean ** (1 - POWER) / (1 - POWER)
                return np.asarray(2 * (own - y * slope + mean ** (2 - POWER) / (2 - POWER)))


FAMILIES: dict[FamilyName, Family] = {
    "gaussian": Family("gaussian", "identity", has_scale=True, is_quadratic=True),
    "binomial": Family("binomial", "logistic", has_scale=False),
    "poisson": Family("poisson", "log", has_scale=False),
    "gamma": Family("gamma", "log", has_scale=True),
    "tweedie": Family("tweedie", "log", has_scale=True),
}


def check_target(y: Floats, family: FamilyName, *, with_zeros: FamilyName = "tweedie") -> None:
    """Raise where a target is impossible under its family; name one that suits it instead."""
    if family == "gaussian":
        return
    above = family == "gamma" or not y.any()
    bad = y <= 0 if above else y < 0
    if bad.any():
        expected = "above 0" if above else "0 or more"
        other = "gaussian" if (y < 0).any() or not y.any() else with_zeros
        raise InputError(
            f"a {family} model needs targets {expected}; {int(bad.sum())} of {len(y)} are not",
            parameter="family",
            value=family,
            hint=words("set ", Setting("family", other), "."),
        )
