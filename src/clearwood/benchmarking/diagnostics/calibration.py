"""Calibration: whether predictions agree on average with what is observed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import InputError, bad_value, did_you_mean
from clearwood._shared.numbers import interval, number
from clearwood._shared.results import Result
from clearwood.benchmarking.running.fits import candidate, judge_all
from clearwood.resampling import Plan, default_plan, splits_of

__all__ = [
    "CalibrationCurve",
    "bins_of",
    "calibration_curve",
    "calibration_error",
    "calibration_line",
    "calibration_of",
    "checked_pairs",
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
    predicted: Floats
    observed: Floats
    low: Floats
    high: Floats
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
        from clearwood.plot import plot_calibration

        return plot_calibration(self)

    def __repr__(self) -> str:
        head = (
            f"Calibration of {self.learner!r}, {self.what}: slope {number(self.slope)}, intercept "
            f"{number(self.intercept)}, expected calibration error {number(self.error)}"
        )
        lines = [f"{'predicted':>10} {'observed':>10} {'interval':>21} {'rows':>6}"]
        for values in zip(
            self.predicted, self.observed, self.low, self.high, self.rows, strict=True
        ):
            predicted, observed, low, high, rows = values
            span = interval(low, high)
            lines.append(f"{number(predicted):>10} {number(observed):>10} {span:>21} {rows:6d}")
        return "\n".join([head, *lines])


def calibration_curve(
    learner: Any,
    data: Any,
    *,
    outer: int | str | Plan = 5,
    bins: int = 10,
    label: str | None = None,
    confidence: float = 0.9,
    seed: int = 0,
    n_jobs: int | None = 1,
) -> CalibrationCurve:
    """Compare predictions of a learner for held-out rows with what is observed.

    Parameters
    ----------
    learner
        A name of the catalogue, a `Learner` or a scikit-learn estimator; it is not tuned.
    data
        A table with a target.
    outer
        How many folds, or a plan; see `default_plan`.
    bins
        How many bins of about equally many rows.
    label
        The class whose probability to compare; by default the last class of two, and of several
        the predicted class, row by row.
    confidence
        The level of the intervals.
    seed
        Fixes every draw.
    n_jobs
        Processes to use.

    Examples
    --------
    >>> import clearwood as cw
    >>> curve = calibration_curve("ols", cw.datasets.load("diabetes"), bins=4)
    >>> curve.rows.tolist()
    [110, 111, 110, 111]
    """
    one = candidate(learner, data, seed=seed)
    splits = splits_of(one.table, default_plan(one.table, outer), seed=seed)
    work = [(split.train, [split.test]) for split in splits]
    fits = judge_all(one, work, title="calibration", n_jobs=n_jobs)
    rows = np.concatenate([split.test for split in splits])
    predicted = np.concatenate([judged.predictions for (judged,) in fits])
    return calibration_of(
        one.codes[rows],
        predicted,
        classes=one.classes,
        target=str(one.table.target),
        label=label,
        bins=bins,
        confidence=confidence,
        learner=one.contender.name,
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

    Examples
    --------
    >>> curve = calibration_of([1.0, 2.0, 3.0, 4.0], [1.5, 1.5, 3.0, 3.0], bins=2)
    >>> curve.observed.tolist()
    [1.5, 3.5]
    """
    options: dict[str, Any] = {"bins": bins, "confidence": confidence, "learner": learner}
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
) -> CalibrationCurve:
    """Return the calibration curve of predictions of a number or of a probability.

    Parameters
    ----------
    y
        The truth: 0 or 1 where probabilities are predicted.
    predicted
        Predictions of held-out rows.
    kind
        "probability" or "number".
    bins
        How many bins, at most; rows with the same prediction stay together.
    confidence
        The level of the intervals.
    learner, what
        Names for the result.

    Examples
    --------
    >>> curve = curve_of([0, 1, 0, 1, 1, 1], [0.2, 0.2, 0.2, 0.8, 0.8, 0.8],
    ...                  kind="probability")
    >>> curve.observed.round(2).tolist()
    [0.33, 1.0]
    """
    truth, values = checked_pairs(y, predicted)
    which = bins_of(values, bins)
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
    slope, intercept = calibration_line(truth, values, kind=kind)
    return CalibrationCurve(
        learner=learner,
        what=what,
        kind=kind,
        predicted=np.bincount(which, values) / rows,
        observed=observed,
        low=low,
        high=high,
        rows=rows,
        slope=slope,
        intercept=intercept,
        error=calibration_error(truth, values, bins=bins),
        confidence=confidence,
    )


def calibration_error(y: ArrayLike, predicted: ArrayLike, *, bins: int = 10) -> float:
    """Return the expected calibration error.

    It is the sum over bins of (rows in bin / rows) · |mean y - mean predicted|, with about equally
    many rows in each bin. It depends on the number of bins, and is above zero even for a calibrated
    learner, as the mean of a bin is noisy: about sqrt(bins / rows) times the standard deviation of
    y within bins.

    Examples
    --------
    >>> calibration_error([0, 1, 0, 1], [0.5, 0.5, 0.5, 0.5])
    0.0
    >>> calibration_error([0, 0, 1, 1], [0.3, 0.3, 0.9, 0.9])
    0.2
    """
    truth, values = checked_pairs(y, predicted)
    which = bins_of(values, bins)
    gaps = np.abs(np.bincount(which, truth - values))
    return round(float(gaps.sum() / len(truth)), 12)


def calibration_line(
    y: ArrayLike, predicted: ArrayLike, *, kind: Kind, steps: int = 50
) -> tuple[float, float]:
    """Return slope and intercept of the truth on the prediction: 1 and 0 if it is calibrated.

    For numbers, least squares of y on the prediction. For probabilities, the logistic regression
    of y on the log-odds of the prediction: with a slope below 1, predictions are too extreme. NaN
    where the line is not determined: equal predictions, a single class, or classes that the
    predictions separate perfectly.

    Examples
    --------
    >>> slope, intercept = calibration_line([1.0, 2.0, 3.0], [2.0, 4.0, 6.0], kind="number")
    >>> round(slope, 6), round(intercept, 6) + 0.0
    (0.5, 0.0)
    """
    truth, values = checked_pairs(y, predicted)
    x = special.logit(np.clip(values, _EDGE, 1 - _EDGE)) if kind == "probability" else values
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


def checked_pairs(y: ArrayLike, predicted: ArrayLike) -> tuple[Floats, Floats]:
    """Refuse targets and predictions of different numbers of rows."""
    truth = np.asarray(y, dtype=np.float64).ravel()
    values = np.asarray(predicted, dtype=np.float64).ravel()
    if len(truth) != len(values) or not len(truth):
        raise InputError(
            f"there are {len(truth)} values of y, but {len(values)} predictions",
            parameter="predicted",
        )
    return truth, values


def bins_of(predicted: Floats, bins: int) -> NDArray[np.int64]:
    """Return bins of about equally many rows; ties stay together, so there may be fewer."""
    if bins < 1:
        raise bad_value("bins", bins, "it must be 1 or more; 10 is usual")
    _, position, counts = np.unique(predicted, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - counts / 2
    which = np.minimum((middle / len(predicted) * bins).astype(np.int64), bins - 1)
    # numbered without gaps
    codes: NDArray[np.int64] = np.unique(which, return_inverse=True)[1][position].astype(np.int64)
    return codes


def _wilson(share: Floats, n: NDArray[np.int64], confidence: float) -> tuple[Floats, Floats]:
    z = stats.norm.ppf(0.5 + confidence / 2)
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)
