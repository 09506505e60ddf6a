"""Measures besides the loss: ranking, explained variance and calibration."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import roc_auc_score

from clearwood._shared.arrays import Bools, Floats
from clearwood._shared.errors import InputError, bad_value
from clearwood._shared.frames import plain
from clearwood._shared.numbers import number
from clearwood._shared.results import Result
from clearwood._shared.weights import counted
from clearwood.evaluation.calibration import calibration_error, calibration_line
from clearwood.losses import Needs
from clearwood.table import Task

__all__ = ["MEANINGS", "Measures", "check_threshold", "measures"]

#: What each measure means.
MEANINGS: Mapping[str, str] = {
    "r2": "1 - squared error / squared distance of the target to its mean over the held-out rows",
    "rmse": "root of the mean squared error",
    "mae": "mean absolute error",
    "accuracy": "share of rows whose predicted class is correct",
    "majority": "share of the rows in the most frequent class: the accuracy of always predicting "
    "it",
    "auc": "share of pairs of a member and a non-member of a class that are ranked correctly; with "
    "several classes, the mean of each against the rest; within each fit, then averaged",
    "calibration_slope": "slope of the truth on the prediction (on the log-odds of a "
    "probability); 1 if calibrated, below 1 if predictions are too extreme",
    "calibration_intercept": "intercept of that line; 0 if calibrated",
    "calibration_error": "mean distance between predictions and observations in 10 bins of equally "
    "many rows; with several classes, for the predicted class",
}


@dataclass(frozen=True)
class Measures(Result):
    """Measures of one learner on held-out rows.

    Parameters
    ----------
    values
        By name; `meanings` explains them. NaN where a measure is not determined.
    rows
        How many predictions they are based on, those of weight 0 left out.
    threshold
        For two classes with probabilities: the second is predicted where its probability is above
        this; None otherwise.
    is_weighted
        Whether rows count by their weight in all measures.
    zero_weights
        How many predictions have the weight 0 and do not count.
    """

    values: Mapping[str, float] = field(default_factory=dict)
    rows: int = 0
    threshold: float | None = None
    is_weighted: bool = False
    zero_weights: int = 0

    def __getitem__(self, name: str) -> float:
        return self.values[name]

    @property
    def meanings(self) -> dict[str, str]:
        """What each measure means, by name."""
        meanings = {name: MEANINGS[name] for name in self.values}
        if self.threshold is not None:
            above = f"the second class is predicted where p > {number(self.threshold)}"
            meanings["accuracy"] += f"; {above}"
        if self.is_weighted:
            return {name: f"{meaning} (weighted)" for name, meaning in meanings.items()}
        return meanings

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "measure": list(self.values),
            "value": list(self.values.values()),
            "meaning": list(self.meanings.values()),
        }

    def to_json(self) -> dict[str, float | None]:
        """Return the values by name; what is not determined becomes None."""
        return {name: plain(value) for name, value in self.values.items()}

    def __repr__(self) -> str:
        written = [f"{name} {number(value, 4)}" for name, value in self.values.items()]
        return f"Measures({'weighted: ' if self.is_weighted else ''}{', '.join(written)})"


def measures(
    task: Task,
    y: ArrayLike,
    predicted: ArrayLike,
    *,
    needs: Needs = "prediction",
    splits: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    threshold: float = 0.5,
) -> Measures:
    """Compute the measures of predictions that suit the task.

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
        Which fit made each prediction. Scores of different fits are not compared in the AUC.
    weights
        Of the rows; every measure is weighted.
    threshold
        Of two classes, the second is predicted where its probability is above this.

    Examples
    --------
    >>> measures(Task.REGRESSION, [1.0, 2.0, 3.0], [1.5, 2.0, 2.5])
    Measures(r2 0.75, rmse 0.4082, mae 0.3333, calibration_slope 2, calibration_intercept -2)
    """
    predictions = np.asarray(predicted, dtype=np.float64)
    truth = np.asarray(y)
    if len(predictions) != len(truth):
        raise InputError(
            f"there are {len(truth)} values of y, but {len(predictions)} predictions",
            parameter="predicted",
        )
    check_threshold(threshold)
    rows, shares = counted(weights, len(truth))
    fits = np.zeros(len(truth), dtype=np.int64) if splits is None else np.asarray(splits)
    truth, predictions, fits = truth[rows], predictions[rows], fits[rows]
    is_binary = needs == "probability" and predictions.ndim == 2 and predictions.shape[1] == 2
    if not task.is_classification:
        values = _of_numbers(truth.astype(np.float64), predictions, shares)
    elif needs == "probability":
        values = _of_probabilities(truth.astype(np.int64), predictions, fits, shares, threshold)
    elif needs == "margin":
        values = _of_labels(truth, predictions > 0, shares)
        values["auc"] = _auc(truth == 1, predictions, fits, shares)
    else:
        values = _of_labels(truth, predictions, shares)
    return Measures(
        values,
        len(rows),
        threshold if is_binary else None,
        weights is not None,
        len(np.asarray(y)) - len(rows),
    )


def check_threshold(threshold: object) -> None:
    """Refuse what is not a probability between 0 and 1."""
    if not isinstance(threshold, int | float) or not 0 < threshold < 1:
        raise bad_value("threshold", threshold, "it must lie between 0 and 1, such as 0.5")


def _of_numbers(y: Floats, predicted: Floats, weights: Floats) -> dict[str, float]:
    squares = float(np.average((y - predicted) ** 2, weights=weights))
    spread = float(np.average((y - np.average(y, weights=weights)) ** 2, weights=weights))
    line = calibration_line(y, predicted, kind="number", weights=weights)
    return {
        "r2": 1 - squares / spread if spread > 0 else np.nan,
        "rmse": float(np.sqrt(squares)),
        "mae": float(np.average(np.abs(y - predicted), weights=weights)),
        "calibration_slope": line.slope,
        "calibration_intercept": line.intercept,
    }


def _of_labels(y: NDArray[Any], chosen: NDArray[Any], weights: Floats) -> dict[str, float]:
    shares = np.bincount(y.astype(np.int64), weights) / weights.sum()
    return {
        "accuracy": float(np.average(chosen == y, weights=weights)),
        "majority": float(shares.max()),
    }


def _of_probabilities(
    y: NDArray[np.int64], p: Floats, fits: NDArray[Any], weights: Floats, threshold: float
) -> dict[str, float]:
    if p.shape[1] > 2:
        chosen = p.argmax(axis=1)
        values = _of_labels(y, chosen, weights)
        by_class = [_auc(y == label, p[:, label], fits, weights) for label in np.unique(y)]
        values["auc"] = float(np.nanmean(by_class)) if np.isfinite(by_class).any() else np.nan
        of_chosen = p[np.arange(len(y)), chosen]
        values["calibration_error"] = calibration_error(chosen == y, of_chosen, weights=weights)
        return values
    line = calibration_line(y, p[:, 1], kind="probability", weights=weights)
    return {
        **_of_labels(y, p[:, 1] > threshold, weights),
        "auc": _auc(y == 1, p[:, 1], fits, weights),
        "calibration_slope": line.slope,
        "calibration_intercept": line.intercept,
        "calibration_error": calibration_error(y, p[:, 1], weights=weights),
    }


def _auc(member: Bools, score: Floats, fits: NDArray[Any], weights: Floats) -> float:
    """Return the mean over fits, each weighted by its pairs of a member and a non-member."""
    areas, pairs = [], []
    for fit in np.unique(fits):
        own = fits == fit
        count = float(weights[own & member].sum() * weights[own & ~member].sum())
        if count:
            areas.append(roc_auc_score(member[own], score[own], sample_weight=weights[own]))
            pairs.append(count)
    return float(np.average(areas, weights=pairs)) if pairs else np.nan
