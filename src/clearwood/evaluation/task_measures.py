"""Measures of predictions as well as the loss, each with an interval."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.checks import check_confidence
from clearwood._shared.errors import InputError, bad_value, unknown_choice
from clearwood._shared.numbers import count, interval, number, percent
from clearwood._shared.results import Result, document, html_table
from clearwood._shared.weights import counted
from clearwood.evaluation.calibration import calibration_error, regression_of
from clearwood.evaluation.estimates import (
    GAIN,
    LOG,
    LOGIT,
    Allowance,
    Estimate,
    bounds,
    moved,
    without_rounding,
)
from clearwood.evaluation.intervals import Kind, Mean, around
from clearwood.evaluation.link_regression import EDGE, fit_link, link_of, linked, n_moved
from clearwood.evaluation.pairs import Pairs
from clearwood.evaluation.ranking import (
    auc,
    average_precision,
    concentration,
    gini_of_auc,
    ks,
    ks_bounds,
    normalised,
    ranks_within,
)
from clearwood.evaluation.smooth_calibration import smoothed
from clearwood.losses import Loss, Needs, default_loss
from clearwood.table import Task

__all__ = [
    "LEVEL",
    "MEANINGS",
    "Measures",
    "capped_words",
    "check_threshold",
    "curve_inflation",
    "deviances",
    "labels_of",
    "level_estimate",
    "measures",
    "smooth_estimates",
]

#: The measure that is observed / expected.
LEVEL = "observed_expected"

#: What each measure means.
MEANINGS: Mapping[str, str] = {
    "r2": "1 - squared error / squared distance of the target to its mean over the held-out rows",
    "deviance_explained": "1 - deviance / deviance of predicting the mean of the held-out rows "
    "(for classes, their shares)",
    "rmse": "root of the mean squared error",
    "mae": "mean absolute error",
    "accuracy": "share of rows whose predicted class is correct",
    "majority": "share of the rows in the most frequent class: the accuracy of always predicting "
    "it",
    "auc": "share of pairs of a member and a non-member of a class that are ranked correctly; with "
    "several classes, the mean of each against the rest; within each fit, then averaged",
    "gini": "1 - 2 x area under the Lorenz curve of the target, rows ordered by prediction",
    "gini_normalised": "the Gini coefficient relative to that of the perfect order; of two classes "
    "it is 2 x AUC - 1, the Gini of credit scoring",
    "ks": "largest difference between the shares of non-members and members up to a score",
    "average_precision": "mean precision over the members, each at its own score as the threshold",
    LEVEL: "mean of the target / mean of the predictions; 1 if calibrated",
    "calibration_in_the_large": "mean of the target less that of the predictions (on the log-odds "
    "of a probability, the logarithm of a count or an amount); 0 if calibrated",
    "calibration_slope": "slope of the truth on the prediction (on the log-odds of a "
    "probability); 1 if calibrated, below 1 if predictions are too extreme",
    "calibration_intercept": "intercept of that line; 0 if calibrated",
    "calibration_error": "mean distance between predictions and observations in 10 bins of equally "
    "many rows; with several classes, for the predicted class",
    "ici": "mean distance between predictions and a smooth curve of what is observed; 0 if "
    "calibrated",
}


@dataclass(frozen=True)
class Measures(Result):
    """Measures of one learner on held-out rows, with intervals.

    Parameters
    ----------
    values
        By name; `meanings` explains them. NaN where a measure is not determined.
    low, high
        The ends of the intervals by name; NaN where a measure has none.
    rows
        How many predictions they are based on, those of weight 0 left out.
    threshold
        For two classes with probabilities: the second is predicted where its probability is above
        this; None otherwise.
    is_weighted
        Whether rows count by their weight in all measures.
    n_zero_weight
        How many predictions have the weight 0 and do not count.
    confidence
        The level of the intervals.
    sampled, sampled_rows
        Of a table in parts, the measures that were computed from a sample of the rows, and how many
        rows it has; the others are exact over all rows.
    moved, capped
        By measure, how many predictions of 0 or 1 were moved by 1e-12, as they have no finite
        log-odds or logarithm; and how many losses would be infinite, and were capped.
    """

    values: Mapping[str, float] = field(default_factory=dict)
    low: Mapping[str, float] = field(default_factory=dict)
    high: Mapping[str, float] = field(default_factory=dict)
    rows: int = 0
    threshold: float | None = None
    is_weighted: bool = False
    n_zero_weight: int = 0
    confidence: float = 0.9
    sampled: tuple[str, ...] = ()
    sampled_rows: int = 0
    moved: Mapping[str, int] = field(default_factory=dict)
    capped: Mapping[str, int] = field(default_factory=dict)

    def __getitem__(self, name: str) -> float:
        return self.values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values)

    @property
    def meanings(self) -> dict[str, str]:
        """What each measure means, by name."""
        meanings = {name: MEANINGS[name] for name in self.values}
        if self.threshold is not None:
            above = f"the second class is predicted where p > {number(self.threshold)}"
            meanings["accuracy"] += f"; {above}"
        if self.is_weighted:
            meanings = {name: f"{meaning} (weighted)" for name, meaning in meanings.items()}
        for name, n in self.moved.items():
            if name in meanings:
                meanings[name] += f"; {_moved(n)}"
        for name, n in self.capped.items():
            if name in meanings:
                meanings[name] += f"; {capped_words(n)}"
        for name in self.sampled:
            meanings[name] += f"; from a sample of {self.sampled_rows:,} rows"
        return meanings

    def interval(self, name: str) -> tuple[float, float]:
        """Return the ends of a measure's interval; ``"calibration slope"`` is also found."""
        known = name.replace(" ", "_")
        if known not in self.low:
            raise unknown_choice("name", name, self.low, what="name")
        return self.low[known], self.high[known]

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "measure": list(self.values),
            "value": list(self.values.values()),
            "low": [self.low[name] for name in self.values],
            "high": [self.high[name] for name in self.values],
            **({"sampled": [name in self.sampled for name in self.values]} if self.sampled else {}),
            "meaning": list(self.meanings.values()),
        }

    def to_json(self) -> dict[str, Any]:
        """Return value and interval by name; what is not determined becomes None."""
        return document(
            {
                name: {
                    "value": value,
                    "low": self.low[name],
                    "high": self.high[name],
                    **({"is_sampled": name in self.sampled} if self.sampled else {}),
                }
                for name, value in self.values.items()
            }
        )

    def without(self, *names: str) -> "Measures":
        """Return the other measures."""
        rest = [name for name in self.values if name not in names]
        return replace(self, values={name: self.values[name] for name in rest})

    def with_exact(self, exact: "Measures") -> "Measures":
        """Return these measures of a sample, with those that are known exactly over all rows."""
        known = [name for name in self.values if name in exact.values]
        return replace(
            self,
            values={**self.values, **{name: exact.values[name] for name in known}},
            low={**self.low, **{name: exact.low[name] for name in known}},
            high={**self.high, **{name: exact.high[name] for name in known}},
            rows=exact.rows,
            n_zero_weight=exact.n_zero_weight,
            sampled=tuple(name for name in self.values if name not in known),
            sampled_rows=self.rows,
        )

    @property
    def lines(self) -> list[str]:
        """Every measure with its interval, as a line of text."""
        width = max(map(len, self.values), default=0)
        lines = []
        for name, value in self.values.items():
            low, high = self.interval(name)
            span = f"  ({interval(low, high, 4)})" if np.isfinite(low) else ""
            mark = "  *" if name in self.sampled else ""
            lines.append(f"  {name.replace('_', ' '):{width}}  {number(value, 4)}{span}{mark}")
        if self.sampled:
            lines.append(f"  * from a sample of {self.sampled_rows:,} rows, the others from all")
        for of, said in ((self.moved, _moved), (self.capped, capped_words)):
            names = [name.replace("_", " ") for name in of if name in self.values]
            if names:
                lines.append(f"  {', '.join(names)}: {said(max(of.values()))}")
        return lines

    def __repr__(self) -> str:
        level = percent(self.confidence)
        head = f"Measures of {self.rows:,} rows, {level} intervals{self._weighted}:"
        return "\n".join([head, *self.lines])

    def _repr_html_(self) -> str:
        rows = [
            (
                name.replace("_", " "),
                *(number(part[name], 4) for part in (self.values, self.low, self.high)),
                meaning,
            )
            for name, meaning in self.meanings.items()
        ]
        caption = f"{self.rows:,} rows, {percent(self.confidence)} intervals{self._weighted}"
        return html_table(caption, ("measure", "value", "low", "high", "meaning"), rows)

    @property
    def _weighted(self) -> str:
        return ", weighted" if self.is_weighted else ""


