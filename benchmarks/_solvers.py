"""Learners that fit all folds of a table at once.

The fits to one table differ only in the rows they leave out, so each takes the table and a matrix
of kept rows (one line a fit), and gives the scores of every fit for every row.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import special
from sklearn.tree import DecisionTreeRegressor

__all__ = [
    "Array",
    "Kept",
    "Linear",
    "Other",
    "Solver",
    "constant",
    "lasso",
    "logistic",
    "neighbours",
    "poisson",
    "reused_ridge",
    "ridge",
    "tree",
    "tuned_ridge",
]

Array = NDArray[np.float64]
Kept = NDArray[np.bool_]
#: From features, target and rows kept to coefficients: intercept first, one line a fit.
Fit = Callable[[Array, Array, Kept], Array]
#: From features, target, rows kept and rows to judge to their scores, one line a fit.
Scores = Callable[[Array, Array, Kept, Array], Array]


class Solver(Protocol):
    """What a simulation needs of a learner."""

    @property
    def name(self) -> str: ...

    def scores(self, x: Array, y: Array, kept: Kept, at: Array) -> Array: ...


@dataclass(frozen=True)
class Linear:
    """A learner whose scores are linear in the features."""

    name: str
    fit: Fit

    def scores(self, x: Array, y: Array, kept: Kept, at: Array) -> Array:
        coefficients = self.fit(x, y, kept)
        return np.asarray(coefficients[:, 1:] @ at.T + coefficients[:, :1])


@dataclass(frozen=True)
class Other:
    """Any other learner."""

    name: str
    judge: Scores

    def scores(self, x: Array, y: Array, kept: Kept, at: Array) -> Array:
        return self.judge(x, y, kept, at)


def ridge(penalty: float) -> Fit:
    def fit(x: Array, y: Array, kept: Kept) -> Array:
        design = np.column_stack([np.ones(len(x)), x])
        products = design[:, :, None] * design[:, None, :]
        gram = (kept @ products.reshape(len(x), -1)).reshape(len(kept), *products.shape[1:])
        diagonal = penalty * np.eye(design.shape[1])
        diagonal[0, 0] = 0.0
        moments = kept @ (design * y[:, None])
        return np.asarray(np.linalg.solve(gram + diagonal, moments[:, :, None])[:, :, 0])

    return fit


def tuned_ridge(penalties: Array) -> Fit:
    """Ridge whose penalty each fit chooses by leave-one-out on its own rows, in closed form."""

    def fit(x: Array, y: Array, kept: Kept) -> Array:
        paths = _RidgePaths.of(x, y, kept, penalties)
        return paths.coefficients(paths.best)

    return fit


def reused_ridge(penalties: Array) -> Scores:
    """The same, but fits without two folds take the penalty chosen without the fold judged."""

    def judge(x: Array, y: Array, kept: Kept, at: Array) -> Array:
        paths = _RidgePaths.of(x, y, kept, penalties)
        own = paths.coefficients(paths.best)
        solution = np.asarray(own[:, 1:] @ at.T + own[:, :1])
        left_out = (~kept).astype(np.float64)
        sizes = left_out.sum(axis=1)
        within = (left_out @ left_out.T == sizes) & (sizes < sizes[:, None]) & (sizes > 0)
        for line, fewer in np.argwhere(within):
            reused = paths.best.copy()
            reused[line] = paths.best[fewer]
            theirs = paths.coefficients(reused)[line]
            rows = ~kept[fewer]
            solution[line, rows] = at[rows] @ theirs[1:] + theirs[0]
        return solution

    return judge


@dataclass(frozen=True)
class _RidgePaths:
    """Ridge at every penalty for every line of rows kept, and which is best by leave-one-out."""

    mean: Array
    centre: Array
    axes: Array
    shrunk: Array  # fits × penalties × axes
    moments: Array
    best: NDArray[np.intp]

    @classmethod
    def of(cls, x: Array, y: Array, kept: Kept, penalties: Array) -> "_RidgePaths":
        rows = kept.sum(axis=1)
        mean = kept @ x / rows[:, None]
        centre = kept @ y / rows
        inside = np.where(kept[:, :, None], x - mean[:, None, :], 0.0)
        target = np.where(kept, y - centre[:, None], 0.0)
        squares, axes = np.linalg.eigh(inside.transpose(0, 2, 1) @ inside)
        along = inside @ axes
        moments = (along * target[:, :, None]).sum(axis=1)
        shrunk = 1 / (squares[:, None, :] + penalties[None, :, None])
        fitted = along @ (shrunk * moments[:, None, :]).transpose(0, 2, 1)
        leverage = 1 / rows[:, None, None] + along**2 @ shrunk.transpose(0, 2, 1)
        left = np.where(kept[:, :, None], (target[:, :, None] - fitted) / (1 - leverage), 0.0)
        best = (left**2).sum(axis=1).argmin(axis=1)
        return cls(mean, centre, axes, shrunk, moments, best)

    def coefficients(self, chosen: NDArray[np.intp]) -> Array:
        shrunk = self.shrunk[np.arange(len(chosen)), chosen]
        slopes = (self.axes @ (shrunk * self.moments)[:, :, None])[:, :, 0]
        return np.column_stack([self.centre - (slopes * self.mean).sum(axis=1), slopes])


@dataclass(frozen=True)
class _Family:
    """A likelihood with its natural link: minus the log, mean and variance, by score."""

    value: Callable[[Array, Array], Array]
    mean: Callable[[Array], Array]
    variance: Callable[[Array], Array]


def _exp(scores: Array) -> Array:
    # a step too far is halved; it need not overflow
    return np.asarray(np.exp(np.minimum(scores, 30.0)))


_BINARY = _Family(
    lambda y, scores: np.logaddexp(0.0, scores) - y * scores,
    special.expit,
    lambda scores: special.expit(scores) * special.expit(-scores),
)
_COUNTS = _Family(lambda y, scores: _exp(scores) - y * scores, _exp, _exp)


def logistic(penalty: float) -> Fit:
    """Logistic regression with a penalty on squared slopes."""
    return _newton(_BINARY, penalty)


def poisson(penalty: float) -> Fit:
    """Poisson regression with logarithmic link and a penalty on squared slopes."""
    return _newton(_COUNTS, penalty)


def _newton(family: _Family, penalty: float, *, steps: int = 30) -> Fit:
    """Newton's method for all fits at once; a step that does not help is halved."""

    def fit(x: Array, y: Array, kept: Kept) -> Array:
        design = np.column_stack([np.ones(len(x)), x])
        products = (design[:, :, None] * design[:, None, :]).reshape(len(x), -1)
        columns = design.shape[1]
        ridge = np.full(columns, penalty)
        ridge[0] = 1e-8

        def reached(b: Array, mask: Kept) -> Array:
            likelihood = (mask * family.value(y, b @ design.T)).sum(axis=1)
            return np.asarray(likelihood + 0.5 * (ridge * b**2).sum(axis=1))

        solution = np.zeros((len(kept), columns))
        value = reached(solution, kept)
        open_ = np.arange(len(kept))
        for _ in range(steps):
            now, mask = solution[open_], kept[open_]
            scores = now @ design.T
            gradient = (mask * (family.mean(scores) - y)) @ design + ridge * now
            hessian = ((mask * family.variance(scores)) @ products).reshape(-1, columns, columns)
            hessian += np.diag(ridge)
            step = np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
            size = np.ones(len(now))
            for _ in range(12):
                tried = now - size[:, None] * step
                new = reached(tried, mask)
                worse = new > value[open_] + 1e-10
                if not worse.any():
                    break
                size[worse] /= 2
            solution[open_], value[open_] = tried, new
            open_ = open_[np.abs(step).max(axis=1) > 1e-6]
            if not len(open_):
                break
        return solution

    return fit


