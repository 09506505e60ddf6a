"""Newton's method for generalised linear models: coefficients at the minimum, not near it."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from clearwood._shared.arrays import Floats

__all__ = ["Curve", "Sums", "minimum", "sums_over"]

#: Steps of a fit, and halvings of one that goes too far.
_MOST_STEPS = 100
_MOST_HALVINGS = 50
#: A step that promises less than this share of the loss is the last.
_TOLERANCE = 1e-12
#: Directions with a smaller share of the largest second derivative are not determined by the rows.
_SINGULAR = 1e-12
#: Rows that are multiplied at a time.
_BLOCK = 32_768


@dataclass(frozen=True)
class Curve:
    """The loss of a row as a function of its linear score, with two derivatives.

    Parameters
    ----------
    link
        "logistic" for two classes, "log" for Tweedie's distributions.
    power
        Variance power of the distribution: 1 is Poisson's, 2 is the gamma distribution.
    """

    link: str
    power: float = 1.0

    def __call__(self, score: Floats, y: Floats) -> tuple[Floats, Floats, Floats]:
        """Return loss, slope and curvature; terms that do not depend on the score are left out."""
        if self.link == "logistic":
            loss = np.logaddexp(0.0, score) - y * score
            mean = 1 / (1 + np.exp(-np.clip(score, -700, 700)))
            return loss, mean - y, mean * (1 - mean)
        with np.errstate(over="ignore", invalid="ignore"):
            mean, power = np.exp(score), self.power
            rise, fall = mean ** (2 - power), y * mean ** (1 - power)
            loss = (score if power == 2 else rise / (2 - power)) - (
                y * score if power == 1 else fall / (1 - power)
            )
            return loss, rise - fall, (2 - power) * rise - (1 - power) * fall


@dataclass(frozen=True, eq=False)
class Sums:
    """Weighted sums over rows at some coefficients.

    Parameters
    ----------
    total
        Of the weights.
    loss
        Of the losses.
    gradient, second
        Of their derivatives by the coefficients; the last is the intercept.
    """

    total: float
    loss: float
    gradient: Floats
    second: Floats


def sums_over(X: Floats, y: Floats, weight: Floats, curve: Curve, coefficients: Floats) -> Sums:
    """Add up losses and their derivatives over rows."""
    size = X.shape[1] + 1
    loss, gradient, second = 0.0, np.zeros(size), np.zeros((size, size))
    for start in range(0, len(X), _BLOCK):
        here = slice(start, start + _BLOCK)
        rows = np.column_stack([X[here], np.ones(len(X[here]))])
        value, slope, curvature = curve(rows @ coefficients, y[here])
        loss += float(weight[here] @ value)
        gradient += rows.T @ (weight[here] * slope)
        second += rows.T @ (rows * (weight[here] * curvature)[:, None])
    return Sums(float(weight.sum()), loss, gradient, second)


def minimum(
    sums: Callable[[Floats, int], Sums], start: Floats, penalty: float | Floats, *, name: str
) -> Floats:
    """Return the coefficients where mean loss and penalty are least.

    Where the rows do not determine all of them, those of one of the minima are returned.

    Parameters
    ----------
    sums
        Of coefficients, and of the number of the step.
    start
        Coefficients to begin at, the intercept last.
    penalty
        Of half the squares of all coefficients but the intercept; or one for each coefficient.
    name
        The learner that a warning names.

    Examples
    --------
    >>> X, y = np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([1.0, 3.0, 5.0, 3.0])
    >>> curve = Curve("log")
    >>> found = minimum(
    ...     lambda beta, _: sums_over(X, y, np.ones(4), curve, beta), np.zeros(2), 0.0, name="glm"
    ... )
    >>> np.exp(found).round(9)
    array([2., 2.])
    """
    weights = np.asarray(penalty, np.float64)
    if not weights.ndim:
        weights = np.append(np.full(len(start) - 1, penalty), 0.0)
    coefficients, before, best, halvings = start, start, np.inf, 0
    for step in range(_MOST_STEPS):
        at = sums(coefficients, step)
        value = at.loss / at.total + float(weights @ coefficients**2) / 2
        if not value <= best + _TOLERANCE * (1 + abs(best)):
            if halvings == _MOST_HALVINGS:
                break
            halvings += 1
            coefficients = (coefficients + before) / 2  # too far
            continue
        gradient = at.gradient / at.total + weights * coefficients
        second = at.second / at.total + np.diag(weights)
        change = _solved(second, gradient)
        if gradient @ change <= _TOLERANCE * (1 + abs(value)):
            return np.asarray(coefficients - change)
        best, before = value, coefficients
        coefficients = coefficients - change
    from sklearn.exceptions import ConvergenceWarning

    warnings.warn(
        f"{name} has not converged after {_MOST_STEPS} steps", ConvergenceWarning, stacklevel=2
    )
    return before


def _solved(second: Floats, gradient: Floats) -> Floats:
    """Return the step to the minimum of a parabola, without directions in which it is flat."""
    # columns of any size count alike in what is flat
    scale = 1 / np.sqrt(np.maximum(np.diag(second), 1e-300))
    values, vectors = np.linalg.eigh(second * np.outer(scale, scale))
    kept = values > _SINGULAR * values[-1]
    half = vectors[:, kept]
    step: Floats = scale * (half @ ((half.T @ (scale * gradient)) / values[kept]))
    return step