def measures(
    task: Task,
    y: ArrayLike,
    predicted: ArrayLike,
    *,
    needs: Needs = "prediction",
    splits: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    threshold: float = 0.5,
    confidence: float = 0.9,
    inflation: float = 1.0,
    allowances: Mapping[str, Allowance] | None = None,
) -> Measures:
    """Compute the measures of predictions that suit the task, each with an interval.

    Intervals come from the influence of each row on a measure, with rows of one group as one
    observation; on the log-odds scale for shares, the logarithmic one for ratios. They take
    predictions as given: out of fold, `inflation` allows for fits that share rows.

    Parameters
    ----------
    task
        What is predicted.
    y
        The truth; classes as codes 0, 1, ...
    predicted
        Numbers; or one column of probabilities a class; or class codes; or margins.
    needs
        Which of these it is, as in `Loss.needs`: "prediction", "probability", "label", "margin".
    splits
        Which fit made each prediction. Scores of different fits are not compared in a ranking.
    weights
        Of the rows; every measure is weighted.
    groups
        The group of each row, or the row itself where rows are predicted more than once.
    threshold
        Of two classes, the second is predicted where its probability is above this.
    confidence
        The level of the intervals.
    inflation
        By how much standard errors are larger than those of independent rows; see
        `Interval.inflation`.
    allowances
        By name, what the intervals of measures allow for, where it is known of each: see
        `Allowance`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> predicted = rng.normal(size=200)
    >>> result = measures(Task.REGRESSION, predicted + rng.normal(size=200), predicted)
    >>> low, high = result.interval("r2")
    >>> low < result["r2"] < high
    True
    """
    predictions = np.asarray(predicted, dtype=np.float64)
    truth = np.asarray(y)
    if len(predictions) != len(truth):
        raise InputError(
            f"there are {len(truth)} values of y, but {len(predictions)} predictions",
            parameter="predicted",
        )
    check_threshold(threshold)
    check_confidence(confidence)
    sample = _sample(truth, splits, weights, groups, confidence, inflation, allowances or {})
    _measure(sample, task, truth, predictions, needs, threshold)
    is_binary = needs == "probability" and predictions.ndim == 2 and predictions.shape[1] == 2
    return Measures(
        sample.values,
        sample.low,
        sample.high,
        len(sample.rows),
        threshold if is_binary else None,
        weights is not None,
        len(truth) - len(sample.rows),
        confidence,
        moved=sample.moved,
        capped=sample.capped,
    )