def lasso(penalty: float) -> Fit:
    """Lasso at a fixed penalty on the mean squared error, by accelerated proximal steps.

    Most columns are zero in every fit: those that come near to mattering in the fit to all rows
    are solved for, the conditions of the optimum checked on all columns, and violators added.
    """

    def fit(x: Array, y: Array, kept: Kept) -> Array:
        weights = kept / kept.sum(axis=1, keepdims=True)
        everyone = np.full((1, len(y)), 1 / len(y))
        near = np.abs(x.T @ (y - y.mean())) / len(y)
        columns = np.argsort(near)[-100:]
        start, columns = _checked(x, y, everyone, penalty, columns, np.zeros((1, len(columns))))
        near = np.abs((everyone * _residuals(start, x[:, columns], y)) @ x)[0]
        closer = np.flatnonzero(near > 0.6 * penalty)
        warm = np.zeros(x.shape[1])
        warm[columns] = start[0]
        start = np.repeat(warm[None, closer], len(kept), axis=0)
        slopes, columns = _checked(x, y, weights, penalty, closer, start)
        solution = np.zeros((len(kept), x.shape[1] + 1))
        solution[:, 1 + columns] = slopes
        solution[:, 0] = (weights * (y - slopes @ x[:, columns].T)).sum(axis=1)
        return solution

    return fit


