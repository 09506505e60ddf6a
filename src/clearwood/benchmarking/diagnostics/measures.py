"""Measures beside the loss: how well predictions rank, explain and keep their word."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import roc_auc_score

from clearwood._shared.errors import InputError
from clearwood._shared.frames import plain
from clearwood._shared.results import Result
from clearwood.benchmarking.diagnostics.calibration import calibration_error, calibration_line
from clearwood.losses import Needs
from clearwood.table import Task

__all__ = ["MEANINGS", "Measures", "measures"]

Array = NDArray[np.float64]

#: What each measure says.
MEANINGS: Mapping[str, str] = {
    "r2": "1 - squared error / squared distance of the target to its mean over the tested rows",
    "rmse": "root of the mean squared error",
    "mae": "mean absolute error",
    "accuracy": "share of rows whose most probable class is right",
    "auc": "share of pairs of a member and a non-member that are ranked right; of several classes, "
    "the mean over classes, each against the rest; within each fit, then averaged",
    "calibration_slope": "slope of the truth on the prediction (on its log-odds, for a "
    "probability); 1 if calibrated, below 1 if too extreme",
    "calibration_intercept": "where that line starts; 0 if calibrated",
    "calibration_error": "mean distance of what was predicted and observed in 10 bins of equally "
    "many rows; of several classes, for the class predicted",
}


@dataclass(frozen=True)
class Measures(Result):
    """Measures of one learner on rows it had not seen.

    Parameters
    ----------
    values
        By name; `MEANINGS` says what they are. NaN where a measure is not determined.
    rows
        How many predictions they rest on.
    """

    values: Mapping[str, float] = field(default_factory=dict)
    rows: int = 0

    def __getitem__(self, name: str) -> float:
        return self.values[name]

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "measure": list(self.values),
            "value": list(self.values.values()),
            "meaning": [MEANINGS[name] for name in self.values],
        }

    def to_json(self) -> dict[str, float | None]:
        """Give the values by name; what is not determined becomes None."""
        return {name: plain(value) for name, value in self.values.items()}

    def __repr__(self) -> str:
        told = ", ".join(f"{name} {value:.4g}" for name, value in self.values.items())
        return f"Measures({told})"


def measures(
    task: Task,
    y: ArrayLike,
    predicted: ArrayLike,
    *,
    needs: Needs = "prediction",
    splits: ArrayLike | None = None,
) -> Measures:
    """Measures that go with a task and with what was predicted.

    Parameters
    ----------
    task
        What is predicted.
    y
        The truth; classes as codes 0, 1, ...
    predicted
        Numbers; or one column of probabilities a class; or class codes; or margins.
    needs
        Which of these it is, as a `Loss` says: "prediction", "probability", "label", "margin".
    splits
        Which fit made each prediction. Scores of different fits are not compared in the AUC.

    Examples
    --------
    >>> measures(Task.REGRESSION, [1.0, 2.0, 3.0], [1.5, 2.0, 2.5])
    Measures(r2 0.75, rmse 0.4082, mae 0.3333, calibration_slope 2, calibration_intercept -2)
    """
    told = np.asarray(predicted, dtype=np.float64)
    truth = np.asarray(y)
    if len(told) != len(truth):
        raise InputError(f"there are {len(truth)} values of y, but {len(told)} predictions")
    fits = np.zeros(len(truth), dtype=np.int64) if splits is None else np.asarray(splits)
    if not task.is_classification:
        found = _of_numbers(truth.astype(np.float64), told)
    elif needs == "probability":
        found = _of_probabilities(truth.astype(np.int64), told, fits)
    elif needs == "margin":
        found = {
            "accuracy": float(np.mean((told > 0) == (truth == 1))),
            "auc": _auc(truth == 1, told, fits),
        }
    else:
        found = {"accuracy": float(np.mean(told == truth))}
    return Measures(found, len(truth))


def _of_numbers(y: Array, predicted: Array) -> dict[str, float]:
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


def _of_probabilities(y: NDArray[np.int64], p: Array, fits: NDArray[Any]) -> dict[str, float]:
    chosen = p.argmax(axis=1)
    right = chosen == y
    found = {"accuracy": float(right.mean())}
    if p.shape[1] > 2:
        by_class = [_auc(y == label, p[:, label], fits) for label in np.unique(y)]
        found["auc"] = float(np.nanmean(by_class)) if np.isfinite(by_class).any() else np.nan
        found["calibration_error"] = calibration_error(right, p[np.arange(len(y)), chosen])
        return found
    found["auc"] = _auc(y == 1, p[:, 1], fits)
    slope, intercept = calibration_line(y, p[:, 1], kind="probability")
    found |= {"calibration_slope": slope, "calibration_intercept": intercept}
    found["calibration_error"] = calibration_error(y, p[:, 1])
    return found


def _auc(member: NDArray[np.bool_], score: Array, fits: NDArray[Any]) -> float:
    """Mean over fits, each weighted by its pairs of a member and a non-member."""
    areas, pairs = [], []
    for fit in np.unique(fits):
        own = fits == fit
        count = int(member[own].sum()) * int((~member[own]).sum())
        if count:
            areas.append(roc_auc_score(member[own], score[own]))
            pairs.append(count)
    return float(np.average(areas, weights=pairs)) if pairs else np.nan
