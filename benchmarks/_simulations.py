"""Tables drawn from known models, and solvers that fit all folds of a table at once.

The coverage of an interval takes hundreds of thousands of fits. The fits to one table differ only
in the rows they leave out, so each solver takes the table and a matrix of kept rows (one line a
fit) and gives the predictions of every fit for every row.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

__all__ = ["SETTINGS", "Draw", "Setting", "Simulated", "keep_rows", "losses_of_table"]

Array = NDArray[np.float64]
Kept = NDArray[np.bool_]
Predict = Callable[[Array, Array, Kept], Array]

_BETA_SIZE = 4


@dataclass(frozen=True)
class Draw:
    """One table and what is true about it."""

    x: Array
    y: Array
    beta: Array


@dataclass(frozen=True)
class Solver:
    """A learner as coefficients: intercept first, one line a fit."""

    name: str
    fit: Callable[[Array, Array, Kept], Array]


@dataclass(frozen=True)
class Setting:
    """A model to draw tables from, and two learners.

    Parameters
    ----------
    name, rows, columns
        What is simulated.
    draw
        Makes one table.
    losses
        Losses of rows, from the truth and the linear predictor.
    risk
        The exact (or nearly exact) risk of given coefficients under the model.
    solvers
        The learner whose risk is estimated, and those it is compared with.
    folds, repeats
        What it is cross-validated with; the first so many repeats make an interval each.
    """

    name: str
    rows: int
    columns: int
    draw: Callable[[np.random.Generator, int, int], Draw]
    losses: Callable[[Array, Array], Array]
    risk: Callable[[Array, Array], float]
    solvers: tuple[Solver, ...]
    folds: tuple[int, ...] = (10, 5)
    repeats: tuple[int, ...] = (1, 3, 10)


@dataclass(frozen=True)
class Simulated:
    """Losses on one table, in the shape that intervals take, and the risk they are to cover."""

    outer: list[list[Array]]
    pairs: list[dict[tuple[int, int], Array]]
    rows: list[list[NDArray[np.intp]]]
    risk: float


def losses_of_table(setting: Setting, folds: NDArray[np.int64], seed: int) -> list[Simulated]:
    """Draw a table and cross-validate all learners on it, leaving out single folds and pairs.

    Parameters
    ----------
    setting
        What to draw.
    folds
        The fold of every row (columns) in every repeat (lines).
    seed
        Fixes the table.
    """
    table = setting.draw(np.random.default_rng(seed), setting.rows, setting.columns)
    kept, left_out = keep_rows(folds)
    found = []
    for solver in setting.solvers:
        everyone = np.ones((1, setting.rows), dtype=bool)
        coefficients = solver.fit(table.x, table.y, np.concatenate([everyone, kept]))
        scores = coefficients[:, 1:] @ table.x.T + coefficients[:, :1]
        losses = setting.losses(table.y, scores[1:])
        found.append(_in_shape(losses, left_out, folds, setting.risk(coefficients[0], table.beta)))
    return found


def keep_rows(folds: NDArray[np.int64]) -> tuple[Kept, list[tuple[int, int, int]]]:
    """The rows each fit keeps, and (repeat, j, k) for the folds it leaves out, j = k for one."""
    n_folds = int(folds.max()) + 1
    left_out = [
        (repeat, j, k)
        for repeat in range(len(folds))
        for j in range(n_folds)
        for k in range(j, n_folds)
    ]
    kept = [(folds[repeat] != j) & (folds[repeat] != k) for repeat, j, k in left_out]
    return np.array(kept), left_out


def _in_shape(
    losses: Array, left_out: list[tuple[int, int, int]], folds: NDArray[np.int64], risk: float
) -> Simulated:
    n_folds = int(folds.max()) + 1
    outer: list[list[Array]] = [[np.empty(0)] * n_folds for _ in folds]
    pairs: list[dict[tuple[int, int], Array]] = [{} for _ in folds]
    rows = [[np.flatnonzero(line == fold) for fold in range(n_folds)] for line in folds]
    for line, (repeat, j, k) in zip(losses, left_out, strict=True):
        if j == k:
            outer[repeat][j] = line[rows[repeat][j]]
        else:
            pairs[repeat][j, k] = line[rows[repeat][j]]
            pairs[repeat][k, j] = line[rows[repeat][k]]
    return Simulated(outer, pairs, rows, risk)


# models ------------------------------------------------------------------------------------------


def _signal(columns: int, size: float) -> Array:
    beta = np.zeros(columns)
    beta[:_BETA_SIZE] = size
    return beta


def _gaussian(size: float) -> Callable[[np.random.Generator, int, int], Draw]:
    def draw(rng: np.random.Generator, rows: int, columns: int) -> Draw:
        x, beta = rng.normal(size=(rows, columns)), _signal(columns, size)
        return Draw(x, x @ beta + rng.normal(size=rows), beta)

    return draw


def _squared(y: Array, scores: Array) -> Array:
    return np.asarray((y - scores) ** 2)


def _squared_risk(coefficients: Array, beta: Array) -> float:
    """Noise of variance 1, plus what the coefficients are off, as features are independent."""
    return float(1.0 + coefficients[0] ** 2 + ((coefficients[1:] - beta) ** 2).sum())


def _binary(size: float) -> Callable[[np.random.Generator, int, int], Draw]:
    def draw(rng: np.random.Generator, rows: int, columns: int) -> Draw:
        x, beta = rng.normal(size=(rows, columns)), _signal(columns, size)
        y = (rng.random(rows) < special.expit(x @ beta)).astype(np.float64)
        return Draw(x, y, beta)

    return draw


def _zero_one(y: Array, scores: Array) -> Array:
    return np.asarray((scores > 0) != (y > 0.5), dtype=np.float64)


# The true score and the fitted one are jointly normal, so the 0-1 risk is an integral over the
# true score, done by quadrature at these quantiles.
_QUANTILES = stats.norm.ppf((np.arange(2000) + 0.5) / 2000)


def _zero_one_risk(coefficients: Array, beta: Array) -> float:
    """P(sign of the fitted score is not y), given the coefficients."""
    intercept, slopes = coefficients[0], coefficients[1:]
    length = float(np.linalg.norm(beta))
    along = float(slopes @ beta / length)
    across = float(np.sqrt(max(float(slopes @ slopes) - along**2, 1e-300)))
    says_one = stats.norm.cdf((intercept + along * _QUANTILES) / across)
    is_one = special.expit(length * _QUANTILES)
    return float(np.mean(says_one * (1 - is_one) + (1 - says_one) * is_one))


# solvers -----------------------------------------------------------------------------------------


def _ridge(penalty: float) -> Callable[[Array, Array, Kept], Array]:
    def fit(x: Array, y: Array, kept: Kept) -> Array:
        design = np.column_stack([np.ones(len(x)), x])
        products = design[:, :, None] * design[:, None, :]
        gram = (kept @ products.reshape(len(x), -1)).reshape(len(kept), *products.shape[1:])
        diagonal = penalty * np.eye(design.shape[1])
        diagonal[0, 0] = 0.0
        moments = kept @ (design * y[:, None])
        return np.asarray(np.linalg.solve(gram + diagonal, moments[:, :, None])[:, :, 0])

    return fit


def _tuned_ridge(penalties: Array) -> Callable[[Array, Array, Kept], Array]:
    """Ridge whose penalty each fit chooses by leave-one-out on its own rows, in closed form."""

    def fit(x: Array, y: Array, kept: Kept) -> Array:
        rows = kept.sum(axis=1)
        mean = kept @ x / rows[:, None]
        centre = kept @ y / rows
        inside = np.where(kept[:, :, None], x - mean[:, None, :], 0.0)
        target = np.where(kept, y - centre[:, None], 0.0)
        squares, axes = np.linalg.eigh(inside.transpose(0, 2, 1) @ inside)
        along = inside @ axes
        moments = (along * target[:, :, None]).sum(axis=1)
        # fits × penalties × axes
        shrunk = 1 / (squares[:, None, :] + penalties[None, :, None])
        fitted = along @ (shrunk * moments[:, None, :]).transpose(0, 2, 1)
        leverage = 1 / rows[:, None, None] + along**2 @ shrunk.transpose(0, 2, 1)
        left = np.where(kept[:, :, None], (target[:, :, None] - fitted) / (1 - leverage), 0.0)
        best = (left**2).sum(axis=1).argmin(axis=1)
        chosen = shrunk[np.arange(len(kept)), best]
        slopes = (axes @ (chosen * moments)[:, :, None])[:, :, 0]
        return np.column_stack([centre - (slopes * mean).sum(axis=1), slopes])

    return fit


def _logistic(penalty: float, *, steps: int = 30) -> Callable[[Array, Array, Kept], Array]:
    """Newton's method for all fits at once; a step that does not help is halved."""

    def fit(x: Array, y: Array, kept: Kept) -> Array:
        design = np.column_stack([np.ones(len(x)), x])
        products = (design[:, :, None] * design[:, None, :]).reshape(len(x), -1)
        columns = design.shape[1]
        ridge = np.full(columns, penalty)
        ridge[0] = 1e-8
        found = np.zeros((len(kept), columns))
        value = _deviance(found, design, y, kept, ridge)
        open_ = np.arange(len(kept))
        for _ in range(steps):
            now, mask = found[open_], kept[open_]
            p = special.expit(now @ design.T)
            gradient = (mask * (p - y)) @ design + ridge * now
            hessian = ((mask * p * (1 - p)) @ products).reshape(-1, columns, columns)
            hessian += np.diag(ridge)
            step = np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
            size = np.ones(len(now))
            for _ in range(12):
                tried = now - size[:, None] * step
                reached = _deviance(tried, design, y, mask, ridge)
                worse = reached > value[open_] + 1e-10
                if not worse.any():
                    break
                size[worse] /= 2
            found[open_], value[open_] = tried, reached
            open_ = open_[np.abs(step).max(axis=1) > 1e-6]
            if not len(open_):
                break
        return found

    return fit


