"""Measures besides the loss: ranking, explained variance and calibration."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import roc_auc_score

from clearwood._shared.arrays import Bools, Floats
from clearwood._shared.errors import InputError
from clearwood._shared.frames import plain
from clearwood._shared.numbers import number
from clearwood._shared.results import Result
from clearwood.benchmarking.diagnostics.calibration import calibration_error, calibration_line
from clearwood.losses import Needs
from clearwood.table import Task

__all__ = ["MEANINGS", "Measures", "measures"]

#: What each measure means.
MEANINGS: Mapping[str, str] = {
    "r2": "1 - squared error / squared distance of the target to its mean over the held-out rows",
    "rmse": "root of the mean squared error",
    "mae": "mean absolute error",
    "accuracy": "share of rows whose most probable class is correct",
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
        How many predictions they are based on.
    """

    values: Mapping[str, float] = field(default_factory=dict)
    rows: int = 0

    def __getitem__(self, name: str) -> float:
        return self.values[name]

    @property
    def meanings(self) -> dict[str, str]:
        """What each measure means, by name."""
        return {name: MEANINGS[name] for name in self.values}

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
        return f"Measures({', '.join(written)})"


def measures(
    task: Task,
    y: ArrayLike,
    predicted: ArrayLike,
    *,
    needs: Needs = "prediction",
    splits: ArrayLike | None = None,
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
    fits = np.zeros(len(truth), dtype=np.int64) if splits is None else np.asarray(splits)
    if not task.is_classification:
        values = _of_numbers(truth.astype(np.float64), predictions)
    elif needs == "probability":
        values = _of_probabilities(truth.astype(np.int64), predictions, fits)
    elif needs == "margin":
        values = {
            "accuracy": float(np.mean((predictions > 0) == (truth == 1))),
            "auc": _auc(truth == 1, predictions, fits),
        }
    else:
        values = {"accuracy": float(np.mean(predictions == truth))}
    return Measures(values, len(truth))


def _of_numbers(y: Floats, predicted: Floats) -> dict[str, float]:
    squares = (y - predicted) ** 2
    spread = ((y - y.mean()) ** 2).sum()
    slope, intercept = calibration_line(y, predicted, kind="number")
    return {
        "r2": float(1 - squares.sum() / spread) if spread > 0 else np.nan,
        "rmse": float(np.sqrt(squares.mean())),
        "mae": float(np.abs(y - predicted).mean()),
        "calibration_slope": slope,
        "calibration_intercept": intercept,
    }


def _of_probabilities(y: NDArray[np.int64], p: Floats, fits: NDArray[Any]) -> dict[str, float]:
    chosen = p.argmax(axis=1)
    right = chosen == y
    values = {"accuracy": float(right.mean())}
    if p.shape[1] > 2:
        by_class = [_auc(y == label, p[:, label], fits) for label in np.unique(y)]
        values["auc"] = float(np.nanmean(by_class)) if np.isfinite(by_class).any() else np.nan
        values["calibration_error"] = calibration_error(right, p[np.arange(len(y)), chosen])
        return values
    values["auc"] = _auc(y == 1, p[:, 1], fits)
    slope, intercept = calibration_line(y, p[:, 1], kind="probability")
    values |= {"calibration_slope": slope, "calibration_intercept": intercept}
    values["calibration_error"] = calibration_error(y, p[:, 1])
    return values


def _auc(member: Bools, score: Floats, fits: NDArray[Any]) -> float:
    """Return the mean over fits, each weighted by its pairs of a member and a non-member."""
    areas, pairs = [], []
    for fit in np.unique(fits):
        own = fits == fit
        count = int(member[own].sum()) * int((~member[own]).sum())
        if count:
            areas.append(roc_auc_score(member[own], score[own]))
            pairs.append(count)
    return float(np.average(areas, weights=pairs)) if pairs else np.nan
