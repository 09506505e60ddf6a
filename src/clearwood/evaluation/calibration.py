"""Calibration: whether predictions agree on average with what is observed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from clearwood._shared.arrays import Bools, Floats
from clearwood._shared.errors import InputError, did_you_mean
from clearwood._shared.numbers import interval, number, percent
from clearwood._shared.results import Result
from clearwood.evaluation.estimates import Allowance, Estimate, moved, without_rounding
from clearwood.evaluation.intervals import Kind, Mean, around, joint_level
from clearwood.evaluation.link_regression import Link, fit_link, linked
from clearwood.evaluation.pairs import Pairs, bins_of

__all__ = [
    "CalibrationCurve",
    "CalibrationLine",
    "CalibrationRegression",
    "calibration_error",
    "calibration_line",
    "calibration_of",
    "curve_of",
    "line_of",
    "regression_of",
]


@dataclass(frozen=True, eq=False, repr=False)
class CalibrationCurve(Result):
    """Observed means against predictions, in bins of similar predictions.

    Parameters
    ----------
    learner
        The learner whose predictions they are.
    what
        What is predicted: the target, or "P(target = class)".
    kind
        "probability" or "number".
    predicted, observed
        Weighted means in each bin; the bins hold about equally much weight, ordered by prediction.
    low, high
        Interval for the observed mean: Wilson's for probabilities, Student's for numbers; with
        weights or groups, of the effective number of rows. Those of all bins hold together
        (Bonferroni).
    misses
        Whether the interval of a bin excludes its mean prediction.
    rows
        How many rows each bin holds.
    line
        The calibration line with the intervals of its slope and intercept.
    error
        Expected calibration error (`calibration_error`).
    confidence
        The level of the intervals: of the bins, of all together.
    is_weighted
        Whether rows count by their weight.
    n_zero_weight
        How many rows have the weight 0 and do not count.
    dispersion
        The variance of observed totals as a multiple of the expected ones: about 1 for counts that
        follow Poisson's law, more where they come in clusters; for amounts in the unit of the
        target. NaN where the target is negative somewhere.
    """

    learner: str
    what: str
    kind: Kind
    predicted: Floats
    observed: Floats
    low: Floats
    high: Floats
    misses: Bools
    rows: NDArray[np.int64]
    line: "CalibrationLine"
    error: float
    confidence: float
    is_weighted: bool = False
    n_zero_weight: int = 0
    dispersion: float = float("nan")
    _derived: ClassVar[tuple[str, ...]] = ("slope", "intercept", "top_misses")

    @property
    def slope(self) -> float:
        """Slope of the calibration line; 1 for a calibrated learner."""
        return self.line.slope

    @property
    def intercept(self) -> float:
        """Intercept of the calibration line; 0 for a calibrated learner."""
        return self.line.intercept

    @property
    def top_misses(self) -> bool:
        """Whether the bin of the largest predictions clearly misses what is observed."""
        return bool(self.misses[-1])

    def _columns(self) -> dict[str, list[Any]]:
        names = ("predicted", "observed", "low", "high", "misses", "rows")
        return {name: getattr(self, name).tolist() for name in names}

    def plot(self) -> Any:
        """Draw observed against predicted (Altair)."""
        from clearwood.plot import plot_calibration

        return plot_calibration(self)

    def __repr__(self) -> str:
        weighted = ", weighted" if self.is_weighted else ""
        head = (
            f"Calibration of {self.learner!r}, {self.what}{weighted}: {self.line}, expected "
            f"calibration error {number(self.error)}, {percent(self.confidence)} intervals of all "
            "bins together"
        )
        lines = [f"{'predicted':>10} {'observed':>10} {'interval':>21} {'rows':>6}"]
        for values in zip(
            self.predicted, self.observed, self.low, self.high, self.rows, strict=True
        ):
            predicted, observed, low, high, rows = values
            span = interval(low, high)
            lines.append(f"{number(predicted):>10} {number(observed):>10} {span:>21} {rows:6d}")
        return "\n".join([head, *lines])


@dataclass(frozen=True)
class CalibrationLine(Result):
    """The line of the truth on the prediction, with the intervals of its slope and intercept.

    Parameters
    ----------
    slope, intercept
        1 and 0 for a calibrated learner.
    slope_low, slope_high, intercept_low, intercept_high
        Intervals by the robust (sandwich) variance, with rows of one group as one observation.
    """

    slope: float
    intercept: float
    slope_low: float = np.nan
    slope_high: float = np.nan
    intercept_low: float = np.nan
    intercept_high: float = np.nan

    def __str__(self) -> str:
        if not np.isfinite(self.slope_low):
            return f"slope {number(self.slope)}, intercept {number(self.intercept)}"
        return (
            f"slope {number(self.slope)} ({interval(self.slope_low, self.slope_high)}), intercept "
            f"{number(self.intercept)} ({interval(self.intercept_low, self.intercept_high)})"
        )


def calibration_of(
    y: ArrayLike,
    predicted: ArrayLike,
    *,
    classes: Sequence[Any] | NDArray[Any] | None = None,
    target: str = "target",
    label: str | None = None,
    bins: int = 10,
    confidence: float = 0.9,
    learner: str = "",
    weights: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    inflation: float = 1.0,
    allowances: Mapping[str, Allowance] | None = None,
) -> CalibrationCurve:
    """Return the calibration curve of predictions: of a number, or of a class's probability.

    Parameters
    ----------
    y
        The truth; classes as positions in `classes`.
    predicted
        Predictions of held-out rows: numbers, or one column of probabilities a class.
    classes
        The labels; None for a number.
    target
        The name of the target.
    label
        The class whose probability to compare; by default the last class of two, and of several
        the predicted class, row by row.
    bins
        How many bins, at most; rows with the same prediction stay together.
    confidence
        The level of the intervals.
    learner
        The name of the learner.
    weights
        Of the rows.
    groups
        The group of each row; rows of one group count as one observation in the intervals.
    inflation
        By how much standard errors are larger than those of independent rows; see
        `Interval.inflation`.
    allowances
        What the intervals of the measures "calibration_slope" and "calibration_intercept" allow
        for, of a number or of the last class of two. The line has the same intervals.

    Examples
    --------
    >>> curve = calibration_of([1.0, 2.0, 3.0, 4.0], [1.5, 1.5, 3.0, 3.0], bins=2)
    >>> curve.observed.tolist()
    [1.5, 3.5]
    """
    options: dict[str, Any] = {
        "bins": bins,
        "confidence": confidence,
        "learner": learner,
        "weights": weights,
        "groups": groups,
        "inflation": inflation,
    }
    if classes is None:
        if label is not None:
            raise InputError(
                f"{target!r} is a number and has no class {label!r}",
                parameter="label",
                value=label,
            )
        own = allowances or {}
        return curve_of(y, predicted, kind="number", what=target, allowances=own, **options)
    codes, probabilities = np.asarray(y), np.asarray(predicted, dtype=np.float64)
    names = [str(name) for name in classes]
    if label is None and len(names) > 2:
        chosen = probabilities.argmax(axis=1)
        highest = probabilities[np.arange(len(codes)), chosen]
        what = f"P({target} = class predicted)"
        return curve_of(chosen == codes, highest, kind="probability", what=what, **options)
    label = names[-1] if label is None else str(label)
    if label not in names:
        raise InputError(
            f"{target!r} has no class {label!r}",
            parameter="label",
            value=label,
            hint=did_you_mean(label, names),
        )
    position = names.index(label)
    own = dict(allowances or {}) if len(names) == 2 else {}
    if position == 0 and "calibration_intercept" in own:  # the same line from the other class
        one = own["calibration_intercept"]
        own["calibration_intercept"] = replace(one, shift=-one.shift)
    return curve_of(
        codes == position,
        probabilities[:, position],
        kind="probability",
        what=f"P({target} = {label})",
        allowances=own,
        **options,
    )


def curve_of(
    y: ArrayLike,
    predicted: ArrayLike,
    *,
    kind: Kind,
    bins: int = 10,
    confidence: float = 0.9,
    learner: str = "",
    what: str = "target",
    weights: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    inflation: float = 1.0,
    allowances: Mapping[str, Allowance] | None = None,
) -> CalibrationCurve:
    """Return the calibration curve of predictions of a number or of a probability.

    The options are those of `calibration_of`; the truth of a probability is 0 or 1.

    Examples
    --------
    >>> curve = curve_of([0, 1, 0, 1, 1, 1], [0.2, 0.2, 0.2, 0.8, 0.8, 0.8],
    ...                  kind="probability")
    >>> curve.observed.round(2).tolist()
    [0.33, 1.0]
    """
    pairs = Pairs.of(y, predicted, weights, groups)
    which = bins_of(pairs.predicted, bins, pairs.weights)
    inside = [
        Mean.of(pairs.truth[own], pairs.weights[own], pairs.units[own])
        for own in (which == k for k in range(int(which.max()) + 1))
    ]
    predictions = np.bincount(which, pairs.weights * pairs.predicted) / np.bincount(
        which, pairs.weights
    )
    known = {"dispersion": pairs.dispersion, "inflation": inflation}
    together = joint_level(confidence, len(inside))
    low, high = np.transpose([around(mean, kind, together, **known) for mean in inside])
    return CalibrationCurve(
        learner=learner,
        what=what,
        kind=kind,
        predicted=predictions,
        observed=np.array([mean.mean for mean in inside]),
        low=low,
        high=high,
        misses=(predictions < low) | (predictions > high),
        rows=np.bincount(which),
        line=line_of(pairs, kind, confidence, inflation=inflation, allowances=allowances),
        error=calibration_error(pairs.truth, pairs.predicted, bins=bins, weights=pairs.weights),
        confidence=confidence,
        is_weighted=weights is not None,
        n_zero_weight=pairs.n_zero_weight,
        dispersion=pairs.dispersion,
    )


def calibration_error(
    y: ArrayLike, predicted: ArrayLike, *, bins: int = 10, weights: ArrayLike | None = None
) -> float:
    """Return the expected calibration error.

    It is the sum over bins of (weight in bin / weight) · |mean y - mean predicted|, with about
    equally much weight in each bin. It depends on the number of bins, and is above zero even for a
    calibrated learner, as the mean of a bin is noisy: about sqrt(bins / rows) times the standard
    deviation of y within bins.

    Examples
    --------
    >>> calibration_error([0, 1, 0, 1], [0.5, 0.5, 0.5, 0.5])
    0.0
    >>> calibration_error([0, 0, 1, 1], [0.3, 0.3, 0.9, 0.9])
    0.2
    """
    pairs = Pairs.of(y, predicted, weights)
    which = bins_of(pairs.predicted, bins, pairs.weights)
    gaps = np.abs(np.bincount(which, pairs.weights * (pairs.truth - pairs.predicted)))
    return round(float(gaps.sum() / pairs.weights.sum()), 12)


def calibration_line(
    y: ArrayLike,
    predicted: ArrayLike,
    *,
    kind: Kind,
    confidence: float = 0.9,
    weights: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> CalibrationLine:
    """Return slope and intercept of the truth on the prediction: 1 and 0 if it is calibrated.

    For numbers, least squares of y on the prediction. For probabilities, the logistic regression
    of y on the log-odds of the prediction: with a slope below 1, predictions are too extreme. NaN
    where the line is not determined: equal predictions, a single class, or classes that the
    predictions separate perfectly.

    Examples
    --------
    >>> line = calibration_line([1.0, 2.0, 3.0], [2.0, 4.0, 6.0], kind="number")
    >>> round(line.slope, 6), round(line.intercept, 6) + 0.0
    (0.5, 0.0)
    """
    return line_of(Pairs.of(y, predicted, weights, groups), kind, confidence)


def line_of(
    pairs: Pairs,
    kind: Kind,
    confidence: float,
    *,
    inflation: float = 1.0,
    allowances: Mapping[str, Allowance] | None = None,
) -> CalibrationLine:
    """Return the calibration line of pairs, with the intervals that its measures have."""
    regression = regression_of(pairs, kind)
    if regression is None:
        return CalibrationLine(np.nan, np.nan)
    known, general = allowances or {}, Allowance(inflation)
    (slope_low, slope_high), (intercept_low, intercept_high) = (
        regression.bounds(name, confidence, known.get(f"calibration_{name}", general))
        for name in ("slope", "intercept")
    )
    return CalibrationLine(
        regression.estimates["slope"].value,
        without_rounding(regression.estimates["intercept"].value, intercept_low, intercept_high),
        slope_low=slope_low,
        slope_high=slope_high,
        intercept_low=intercept_low,
        intercept_high=intercept_high,
    )


@dataclass(frozen=True, eq=False)
class CalibrationRegression:
    """The regression of the truth on the linked prediction.

    Parameters
    ----------
    estimates
        "slope" and "intercept", with the influence of each row.
    errors
        Their standard errors, by the robust (sandwich) variance.
    degrees
        Their degrees of freedom: units less two.
    """

    estimates: Mapping[str, Estimate]
    errors: Mapping[str, float]
    degrees: int

    def bounds(self, name: str, confidence: float, allowance: Allowance) -> tuple[float, float]:
        """Return the interval of the slope or the intercept; NaN where units are too few."""
        value = self.estimates[name].value
        if self.degrees < 1:
            return np.nan, np.nan
        quantile = float(stats.t.ppf(0.5 + confidence / 2, self.degrees))
        half = allowance.inflation * quantile * self.errors[name]
        low, high = moved(value, (value - half, value + half), allowance.shift)
        if name == "slope" and half < value:
            # the error of a slope can be skewed, and then that of its logarithm is not: the
            # interval holds those of both scales
            centre, width = np.log(value) + allowance.shift / value, half / value
            ends = float(np.exp(centre - width)), float(np.exp(centre + width))
            other = moved(value, ends, 0.0)
            low, high = min(low, other[0]), max(high, other[1])
        return low, high


def regression_of(pairs: Pairs, kind: Kind) -> CalibrationRegression | None:
    """Fit the truth to the linked prediction; None where the line is not determined."""
    link: Link = "logit" if kind == "probability" else "identity"
    x = linked(pairs.predicted, link)
    centre = float(np.average(x, weights=pairs.weights))
    spread = float(np.sqrt(np.average((x - centre) ** 2, weights=pairs.weights)))
    if not spread > 1e-10 * max(1.0, abs(centre)):
        return None
    fit = fit_link(np.column_stack([np.ones(len(x)), (x - centre) / spread]), pairs, link)
    if fit is None:
        return None
    # back from the standardised prediction
    shift = np.array([[1.0, -centre / spread], [0.0, 1 / spread]])
    values, influence = shift @ fit.coefficients, fit.influence @ shift.T
    errors = np.sqrt(np.diag(shift @ fit.covariance @ shift.T))
    names = ("intercept", "slope")
    return CalibrationRegression(
        {name: Estimate(float(values[k]), influence[:, k]) for k, name in enumerate(names)},
        {name: float(errors[k]) for k, name in enumerate(names)},
        int(pairs.units.max()) - 1,
    )
