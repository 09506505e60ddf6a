"""Calibration as a smooth curve of the prediction, with a band, and how far it is from perfect."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import InputError
from clearwood._shared.numbers import interval, number, percent
from clearwood._shared.results import Result
from clearwood._shared.weights import quantiles
from clearwood.evaluation.link_regression import Fit, Link, fit_link, linked, unlinked
from clearwood.evaluation.pairs import Pairs, bins_of

__all__ = ["SmoothCalibration", "Smoothed", "smooth_calibration_of", "smoothed"]

#: Where knots lie among the predictions (Harrell 2015, section 2.4.6), by how many there are.
_KNOTS = {5: (0.05, 0.275, 0.5, 0.725, 0.95), 4: (0.05, 0.35, 0.65, 0.95), 3: (0.1, 0.5, 0.9)}
#: A knot needs this many different predictions: of the rarer class, where there are two.
_VALUES_PER_KNOT = 10
_POINTS = 60
#: Draws of the curve for the interval of its distance, and in how many bins that is computed.
_DRAWS, _BINS = 1000, 200


@dataclass(frozen=True, eq=False, repr=False)
class SmoothCalibration(Result):
    """What is observed on average as a smooth function of the prediction.

    Parameters
    ----------
    learner, what
        The learner, and what it predicts.
    link
        The scale of the curve: "logit", "log" or "identity".
    predicted
        Predictions at which the curve is given, in increasing order.
    observed, low, high
        The curve and its pointwise band.
    ici, ici_low, ici_high
        The integrated calibration index with its interval: the mean distance of the curve from the
        predictions, over the rows (Austin and Steyerberg 2019).
    e50, e90, largest
        Half and nine tenths of the rows have at most this distance, and the largest one.
    knots
        How many the curve has; 2 for a line.
    confidence
        The level of the band and of the interval.
    is_weighted
        Whether rows count by their weight.
    """

    learner: str
    what: str
    link: Link
    predicted: Floats
    observed: Floats
    low: Floats
    high: Floats
    ici: float
    ici_low: float
    ici_high: float
    e50: float
    e90: float
    largest: float
    knots: int
    confidence: float
    is_weighted: bool = False
    _names: ClassVar[tuple[str, ...]] = ("predicted", "observed", "low", "high")

    def _columns(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._names}

    def plot(self) -> Any:
        """Draw the curve with its band (Altair)."""
        from clearwood.plot import plot_smooth_calibration

        return plot_smooth_calibration(self)

    def __repr__(self) -> str:
        weighted = ", weighted" if self.is_weighted else ""
        return (
            f"Smooth calibration of {self.learner!r}, {self.what}{weighted}: mean distance from "
            f"the predictions {number(self.ici)} ({interval(self.ici_low, self.ici_high)}, "
            f"{percent(self.confidence)}), nine tenths of the rows within {number(self.e90)}"
        )


@dataclass(frozen=True, eq=False)
class Smoothed:
    """A natural spline of the truth on the linked prediction, fitted to pairs.

    Parameters
    ----------
    fit
        The regression.
    link
        Its scale.
    knots
        On the scale of the link; two for a line.
    centre, spread
        By which linked predictions are standardised.
    """

    fit: Fit
    link: Link
    knots: Floats
    centre: float
    spread: float

    def design(self, predicted: Floats) -> Floats:
        """Return the spline's basis at predictions."""
        x = (linked(predicted, self.link) - self.centre) / self.spread
        return _basis(x, self.knots)

    def curve(self, predicted: Floats, coefficients: Floats | None = None) -> Floats:
        """Return the mean truth at predictions, by the fit or by other coefficients."""
        line = self.fit.coefficients if coefficients is None else coefficients
        return unlinked(self.design(predicted) @ line, self.link)

    def distance(
        self, pairs: Pairs, confidence: float, *, inflation: float = 1.0, seed: int = 0
    ) -> tuple[float, float, float]:
        """Return the mean distance of curve and predictions, with its interval.

        A mean distance is above zero by chance as well, so the lower end is moved down by twice the
        bias that draws of the curve from its distribution have, and is 0 where the distance is no
        larger than chance makes it for perfect predictions.
        """
        gaps = np.abs(self.curve(pairs.predicted) - pairs.predicted)
        value = float(np.average(gaps, weights=pairs.weights))
        if not np.isfinite(self.fit.covariance).all():
            return value, np.nan, np.nan
        which = bins_of(pairs.predicted, _BINS, pairs.weights)
        shares = np.bincount(which, pairs.weights)
        middles = np.bincount(which, pairs.weights * pairs.predicted) / shares
        draws = np.random.default_rng(seed).multivariate_normal(
            np.zeros(len(self.fit.coefficients)),
            inflation**2 * self.fit.covariance,
            _DRAWS,
            method="eigh",
        )
        design = self.design(middles)
        moved = unlinked(design @ (self.fit.coefficients + draws).T, self.link)
        still = unlinked(design @ self.fit.coefficients, self.link)
        noise = np.average(np.abs(moved - still[:, None]), axis=0, weights=shares)
        around = np.average(np.abs(moved - middles[:, None]), axis=0, weights=shares)
        return _ends(value, noise, around, confidence)