def _deviance(b: Array, design: Array, y: Array, kept: Kept, ridge: Array) -> Array:
    scores = b @ design.T
    likelihood = (kept * (np.logaddexp(0.0, scores) - y * scores)).sum(axis=1)
    return np.asarray(likelihood + 0.5 * (ridge * b**2).sum(axis=1))


def _lasso(penalty: float) -> Callable[[Array, Array, Kept], Array]:
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
        found = np.zeros((len(kept), x.shape[1] + 1))
        found[:, 1 + columns] = slopes
        found[:, 0] = (weights * (y - slopes @ x[:, columns].T)).sum(axis=1)
        return found

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
    found = b.copy()
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
            found[open_] = b
            going = np.abs(change).max(axis=1, initial=0.0) > 1e-5
            if not going.any():
                break
            open_, b, ahead, momentum = open_[going], b[going], ahead[going], momentum[going]
    return found


#: The settings of Bates, Hastie and Tibshirani (2024): independent standard normal features, four
#: of which matter, and noise of variance 1. Each learner is compared with others that hardly
#: differ from it, and with such that do. "tuned" chooses its penalty in every fit; "large" has so
#: many rows that one repeat has to do.
SETTINGS: dict[str, Setting] = {
    setting.name: setting
    for setting in (
        Setting(
            "linear",
            100,
            20,
            _gaussian(1.0),
            _squared,
            _squared_risk,
            (
                Solver("least squares", _ridge(0.0)),
                Solver("ridge 3", _ridge(3.0)),
                Solver("ridge 30", _ridge(30.0)),
                Solver("ridge 300", _ridge(300.0)),
            ),
        ),
        Setting(
            "logistic",
            100,
            20,
            # the best classifier errs on a third of the rows
            _binary(0.5),
            _zero_one,
            _zero_one_risk,
            (
                Solver("logistic", _logistic(1e-3)),
                Solver("ridge 1", _logistic(1.0)),
                Solver("ridge 10", _logistic(10.0)),
                Solver("ridge 100", _logistic(100.0)),
            ),
        ),
        Setting(
            "lasso",
            100,
            1000,
            _gaussian(1.0),
            _squared,
            _squared_risk,
            (
                Solver("lasso", _lasso(0.3)),
                Solver("lasso 0.33", _lasso(0.33)),
                Solver("lasso 0.45", _lasso(0.45)),
            ),
        ),
        Setting(
            "tuned",
            100,
            20,
            _gaussian(1.0),
            _squared,
            _squared_risk,
            (
                Solver("tuned ridge", _tuned_ridge(np.geomspace(0.1, 1_000, 25))),
                Solver("least squares", _ridge(0.0)),
                Solver("ridge 30", _ridge(30.0)),
            ),
        ),
        Setting(
            "large",
            2_000,
            20,
            _gaussian(1.0),
            _squared,
            _squared_risk,
            (Solver("least squares", _ridge(0.0)), Solver("ridge 300", _ridge(300.0))),
            folds=(5,),
            repeats=(1,),
        ),
    )
}