def _moved(n: int) -> str:
    """Say that predictions were moved to where their link is finite."""
    return count(
        n,
        f"prediction of 0 or 1 has no finite log-odds and is moved by {EDGE:g}",
        f"predictions of 0 or 1 have no finite log-odds and are moved by {EDGE:g}",
    )


def capped_words(n: int) -> str:
    """Say that losses would be infinite."""
    return count(n, "infinite loss is capped", "infinite losses are capped")


def smooth_estimates(
    task: Task,
    y: ArrayLike,
    predicted: ArrayLike,
    *,
    needs: Needs = "prediction",
    splits: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    threshold: float = 0.5,
) -> dict[str, Estimate]:
    """Return the measures that are smooth functions of the rows, with the influence of each row.

    The options are those of `measures`. Rows of weight 0 have the influence 0.
    """
    truth = np.asarray(y)
    sample = _sample(truth, splits, weights, groups, None, 1.0, {})
    _measure(sample, task, truth, np.asarray(predicted, dtype=np.float64), needs, threshold)
    return _over_all_rows(sample, len(truth))


def _over_all_rows(sample: "_Sample", n_rows: int) -> dict[str, Estimate]:
    """Return estimates with the influence 0 of rows that do not count."""
    full = {}
    for name, one in sample.estimates.items():
        influence = np.zeros(n_rows)
        influence[sample.rows] = one.influence
        full[name] = Estimate(one.value, influence, one.scale)
    return full


