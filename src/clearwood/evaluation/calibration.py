"""Calibration: whether predictions agree on average with what is observed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

from clearwood._shared.arrays import Bools, Floats, Index
from clearwood._shared.errors import InputError, bad_value, did_you_mean
from clearwood._shared.numbers import interval, number
from clearwood._shared.results import Result
from clearwood._shared.weights import counted, effective
from clearwood.evaluation.intervals import Mean

__all__ = [
    "CalibrationCurve",
    "CalibrationLine",
    "Pairs",
    "bins_of",
    "calibration_error",
    "calibration_line",
    "calibration_of",
    "curve_of",
]

Kind = Literal["probability", "number"]

# Probabilities of 0 and 1 have no finite log-odds; they are moved inside by this much.
_EDGE = 1e-12


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
        weights or groups, of the effective number of rows.
    misses
        Whether the interval of a bin excludes its mean prediction, at a level at which all bins
        hold together (Bonferroni).
    rows
        How many rows each bin holds.
    line
        The calibration line with the intervals of its slope and intercept.
    error
        Expected calibration error (`calibration_error`).
    confidence
        The level of the intervals.
    is_weighted
        Whether rows count by their weight.
    zero_weights
        How many rows have the weight 0 and do not count.
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
    zero_weights: int = 0
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
            f"calibration error {number(self.error)}"
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
        They take predictions as given, and ignore that the fits behind them share rows.
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
    }
    if classes is None:
        if label is not None:
            raise InputError(
                f"{target!r} is a number and has no class {label!r}",
                parameter="label",
                value=label,
            )
        return curve_of(y, predicted, kind="number", what=target, **options)
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
    what = f"P({target} = {label})"
    return curve_of(
        codes == position, probabilities[:, position], kind="probability", what=what, **options
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
    low, high = np.transpose([_around(mean, kind, confidence) for mean in inside])
    together = 1 - (1 - confidence) / len(inside)
    least, most = np.transpose([_around(mean, kind, together) for mean in inside])
    return CalibrationCurve(
        learner=learner,
        what=what,
        kind=kind,
        predicted=predictions,
        observed=np.array([mean.mean for mean in inside]),
        low=low,
        high=high,
        misses=(predictions < least) | (predictions > most),
        rows=np.bincount(which),
        line=_line(pairs, kind, confidence),
        error=calibration_error(pairs.truth, pairs.predicted, bins=bins, weights=pairs.weights),
        confidence=confidence,
        is_weighted=weights is not None,
        zero_weights=pairs.zero_weights,
    )


def _around(mean: Mean, kind: Kind, confidence: float) -> tuple[float, float]:
    """Return the interval of an observed mean: Wilson's, or Student's; NaN for one number."""
    tail = 0.5 + confidence / 2
    if kind == "number":
        half = float(stats.t.ppf(tail, max(mean.n - 1, 1)) * np.sqrt(mean.variance))
        return mean.mean - half, mean.mean + half
    share, n = mean.mean, mean.n
    # the number of independent rows of weight one that would have the same variance
    variance = mean.variance * (n - 1) / n
    size = share * (1 - share) / variance if variance > 1e-12 else effective(mean.weights)
    z = float(stats.norm.ppf(tail))
    centre = (share + z**2 / (2 * size)) / (1 + z**2 / size)
    half = z / (1 + z**2 / size) * np.sqrt(share * (1 - share) / size + z**2 / (4 * size**2))
    # by rounding, an end that is 0 or 1 may be next to it
    low, high = float(centre - half), float(centre + half)
    return (low if low > 1e-12 else 0.0), (high if high < 1 - 1e-12 else 1.0)


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
    return _line(Pairs.of(y, predicted, weights, groups), kind, confidence)


def _line(pairs: "Pairs", kind: Kind, confidence: float) -> CalibrationLine:
    undetermined = CalibrationLine(np.nan, np.nan)
    x, y, w = pairs.predicted, pairs.truth, pairs.weights
    if kind == "probability":
        x = special.logit(np.clip(x, _EDGE, 1 - _EDGE))
    centre = float(np.average(x, weights=w))
    x = x - centre
    if not np.average(x**2, weights=w) > 1e-20 * max(1.0, centre**2):
        return undetermined
    design = np.column_stack([np.ones(len(x)), x])
    if kind == "number":
        line = np.array([np.average(y, weights=w), (w * x * y).sum() / (w * x**2).sum()])
        fitted, variance = design @ line, np.ones(len(x))
    else:
        maximum = _logistic(design, y, w)
        if maximum is None:
            return undetermined
        line = maximum
        fitted = special.expit(design @ line)
        variance = fitted * (1 - fitted)
    shift = np.array([[1.0, -centre], [0.0, 1.0]])  # back from the centred prediction
    intercept, slope = (float(value) for value in shift @ line)
    n = int(pairs.units.max()) + 1
    if n < 3:
        return CalibrationLine(slope, intercept)
    scores = (w * (y - fitted))[:, None] * design
    by_unit = np.column_stack([np.bincount(pairs.units, score) for score in scores.T])
    bread = shift @ np.linalg.inv((design.T * (w * variance)) @ design)
    covariance = bread @ (by_unit.T @ by_unit) @ bread.T * n / (n - 2)
    half = stats.t.ppf(0.5 + confidence / 2, n - 2) * np.sqrt(np.diag(covariance))
    return CalibrationLine(
        slope,
        intercept,
        slope_low=slope - float(half[1]),
        slope_high=slope + float(half[1]),
        intercept_low=intercept - float(half[0]),
        intercept_high=intercept + float(half[0]),
    )


def _logistic(design: Floats, y: Floats, weights: Floats) -> Floats | None:
    """Return the line of largest likelihood by Newton's method; None where there is none."""
    weights = weights / weights.mean()
    share = float(np.average(y, weights=weights))
    line = np.array([special.logit(np.clip(share, _EDGE, 1 - _EDGE)), 0.0])
    for _ in range(50):
        p = special.expit(design @ line)
        information = (design.T * (weights * p * (1 - p))) @ design
        if np.linalg.cond(information) > 1e12:
            return None
        step = np.linalg.solve(information, design.T @ (weights * (y - p)))
        # steps from the constant fit can overshoot when predictions are far too extreme
        longest = float(np.abs(step).max())
        line = line + step * (5.0 / max(longest, 5.0))
        if longest < 1e-9:
            return line
    return None


