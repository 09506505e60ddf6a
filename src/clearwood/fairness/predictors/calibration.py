"""Predictions brought to the level of the target, and never out of its range."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import logsumexp

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.errors import InputError, Option, words
from clearwood._shared.results import Result

__all__ = ["Calibration", "Way", "calibrated_to_classes", "calibrated_to_numbers"]

Way = Literal["scale", "level", "linear"]

_ROUNDS = 2_000
_CLOSE = 1e-13


@dataclass(frozen=True)
class Calibration(Result):
    """How predictions are changed so that their mean is that of the target.

    A number ``f`` becomes ``shift + factor × f``, and where the target cannot be negative no less
    than 0. Of classes, the log of each probability becomes ``shift[k] + factor × log p[k]``, and
    the probabilities are then divided by their sum: for two classes a change of the log odds, so
    they stay between 0 and 1.

    Parameters
    ----------
    kind
        What was asked for: "scale", "level" or "linear"; None where predictions stay as they are.
    shift
        What is added: one number, or one for each class.
    factor
        What predictions, or log probabilities, are multiplied by.
    floor
        The least prediction; None where there is none.
    of_classes
        Whether probabilities are calibrated.

    Examples
    --------
    >>> Calibration("scale", (0.0,), 1.25).apply(np.array([[1.0], [2.0]])).ravel()
    array([1.25, 2.5 ])
    """

    kind: Way | None = None
    shift: tuple[float, ...] = (0.0,)
    factor: float = 1.0
    floor: float | None = None
    of_classes: bool = False

    def apply(self, predicted: Floats) -> Floats:
        """Return the predictions, one row each, as they are after calibration."""
        if self.kind is None:
            return predicted
        shift = np.asarray(self.shift)
        if self.of_classes:
            return _tilted(_logs(predicted), shift, self.factor)
        moved = shift + self.factor * predicted
        return moved if self.floor is None else np.asarray(np.maximum(moved, self.floor))


def calibrated_to_numbers(
    predicted: Floats, target: Floats, weights: Floats, kind: Way, *, floor: float | None
) -> Calibration:
    """Find the calibration after which the weighted mean of the predictions is the target's.

    Parameters
    ----------
    predicted
        The predictions.
    target
        What was observed.
    weights
        How much each row counts.
    kind
        "scale" multiplies; "level" adds; "linear" does both, by least squares. Where predictions or
        the target are negative for some rows, the zero is arbitrary, and "scale" adds as well.
    floor
        The least value of the target; None where there is none.

    Examples
    --------
    >>> rates = np.array([0.1, 0.3])
    >>> calibrated_to_numbers(rates, np.array([0.0, 0.5]), np.ones(2), "scale", floor=0).factor
    1.25
    """
    mean, wanted = (float(np.average(values, weights=weights)) for values in (predicted, target))
    if kind == "scale" and predicted.min() >= 0 and target.min() >= 0:
        if mean <= 0:
            raise InputError(
                "every prediction is 0, so no factor brings them to the mean of the target",
                parameter="calibrate",
                value=kind,
                hint=words("set ", Option("calibrate", "level"), "."),
            )
        return Calibration("scale", (0.0,), wanted / mean, floor)
    factor = 1.0
    if kind == "linear":
        centred = predicted - mean
        spread = float(np.average(centred**2, weights=weights))
        factor = float(np.average(centred * (target - wanted), weights=weights))
        factor = factor / spread if spread > 0 else 1.0
        if not factor > 0:
            raise InputError(
                "where the predictions are greater the target is not, so they cannot be calibrated "
                "by a straight line",
                parameter="calibrate",
                value=kind,
                hint=words("set ", Option("calibrate", "scale"), "."),
            )
    shift = wanted - factor * mean
    if floor is not None and shift + factor * predicted.min() < floor:
        shift = _above(factor * predicted, weights, wanted, floor)
    return Calibration("level" if kind == "scale" else kind, (shift,), factor, floor)


def _above(predicted: Floats, weights: Floats, wanted: float, floor: float) -> float:
    """Return the shift with which the mean is as wanted although none falls below the floor."""

    def excess(shift: float) -> float:
        return float(np.average(np.maximum(predicted + shift, floor), weights=weights)) - wanted

    low, high = floor - predicted.max(), wanted - predicted.min()
    return low if excess(low) >= 0 else float(brentq(excess, low, high, xtol=1e-300, rtol=1e-15))


def calibrated_to_classes(
    predicted: Floats, codes: Index, weights: Floats, kind: Way
) -> Calibration:
    """Find the calibration after which the mean probability of each class is its share.

    Parameters
    ----------
    predicted
        Probabilities: one column for each class.
    codes
        The class of each row.
    weights
        How much each row counts.
    kind
        "scale" and "level" multiply the odds of each class by a constant; "linear" also raises
        them to a power, by the log loss.

    Examples
    --------
    >>> p = np.array([[0.9, 0.1], [0.6, 0.4], [0.3, 0.7]])
    >>> calibration = calibrated_to_classes(p, np.array([0, 1, 1]), np.ones(3), "scale")
    >>> calibration.apply(p).mean(axis=0).round(6)
    array([0.333333, 0.666667])
    """
    shares = np.bincount(codes, weights, minlength=predicted.shape[1]) / weights.sum()
    if (shares > 0).sum() < 2:
        raise InputError(
            "the rows have one class only, so probabilities cannot be calibrated",
            parameter="calibrate",
            value=kind,
            hint=words("set ", Option("calibrate", None), ", or give rows of every class."),
        )
    logs = _logs(predicted)
    factor = 1.0
    if kind == "linear":

        def loss(power: float) -> float:
            factor = float(np.exp(power))
            chosen = _tilted(logs, _shifts(logs, shares, weights, factor), factor)
            likely = np.maximum(chosen[np.arange(len(codes)), codes], 1e-300)
            return -float(np.average(np.log(likely), weights=weights))

        factor = float(np.exp(minimize_scalar(loss, bounds=(-4, 4), method="bounded").x))
    shift = _shifts(logs, shares, weights, factor)
    return Calibration(kind, tuple(shift.tolist()), factor, of_classes=True)


def _logs(predicted: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(predicted))


def _tilted(logs: Floats, shift: Any, factor: float) -> Floats:
    """Return the probabilities whose logs are shifted and multiplied."""
    raw = shift + factor * logs
    return np.asarray(np.exp(raw - logsumexp(raw, axis=1, keepdims=True)))


def _shifts(logs: Floats, shares: Floats, weights: Floats, factor: float) -> Floats:
    """Return the shifts with which the mean of each class is its share, the first one zero."""
    if len(shares) == 2:
        return _shift_of_two(logs, float(shares[1]), weights, factor)
    shift = np.zeros(len(shares))
    known = shares > 0
    shift[~known] = -np.inf
    for _ in range(_ROUNDS):  # iterative proportional fitting
        mean = np.average(_tilted(logs, shift, factor), axis=0, weights=weights)
        change = np.log(shares[known]) - np.log(np.maximum(mean[known], 1e-300))
        shift[known] += change
        if np.abs(change).max() < _CLOSE:
            break
    first = shift[known][0]
    return np.asarray(np.where(known, shift - first, -np.inf))


def _shift_of_two(logs: Floats, share: float, weights: Floats, factor: float) -> Floats:
    """Return the shift of the log odds of the second of two classes."""

    def excess(shift: float) -> float:
        mean = np.average(_tilted(logs, np.array([0.0, shift]), factor)[:, 1], weights=weights)
        return float(mean) - share

    if excess(-700.0) > 0 or excess(700.0) < 0:
        raise InputError(
            "too many probabilities are exactly 0 or 1 to bring their mean to the share of the "
            "class",
            parameter="calibrate",
            hint=words("set ", Option("calibrate", None), "."),
        )
    return np.array([0.0, float(brentq(excess, -700.0, 700.0, xtol=1e-14, rtol=1e-15))])