def _sample(
    truth: NDArray[Any],
    splits: ArrayLike | None,
    weights: ArrayLike | None,
    groups: ArrayLike | None,
    confidence: float | None,
    inflation: float,
    allowances: Mapping[str, Allowance],
) -> "_Sample":
    """Return the rows that count."""
    rows, shares = counted(weights, len(truth))
    fits = np.zeros(len(truth), dtype=np.intp) if splits is None else np.asarray(splits)
    units = np.arange(len(rows))
    if groups is not None:
        units = np.unique(np.asarray(groups)[rows], return_inverse=True)[1]
    return _Sample(
        rows, shares, units.astype(np.intp), fits[rows], confidence, inflation, allowances
    )


def _measure(
    sample: "_Sample",
    task: Task,
    y: NDArray[Any],
    predicted: Floats,
    needs: Needs,
    threshold: float,
) -> None:
    """Add the measures that suit the task to a sample."""
    truth, predictions = y[sample.rows], predicted[sample.rows]
    if not task.is_classification:
        _of_numbers(sample, task, truth.astype(np.float64), predictions)
    elif needs == "probability":
        _of_probabilities(sample, task, truth.astype(np.int64), predictions, threshold)
    else:
        _of_labels(sample, truth, labels_of(predictions, needs, threshold))
        if needs == "margin":
            _of_ranking(sample, truth == 1, predictions)


def check_threshold(threshold: object) -> None:
    """Refuse what is not a probability between 0 and 1."""
    if not isinstance(threshold, int | float) or not 0 < threshold < 1:
        raise bad_value("threshold", threshold, "it must lie between 0 and 1, such as 0.5")


@dataclass(frozen=True, eq=False)
class _Sample:
    """The rows that measures are computed from, and the measures computed so far."""

    rows: Index
    weights: Floats
    units: Index
    fits: NDArray[Any]
    confidence: float | None  # None for values without intervals
    inflation: float
    allowances: Mapping[str, Allowance]
    values: dict[str, float] = field(default_factory=dict)
    low: dict[str, float] = field(default_factory=dict)
    high: dict[str, float] = field(default_factory=dict)
    estimates: dict[str, Estimate] = field(default_factory=dict)
    moved: dict[str, int] = field(default_factory=dict)
    capped: dict[str, int] = field(default_factory=dict)

    def pairs(self, truth: NDArray[Any], predicted: Floats) -> Pairs:
        return Pairs(truth.astype(np.float64), predicted, self.weights, self.units, 0)

    def mean(self, values: NDArray[Any]) -> float:
        return float(np.average(values, weights=self.weights))

    def allowance(self, name: str) -> Allowance:
        """Return what the interval of a measure allows for."""
        return self.allowances.get(name, Allowance(self.inflation))

    def add(self, name: str, value: float, ends: tuple[float, float] = (np.nan, np.nan)) -> None:
        """Keep a measure and the ends of its interval."""
        self.values[name] = without_rounding(value, *ends)
        self.low[name], self.high[name] = ends

    def estimate(self, name: str, estimate: Estimate, pairs: Pairs) -> None:
        """Keep a measure whose interval follows from the influence of the rows."""
        self.estimates[name] = estimate
        ends = (np.nan, np.nan)
        if self.confidence is not None:
            ends = bounds(estimate, pairs, self.confidence, self.allowance(name))
        self.add(name, estimate.value, ends)

    def average(self, name: str, values: NDArray[Any], kind: Kind) -> None:
        """Keep a mean."""
        mean = Mean.of(values, self.weights, self.units)
        self.estimates[name] = Estimate(mean.mean, values - mean.mean)
        ends = (np.nan, np.nan)
        if self.confidence is not None:
            extra = self.allowance(name)
            ends = around(mean, kind, self.confidence, inflation=extra.inflation)
            ends = moved(mean.mean, ends, extra.shift)
            if kind == "probability":
                ends = max(ends[0], 0.0), min(ends[1], 1.0)
        self.add(name, mean.mean, ends)

    def gain(self, name: str, losses: Floats, of_constant: Floats, pairs: Pairs) -> None:
        """Keep one minus the ratio of two mean losses."""
        least = self.mean(of_constant)
        if not least > 0:
            self.add(name, np.nan)
            return
        ratio = self.mean(losses) / least
        influence = (ratio * of_constant - losses) / least
        self.estimate(name, Estimate(1 - ratio, influence, GAIN), pairs)


