"""Newton's method for generalised linear models: coefficients at the minimum, not near it."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from clearwood._shared.arrays import Bools, Floats

__all__ = ["RowLoss", "Sums", "minimum", "sparse_minimum", "sums_over", "warn_not_converged"]


#: Steps of a fit, and halvings of one that goes too far.
_MOST_STEPS = 100
_MOST_HALVINGS = 50
#: Steps of a fit with absolute penalties, which may change few signs each; the share of the
#: penalty that a slope may be left at, and what stands for a penalty where there is none.
_MOST_SPARSE_STEPS = 500
_SLOPE = 1e-6
_SLOPE_UNIT = 1e-3
#: A step that promises less than this share of the loss is the last.
_TOLERANCE = 1e-12
#: Directions with a smaller share of the largest second derivative are not determined by the rows.
_SINGULAR = 1e-12
#: Rows that are multiplied at a time.
_BLOCK = 32_768


@dataclass(frozen=True)
class RowLoss:
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


def sums_over(X: Floats, y: Floats, weight: Floats, curve: RowLoss, coefficients: Floats) -> Sums:
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
    >>> curve = RowLoss("log")
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
    warn_not_converged(name, _MOST_STEPS)
    return before


def warn_not_converged(name: str, steps: int) -> None:
    """Warn that a fit is not at the minimum."""
    from sklearn.exceptions import ConvergenceWarning

    text = f"{name} has not converged after {steps} steps"
    warnings.warn(text, ConvergenceWarning, stacklevel=3)


def sparse_minimum(
    sums: Callable[[Floats, int], Sums],
    loss: Callable[[Floats], float],
    start: Floats,
    squared: Floats,
    absolute: Floats,
    *,
    name: str,
) -> Floats:
    """Return the coefficients where mean loss, squared and absolute penalties are least.

    Newton's steps within an orthant: coefficients that would change their sign become zero, and
    those of zero move where the loss falls by more than the penalty rises (Andrew and Gao 2007).

    Parameters
    ----------
    sums, loss
        As of `minimum`, and the mean loss alone.
    start
        Coefficients to begin at.
    squared, absolute
        Of half the square, and of the absolute value, of each coefficient.
    name
        The learner that a warning names.

    Examples
    --------
    >>> X, y = np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([0.0, 1.0, 1.0, 1.0])
    >>> curve = RowLoss("logistic")
    >>> def sums(beta, step):
    ...     return sums_over(X, y, np.ones(4), curve, beta)
    >>> sparse_minimum(
    ...     sums,
    ...     lambda beta: sums(beta, 0).loss / 4,
    ...     np.ones(2), np.zeros(2), np.array([0.2, 0.0]), name="logistic",
    ... ).round(9)
    array([0.        , 1.09861229])
    """

    def value_of(coefficients: Floats) -> float:
        half = float(squared @ coefficients**2) / 2
        return loss(coefficients) + half + float(absolute @ np.abs(coefficients))

    coefficients, value = start, value_of(start)
    unit = np.where(absolute > 0, absolute, absolute.max() or _SLOPE_UNIT)
    ridge = np.inf
    for step in range(_MOST_SPARSE_STEPS):
        at = sums(coefficients, step)
        slope = at.gradient / at.total + squared * coefficients
        sign = np.where(
            coefficients != 0, np.sign(coefficients), -np.sign(slope) * (np.abs(slope) > absolute)
        )
        free = (absolute == 0) | (sign != 0)
        slope = np.where(free, slope + absolute * sign, 0.0)
        if (np.abs(slope) <= _SLOPE * unit).all():
            return coefficients
        second = at.second / at.total + np.diag(squared)
        largest = float(np.diag(second).max(initial=0.0))
        ridge = min(ridge, 1e-3 * largest)
        change = _within(second, slope, sign, coefficients, free, ridge)
        tried, share = coefficients, 1.0
        for _ in range(_MOST_HALVINGS):
            tried = coefficients - share * change
            tried = np.where((absolute > 0) & (tried * sign < 0), 0.0, tried)
            reached = value_of(tried)
            if reached <= value + 1e-4 * float(slope @ (tried - coefficients)):
                break
            share /= 2
        else:
            if float(slope @ change) <= _TOLERANCE * (1 + abs(value)):
                return coefficients  # rounding hides any further gain
            break
        ridge = ridge / 8 if share > 0.5 else 8 * ridge
        coefficients, value = tried, reached
    warn_not_converged(name, _MOST_SPARSE_STEPS)
    return coefficients


def _within(
    second: Floats, slope: Floats, sign: Floats, coefficients: Floats, free: Bools, ridge: float
) -> Floats:
    """Return the step to subtract, in which coefficients of zero move to their own side only."""
    used = np.flatnonzero(free)
    while True:
        change = np.zeros(len(slope))
        matrix = second[np.ix_(used, used)]
        matrix.flat[:: len(used) + 1] += ridge + 1e-10 * np.diag(matrix).max(initial=0.0)
        change[used] = np.linalg.solve(matrix, slope[used])
        wrong = (coefficients[used] == 0) & (sign[used] != 0) & (change[used] * sign[used] >= 0)
        if not wrong.any():
            return change
        used = used[~wrong]


def _solved(second: Floats, gradient: Floats) -> Floats:
    """Return the step to the minimum of a parabola, without directions in which it is flat."""
    # columns of any size count alike in what is flat
    scale = 1 / np.sqrt(np.maximum(np.diag(second), 1e-300))
    values, vectors = np.linalg.eigh(second * np.outer(scale, scale))
    kept = values > _SINGULAR * values[-1]
    half = vectors[:, kept]
    step: Floats = scale * (half @ ((half.T @ (scale * gradient)) / values[kept]))
    return step