def _checked(
    x: Array, y: Array, weights: Array, penalty: float, columns: NDArray[np.intp], b: Array
) -> tuple[Array, NDArray[np.intp]]:
    """Solve for some columns, and for more until no other column wants in."""
    while True:
        b = _proximal(x[:, columns], y, weights, penalty, b)
        slope = np.abs((weights * _residuals(b, x[:, columns], y, weights)) @ x).max(axis=0)
        slope[columns] = 0.0
        violators = np.flatnonzero(slope > penalty * (1 + 1e-4))
        if not len(violators):
            return b, columns
        columns = np.concatenate([columns, violators])
        b = np.concatenate([b, np.zeros((len(b), len(violators)))], axis=1)


def _residuals(b: Array, x: Array, y: Array, weights: Array | None = None) -> Array:
    """What is left of y after the slopes and the best intercept."""
    left = y - b @ x.T
    mean = left.mean(axis=1) if weights is None else (weights * left).sum(axis=1)
    return np.asarray(left - mean[:, None])


def _proximal(x: Array, y: Array, weights: Array, penalty: float, b: Array) -> Array:
    """Minimise weighted squares / 2 + penalty × |b| for every line of weights."""
    step = 1.0 / (weights.max() * np.linalg.norm(x, 2) ** 2)
    solution = b.copy()
    open_ = np.arange(len(b))
    ahead, momentum = b, np.ones((len(b), 1))
    for iteration in range(5000):
        share = weights[open_]
        moved = ahead + step * ((share * _residuals(ahead, x, y, share)) @ x)
        new = np.sign(moved) * np.maximum(np.abs(moved) - step * penalty, 0.0)
        change = new - b
        # restart fits whose momentum has turned against descent
        turned = (change * (ahead - new)).sum(axis=1, keepdims=True) > 0
        momentum = np.where(turned, 1.0, momentum)
        larger = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = new + (momentum - 1) / larger * change
        b, momentum = new, larger
        if iteration % 10 == 9:
            solution[open_] = b
            going = np.abs(change).max(axis=1, initial=0.0) > 1e-5
            if not going.any():
                break
            open_, b, ahead, momentum = open_[going], b[going], ahead[going], momentum[going]
    return solution


def neighbours(number: int) -> Scores:
    """The mean of the nearest rows kept."""

    def judge(x: Array, y: Array, kept: Kept, at: Array) -> Array:
        distance = (x**2).sum(axis=1) - 2 * at @ x.T
        # rows further away than these are nearest to none, whichever rows are left out
        enough = min(number + int((~kept).sum(axis=1).max()), len(x))
        near = np.argpartition(distance, enough - 1, axis=1)[:, :enough]
        by_distance = np.argsort(np.take_along_axis(distance, near, axis=1), axis=1)
        order = np.take_along_axis(near, by_distance, axis=1)
        solution = np.empty((len(kept), len(at)))
        for line, mask in enumerate(kept):
            taken = mask[order]
            taken &= taken.cumsum(axis=1) <= number
            solution[line] = np.where(taken, y[order], 0.0).sum(axis=1) / number
        return solution

    return judge


def tree(leaf: int) -> Scores:
    """A regression tree with so many rows in every leaf, or more."""

    def judge(x: Array, y: Array, kept: Kept, at: Array) -> Array:
        model = DecisionTreeRegressor(min_samples_leaf=leaf, random_state=0)
        return np.array([model.fit(x[mask], y[mask]).predict(at) for mask in kept])

    return judge


def constant(link: Callable[[Array], Array]) -> Scores:
    """The mean of the rows kept, on the scale of the scores."""

    def judge(_: Array, y: Array, kept: Kept, at: Array) -> Array:
        means = link(kept @ y / kept.sum(axis=1))
        return np.repeat(means[:, None], len(at), axis=1)

    return judge