@dataclass(frozen=True, eq=False)
class Pairs:
    """Truth and prediction of the rows that count, with their weights.

    Parameters
    ----------
    truth, predicted, weights
        Of each row with a weight above 0.
    units
        The independent observation that the row belongs to: its group, or itself.
    zero_weights
        How many rows were left out.
    """

    truth: Floats
    predicted: Floats
    weights: Floats
    units: Index
    zero_weights: int

    @classmethod
    def of(
        cls,
        y: ArrayLike,
        predicted: ArrayLike,
        weights: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> "Pairs":
        """Check that there are as many predictions as targets, and leave out rows of weight 0."""
        truth = np.asarray(y, dtype=np.float64).ravel()
        values = np.asarray(predicted, dtype=np.float64).ravel()
        if len(truth) != len(values) or not len(truth):
            raise InputError(
                f"there are {len(truth)} values of y, but {len(values)} predictions",
                parameter="predicted",
            )
        rows, shares = counted(weights, len(truth))
        units = np.arange(len(rows))
        if groups is not None:
            units = np.unique(np.asarray(groups)[rows], return_inverse=True)[1].astype(np.intp)
        return cls(truth[rows], values[rows], shares, units, len(truth) - len(rows))


def bins_of(predicted: Floats, bins: int, weights: Floats) -> NDArray[np.int64]:
    """Return bins of about equal weight; ties stay together, so there may be fewer."""
    if bins < 1:
        raise bad_value("bins", bins, "it must be 1 or more; 10 is usual")
    _, position = np.unique(predicted, return_inverse=True)
    of_value = np.bincount(position, weights)
    middle = np.cumsum(of_value) - of_value / 2
    # rounding must not move a value that lies exactly between two bins
    which = (middle / weights.sum() * bins + 1e-9).astype(np.int64)
    # numbered without gaps
    codes: NDArray[np.int64] = np.unique(np.minimum(which, bins - 1), return_inverse=True)[1]
    return codes[position].astype(np.int64)