def _of_numbers(sample: _Sample, task: Task, y: Floats, predicted: Floats) -> None:
    pairs = sample.pairs(y, predicted)
    mean, errors = sample.mean(y), (y - predicted) ** 2
    if task is not Task.REGRESSION:
        _explained(sample, default_loss(task, y), y, predicted, mean, pairs)
    sample.gain("r2", errors, (y - mean) ** 2, pairs)
    squares = sample.mean(errors)
    root = float(np.sqrt(squares))
    influence = (errors - squares) / (2 * root) if root > 0 else np.zeros(len(y))
    sample.estimate("rmse", Estimate(root, influence, LOG), pairs)
    sample.average("mae", np.abs(y - predicted), "number")
    if (y >= 0).all() and mean > 0:
        score = ranks_within(predicted, sample.fits, sample.weights)
        gini = concentration(y, score, sample.weights)
        sample.estimate("gini", gini, pairs)
        perfect = concentration(y, y, sample.weights)
        sample.estimate("gini_normalised", normalised(gini, perfect), pairs)
    _of_calibration(sample, task, pairs, "number")


def _explained(
    sample: _Sample,
    loss: Loss,
    y: NDArray[Any],
    predicted: Floats,
    constant: ArrayLike,
    pairs: Pairs,
) -> None:
    """Add by how much the deviance is below that of a constant."""
    sample.gain("deviance_explained", *deviances(loss, y, predicted, constant), pairs)
    if n := loss.capped(y, predicted):
        sample.capped["deviance_explained"] = n


def deviances(
    loss: Loss, y: NDArray[Any], predicted: Floats, constant: ArrayLike
) -> tuple[Floats, Floats]:
    """Return the loss of each row, and that of predicting a constant; NaN where undefined."""
    same = np.array(np.broadcast_to(constant, predicted.shape))
    try:
        return loss.per_row(y, predicted), loss.per_row(y, same)
    except InputError:  # a prediction that a deviance is not defined for
        return np.full(len(y), np.nan), np.full(len(y), np.nan)


def _of_calibration(sample: _Sample, task: Task, pairs: Pairs, kind: Kind) -> None:
    """Add ratio, level, line and distance of what is observed and what is predicted."""
    y, p = pairs.truth, pairs.predicted
    link = link_of(task, p)
    _level(sample, pairs)
    _in_the_large(sample, pairs, link)
    _line(sample, pairs, kind)
    if n := n_moved(p, link):
        names = ["calibration_in_the_large", "ici"]
        names += ["calibration_slope", "calibration_intercept"] if kind == "probability" else []
        sample.moved.update(dict.fromkeys(names, n))
    if sample.confidence is None:
        return
    if kind == "probability":
        sample.add("calibration_error", calibration_error(y, p, weights=sample.weights))
    smooth = smoothed(pairs, link)
    if smooth is None:
        sample.add("ici", np.nan)
    else:
        inflation = curve_inflation(sample.allowance)
        value, low, high = smooth.distance(pairs, sample.confidence, inflation=inflation)
        sample.add("ici", value, (low, high))


def _level(sample: _Sample, pairs: Pairs) -> None:
    """Add the sum of what is observed over the sum of what is predicted."""
    y, p = pairs.truth, pairs.predicted
    observed, expected = sample.mean(y), sample.mean(p)
    if observed > 0 and (y >= 0).all() and (p >= 0).all() and expected > 0:
        ratio = observed / expected
        influence = (y - ratio * p) / expected
        sample.estimate(LEVEL, Estimate(ratio, influence, LOG), pairs)


