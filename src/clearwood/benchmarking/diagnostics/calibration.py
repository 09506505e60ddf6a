"""Calibration: whether what is predicted comes true as often, or as much, as predicted."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

from clearwood._shared.errors import InputError, did_you_mean
from clearwood._shared.results import Result

__all__ = [
    "CalibrationCurve",
    "calibration_error",
    "calibration_line",
    "calibration_of",
    "calibration_of_target",
]

Array = NDArray[np.float64]
Kind = Literal["probability", "number"]

# Sure predictions have no finite log-odds; this far inside they still count as very sure.
_EDGE = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class CalibrationCurve(Result):
    """What was observed where about the same was predicted.

    Parameters
    ----------
    learner
        Whose predictions they are.
    what
        What is predicted: the target, or "P(target = class)".
    kind
        "probability" or "number".
    predicted, observed
        Means in each bin; the bins hold about equally many rows, ordered by prediction.
    low, high
        Interval for the observed mean: Wilson's for probabilities, Student's for numbers.
    rows
        How many rows each bin holds.
    slope, intercept
        Of the calibration line (`calibration_line`); 1 and 0 for a calibrated learner.
    error
        Expected calibration error (`calibration_error`).
    confidence
        The level of the intervals.
    """

    learner: str
    what: str
    kind: Kind
    predicted: Array
    observed: Array
    low: Array
    high: Array
    rows: NDArray[np.int64]
    slope: float
    intercept: float
    error: float
    confidence: float

    def _columns(self) -> dict[str, list[Any]]:
        names = ("predicted", "observed", "low", "high", "rows")
        return {name: getattr(self, name).tolist() for name in names}

    def plot(self) -> Any:
        """Draw observed against predicted (Altair)."""
        from clearwood.plot.curves import plot_calibration

        return plot_calibration(self)

    def __repr__(self) -> str:
        head = (
            f"Calibration of {self.learner!r}, {self.what}: slope {self.slope:.3g}, intercept "
            f"{self.intercept:.3g}, expected calibration error {self.error:.3g}"
        )
        lines = [f"{'predicted':>10} {'observed':>10} {'interval':>21} {'rows':>6}"]
        for values in zip(
            self.predicted, self.observed, self.low, self.high, self.rows, strict=True
        ):
            predicted, observed, low, high, rows = values
            span = f"{low:.3g} to {high:.3g}"
            lines.append(f"{predicted:10.3g} {observed:10.3g} {span:>21} {rows:6d}")
        return "\n".join([head, *lines])


def calibration_of(
    y: ArrayLike,
    predicted: ArrayLike,
    *,
    kind: Kind,
    bins: int = 10,
    confidence: float = 0.9,
    learner: str = "",
    what: str = "target",
) -> CalibrationCurve:
    """The calibration curve of given predictions.

    Parameters
    ----------
    y
        The truth: 0 or 1 where probabilities are predicted.
    predicted
        What was predicted for rows the learner had not seen.
    kind
        "probability" or "number".
    bins
        How many bins, at most; rows of the same prediction stay together.
    confidence
        The level of the intervals.
    learner, what
        For the result's words.

    Examples
    --------
    >>> curve = calibration_of([0, 1, 0, 1, 1, 1], [0.2, 0.2, 0.2, 0.8, 0.8, 0.8],
    ...                        kind="probability")
    >>> curve.observed.round(2).tolist()
    [0.33, 1.0]
    """
    truth, told = _checked(y, predicted)
    which = _bins(told, bins)
    rows = np.bincount(which)
    observed = np.bincount(which, truth) / rows
    if kind == "probability":
        low, high = _wilson(observed, rows, confidence)
    else:
        spread = np.bincount(which, (truth - observed[which]) ** 2)
        with np.errstate(invalid="ignore", divide="ignore"):
            se = np.sqrt(spread / (rows - 1) / rows)
            half = stats.t.ppf(0.5 + confidence / 2, rows - 1) * se
        low, high = observed - half, observed + half
    slope, intercept = calibration_line(truth, told, kind=kind)
    return CalibrationCurve(
        learner=learner,
        what=what,
        kind=kind,
        predicted=np.bincount(which, told) / rows,
        observed=observed,
        low=low,
        high=high,
        rows=rows,
        slope=slope,
        intercept=intercept,
        error=calibration_error(truth, told, bins=bins),
        confidence=confidence,
    )


def calibration_of_target(
    codes: NDArray[Any],
    predicted: Array,
    classes: Sequence[Any] | NDArray[Any] | None,
    *,
    target: str,
    label: str | None = None,
    bins: int = 10,
    confidence: float = 0.9,
    learner: str = "",
) -> CalibrationCurve:
    """The calibration curve of a target that is a number, or of one of its classes.

    Parameters
    ----------
    codes
        The target; classes as positions in `classes`.
    predicted
        Numbers, or one column of probabilities a class.
    classes
        The labels; None for a number.
    target
        Its name.
    label
        Whose probability to look at; by default the last class of two, and of several the class
        that is predicted, row by row.
    bins, confidence, learner
        As for `calibration_of`.
    """
    options: dict[str, Any] = {"bins": bins, "confidence": confidence, "learner": learner}
    if classes is None:
        if label is not None:
            raise InputError(f"{target!r} is a number and has no class {label!r}")
        return calibration_of(codes, predicted, kind="number", what=target, **options)
    names = [str(name) for name in classes]
    if label is None and len(names) > 2:
        chosen = predicted.argmax(axis=1)
        sure = predicted[np.arange(len(codes)), chosen]
        what = f"P({target} = class predicted)"
        return calibration_of(chosen == codes, sure, kind="probability", what=what, **options)
    label = names[-1] if label is None else str(label)
    if label not in names:
        raise InputError(f"{target!r} has no class {label!r}", hint=did_you_mean(label, names))
    position = names.index(label)
    what = f"P({target} = {label})"
    return calibration_of(
        codes == position, predicted[:, position], kind="probability", what=what, **options
    )


def calibration_error(y: ArrayLike, predicted: ArrayLike, *, bins: int = 10) -> float:
    """Expected calibration error: Σ over bins of (rows in bin / rows) · |mean y - mean predicted|.

    The bins hold about equally many rows. It depends on their number, and is above zero even for a
    calibrated learner, as the mean of a bin is noisy: about sqrt(bins / rows) times the spread of y
    within bins.

    Examples
    --------
    >>> calibration_error([0, 1, 0, 1], [0.5, 0.5, 0.5, 0.5])
    0.0
    >>> calibration_error([0, 0, 1, 1], [0.3, 0.3, 0.9, 0.9])
    0.2
    """
    truth, told = _checked(y, predicted)
    which = _bins(told, bins)
    gaps = np.abs(np.bincount(which, truth - told))
    return round(float(gaps.sum() / len(truth)), 12)


def calibration_line(
    y: ArrayLike, predicted: ArrayLike, *, kind: Kind, steps: int = 50
) -> tuple[float, float]:
    """Slope and intercept of the truth on the prediction: 1 and 0 where it is calibrated.

    For numbers, least squares of y on the prediction. For probabilities, the logistic regression
    of y on the log-odds of the prediction: a slope below 1 says that predictions are too extreme.
    NaN where the line is not determined: all predictions alike, one class only, or classes that
    the predictions separate.

    Examples
    --------
    >>> slope, intercept = calibration_line([1.0, 2.0, 3.0], [2.0, 4.0, 6.0], kind="number")
    >>> round(slope, 6), round(intercept, 6) + 0.0
    (0.5, 0.0)
    """
    truth, told = _checked(y, predicted)
    x = special.logit(np.clip(told, _EDGE, 1 - _EDGE)) if kind == "probability" else told
    centre = x.mean()
    x = x - centre
    if not (x**2).sum() > 1e-20 * max(1.0, centre**2) * len(x):
        return np.nan, np.nan
    if kind == "number":
        slope = float((x * truth).sum() / (x**2).sum())
        return slope, float(truth.mean() - slope * centre)
    design = np.column_stack([np.ones(len(x)), x])
    line = np.array([special.logit(np.clip(truth.mean(), _EDGE, 1 - _EDGE)), 0.0])
    for _ in range(steps):
        p = special.expit(design @ line)
        information = (design.T * (p * (1 - p))) @ design
        if np.linalg.cond(information) > 1e12:
            return np.nan, np.nan
        step = np.linalg.solve(information, design.T @ (truth - p))
        # Newton's steps from the constant fit can overshoot when predictions are far too extreme
        longest = float(np.abs(step).max())
        line = line + step * (5.0 / max(longest, 5.0))
        if longest < 1e-9:
            return float(line[1]), float(line[0] - line[1] * centre)
    return np.nan, np.nan


def _checked(y: ArrayLike, predicted: ArrayLike) -> tuple[Array, Array]:
    truth = np.asarray(y, dtype=np.float64).ravel()
    told = np.asarray(predicted, dtype=np.float64).ravel()
    if len(truth) != len(told) or not len(truth):
        raise InputError(f"there are {len(truth)} values of y, but {len(told)} predictions")
    return truth, told


def _bins(predicted: Array, bins: int) -> NDArray[np.int64]:
    """Bins of about equally many rows; ties stay together, so there may be fewer."""
    if bins < 1:
        raise InputError(f"the number of bins is {bins}", hint="10 is usual.")
    _, position, counts = np.unique(predicted, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - counts / 2
    which = np.minimum((middle / len(predicted) * bins).astype(np.int64), bins - 1)
    # numbered without gaps
    codes: NDArray[np.int64] = np.unique(which, return_inverse=True)[1][position].astype(np.int64)
    return codes


def _wilson(share: Array, n: NDArray[np.int64], confidence: float) -> tuple[Array, Array]:
    z = stats.norm.ppf(0.5 + confidence / 2)
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)