def _ends(
    value: float, noise: Floats, around: Floats, confidence: float
) -> tuple[float, float, float]:
    """Return a mean distance between the ends of its interval.

    Chance moves the curve by `noise` and makes the distance `around`.
    """
    reach = float(stats.norm.ppf(0.5 + confidence / 2)) * float(around.std())
    high = value + reach
    if value <= np.quantile(noise, confidence):  # no more than chance makes of no distance at all
        return value, 0.0, high
    bias = max(float(around.mean()) - value, 0.0)
    return value, max(value - 2 * bias - reach, 0.0), high


def smoothed(pairs: Pairs, link: Link) -> Smoothed | None:
    """Fit the curve; None where it is not determined.

    That is so for equal predictions, a single class, and classes that the predictions separate.
    """
    x = linked(pairs.predicted, link)
    centre = float(np.average(x, weights=pairs.weights))
    spread = float(np.sqrt(np.average((x - centre) ** 2, weights=pairs.weights)))
    if not spread > 1e-10 * max(1.0, abs(centre)):
        return None
    x = (x - centre) / spread
    for knots in (*_candidates(x, pairs, link), np.zeros(2)):
        fit = fit_link(_basis(x, knots), pairs, link)
        if fit is not None and np.isfinite(fit.fitted).all():
            return Smoothed(fit, link, knots, centre, spread)
    return None


def _candidates(x: Floats, pairs: Pairs, link: Link) -> list[Floats]:
    """Return knots, from as many as the rows allow to fewer."""
    rows = pairs.truth == (np.average(pairs.truth, weights=pairs.weights) < 0.5)
    values = np.unique(x[rows] if link == "logit" else x)
    listed = []
    for count, levels in _KNOTS.items():
        knots = np.unique(quantiles(x, levels, pairs.weights))
        # knots that nearly coincide make a basis that is nearly singular
        is_spread = len(knots) == count and np.diff(knots).min() > 1e-3 * (knots[-1] - knots[0])
        if is_spread and len(values) >= count * _VALUES_PER_KNOT:
            listed.append(knots)
    return listed


def _basis(x: Floats, knots: Floats) -> Floats:
    """Return a constant, the value, and cubic pieces that end in lines beyond the outer knots."""
    columns = [np.ones(len(x)), x]
    if len(knots) > 2:
        width = (knots[-1] - knots[0]) ** 2
        last, before = (np.maximum(x - knot, 0) ** 3 for knot in (knots[-1], knots[-2]))
        gap = knots[-1] - knots[-2]
        for knot in knots[:-2]:
            piece = np.maximum(x - knot, 0) ** 3
            piece = piece - before * (knots[-1] - knot) / gap + last * (knots[-2] - knot) / gap
            columns.append(piece / width)
    return np.column_stack(columns)


def smooth_calibration_of(
    y: ArrayLike,
    predicted: ArrayLike,
    *,
    link: Link,
    confidence: float = 0.9,
    learner: str = "",
    what: str = "target",
    weights: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    inflation: float = 1.0,
) -> SmoothCalibration:
    """Return the smooth calibration curve of predictions.

    A natural cubic spline of the linked prediction is fitted to the truth by quasi-likelihood:
    binomial for log-odds, Poisson for logarithms, least squares for numbers as they are.

    Parameters
    ----------
    y
        The truth: numbers, or 0 and 1.
    predicted
        Predictions of held-out rows.
    link
        "logit" for probabilities, "log" for counts and amounts, "identity" for other numbers.
    confidence
        The level of the band.
    learner, what
        Names for the result.
    weights
        Of the rows.
    groups
        The group of each row; rows of one group count as one observation.
    inflation
        By how much standard errors are larger than those of independent rows.

    Raises
    ------
    InputError
        If there is no curve: predictions are all equal, or separate the classes.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> mean = rng.gamma(4.0, 0.5, 1000)
    >>> curve = smooth_calibration_of(rng.poisson(mean), 1.2 * mean, link="log")
    >>> bool(curve.ici_low < 0.2 * mean.mean() < curve.ici_high)
    True
    """
    pairs = Pairs.of(y, predicted, weights, groups)
    smooth = smoothed(pairs, link)
    if smooth is None:
        raise InputError(
            f"{what!r} has no smooth calibration curve: predictions are all equal, the truth is, "
            "or predictions separate the classes",
            parameter="predicted",
        )
    value, low, high = smooth.distance(pairs, confidence, inflation=inflation)
    gaps = np.abs(smooth.curve(pairs.predicted) - pairs.predicted)
    e50, e90 = quantiles(gaps, [0.5, 0.9], pairs.weights)
    x = linked(pairs.predicted, link)
    first, last = quantiles(x, [0.005, 0.995], pairs.weights)
    points = np.linspace(first, last, _POINTS)
    at = unlinked(points, link)
    design = smooth.design(at)
    middle = design @ smooth.fit.coefficients
    error = np.sqrt(np.einsum("ij,jk,ik->i", design, smooth.fit.covariance, design))
    n = int(pairs.units.max()) + 1
    half = inflation * stats.t.ppf(0.5 + confidence / 2, max(n - design.shape[1], 1)) * error
    return SmoothCalibration(
        learner=learner,
        what=what,
        link=link,
        predicted=at,
        observed=unlinked(middle, link),
        low=unlinked(middle - half, link),
        high=unlinked(middle + half, link),
        ici=value,
        ici_low=low,
        ici_high=high,
        e50=float(e50),
        e90=float(e90),
        largest=float(gaps.max()),
        knots=len(smooth.knots),
        confidence=confidence,
        is_weighted=weights is not None,
    )