def level_estimate(
    y: ArrayLike,
    predicted: ArrayLike,
    weights: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> dict[str, Estimate]:
    """Return observed / expected of numbers alone, as `smooth_estimates` does with all measures."""
    truth = np.asarray(y, np.float64)
    sample = _sample(truth, None, weights, groups, None, 1.0, {})
    predictions = np.asarray(predicted, np.float64)[sample.rows]
    _level(sample, sample.pairs(truth[sample.rows], predictions))
    return _over_all_rows(sample, len(truth))


def curve_inflation(allowance: Callable[[str], Allowance]) -> float:
    """Return by how much errors of the smooth curve are larger than those of independent rows.

    Fits that share rows move the curve as they move the line.
    """
    names = ("calibration_in_the_large", "calibration_slope")
    return max(allowance(name).inflation for name in names)


def _line(sample: _Sample, pairs: Pairs, kind: Kind) -> None:
    """Add slope and intercept of the truth on the prediction."""
    regression = regression_of(pairs, kind)
    for name in ("slope", "intercept"):
        measure = f"calibration_{name}"
        if regression is None:
            sample.add(measure, np.nan)
            continue
        sample.estimates[measure] = regression.estimates[name]
        ends = (np.nan, np.nan)
        if sample.confidence is not None:
            ends = regression.bounds(name, sample.confidence, sample.allowance(measure))
        sample.add(measure, regression.estimates[name].value, ends)


def _in_the_large(sample: _Sample, pairs: Pairs, link: Any) -> None:
    """Add the constant by which predictions are too low on the scale of the link."""
    fit = fit_link(np.ones((len(pairs.truth), 1)), pairs, link, linked(pairs.predicted, link))
    if fit is None:
        sample.add("calibration_in_the_large", np.nan)
        return
    scores = pairs.truth - fit.fitted
    slope = {"logit": fit.fitted * (1 - fit.fitted), "log": fit.fitted}.get(
        link, np.ones(len(scores))
    )
    estimate = Estimate(float(fit.coefficients[0]), scores / sample.mean(slope))
    sample.estimate("calibration_in_the_large", estimate, pairs)


def labels_of(predicted: Floats, needs: Needs, threshold: float) -> NDArray[np.intp]:
    """Return the class that is predicted, as a position: of two, by the threshold."""
    if needs != "probability":
        return np.asarray(predicted > 0 if needs == "margin" else predicted, dtype=np.intp)
    if predicted.shape[1] == 2:
        return np.asarray(predicted[:, 1] > threshold, dtype=np.intp)
    return np.asarray(predicted.argmax(axis=1))


def _of_labels(sample: _Sample, y: NDArray[Any], chosen: NDArray[Any]) -> None:
    sample.average("accuracy", (chosen == y).astype(np.float64), "probability")
    shares = np.bincount(y.astype(np.int64), sample.weights) / sample.weights.sum()
    sample.add("majority", float(shares.max()))


def _of_ranking(sample: _Sample, member: NDArray[Any], score: Floats) -> None:
    pairs = sample.pairs(member, ranks_within(score, sample.fits, sample.weights))
    area = auc(member, score, sample.fits, sample.weights)
    sample.estimate("auc", area, pairs)
    sample.estimate("gini_normalised", gini_of_auc(area), pairs)
    precision = average_precision(member, pairs.predicted, sample.weights)
    if not np.isfinite(area.value):
        sample.add("ks", np.nan)
        sample.add("average_precision", np.nan)
        return
    if sample.confidence is not None:
        distance, _ = ks(pairs)
        extra = sample.allowance("gini_normalised")
        ends = ks_bounds(pairs, sample.confidence, inflation=extra.inflation)
        sample.add("ks", distance, ends)
    sample.estimate("average_precision", precision, pairs)


def _of_probabilities(
    sample: _Sample, task: Task, y: NDArray[np.int64], p: Floats, threshold: float
) -> None:
    is_binary = p.shape[1] == 2
    chosen = labels_of(p, "probability", threshold)
    _of_labels(sample, y, chosen)
    shares = np.bincount(y, sample.weights, p.shape[1]) / sample.weights.sum()
    pairs = sample.pairs(y, p[:, -1])
    if is_binary:
        _of_ranking(sample, y == 1, p[:, 1])
    else:
        areas = [auc(y == k, p[:, k], sample.fits, sample.weights) for k in np.unique(y)]
        known = [area for area in areas if np.isfinite(area.value)]
        if known:
            mean = float(np.mean([area.value for area in known]))
            influence = np.mean([area.influence for area in known], axis=0)
            sample.estimate("auc", Estimate(mean, influence, LOGIT), pairs)
        else:
            sample.add("auc", np.nan)
    _explained(sample, default_loss(task), y, p, shares, pairs)
    if is_binary:
        _of_calibration(sample, task, pairs, "probability")
    else:
        of_chosen = p[np.arange(len(y)), chosen]
        error = calibration_error(chosen == y, of_chosen, weights=sample.weights)
        sample.add("calibration_error", error)
