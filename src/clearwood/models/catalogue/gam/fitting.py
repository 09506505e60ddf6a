"""Fits of one score: least squares, or iterated working models, with automatic smoothness.

The functions of all columns are built once (`build_design`); fits to all rows, to some of them by
weights, or to folds then reuse them:

>>> from clearwood.models.catalogue.gam.design import build_design
>>> rng = np.random.default_rng(0)
>>> matrix = rng.random((200, 3))
>>> y = np.sin(6 * matrix[:, 0]) + 0.1 * rng.normal(size=200)
>>> design = build_design(matrix)
>>> full = fit_score(design, y)
>>> folds = np.array_split(rng.permutation(200), 4)
>>> fits = fit_folds(design, y, folds, full)
>>> scores = [design.score(fit.coefficients) for fit in fits]
>>> bool(np.abs(scores[0] - design.score(full.coefficients)).max() < 0.1)
True

- `build_design(matrix, categorical=, weights=, ...)`: the `Design`, from all rows;
- `fit_score(design, y, weights=, family=, offset=, start=, search=)`: the `Fit` of one score.
  Weight zero leaves a row out, ``start`` is another `Fit` of the same design, and ``search=False``
  keeps its smoothing parameters;
- `fit_folds(design, y, held_out, full, ...)`: a `Fit` without the rows of each fold, at a fraction
  of the cost of new fits; held-out rows have no influence on coefficients, and with
  ``search=False`` only through the smoothing parameters of the full fit;
- `fit_classes(design, classes, n_classes, ...)`: the scores of several classes;
- `design.score(fit.coefficients)`: scores of all rows, held-out ones included;
- `parts_of(design, coefficients, deviating, link)`: the `ScoreParts` of any coefficients.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from scipy.special import logsumexp, softmax

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.dispersion import Dispersion, are_whole, count_dispersion
from clearwood.models.catalogue.gam.design import Design, Projection
from clearwood.models.catalogue.gam.smoothness import (
    State,
    Working,
    awake,
    evaluate,
    first_rho,
    improve,
)
from clearwood.models.shared.response import FAMILIES, Family, FamilyName

__all__ = [
    "ClassFit",
    "Fit",
    "at_least_rows",
    "constrain",
    "fit_classes",
    "fit_counts",
    "fit_folds",
    "fit_score",
    "relative",
]


MAX_ITERATIONS = 60
#: From this iteration on the smoothing parameters stay, so that the coefficients converge.
SETTLED = 40
TOLERANCE = 1e-7
#: What one standard deviation of a function, or a level, may add to log odds a priori. Where
#: columns separate the classes, any larger value would predict the training rows better.
LARGEST_LOG_ODDS = 5.0
#: Fits with another dispersion, and the change of it after which there is no other.
MAX_DISPERSIONS = 4
SAME_DISPERSION = 0.03


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted score.

    Parameters
    ----------
    coefficients
        The intercept first, then those of each term.
    rho
        Logarithms of the smoothing parameters.
    working, state
        The last working model and its solution.
    iterations
        Working models that were solved.
    """

    coefficients: Floats
    rho: Floats
    working: Working
    state: State
    iterations: int


def fit_score(
    design: Design,
    y: Floats,
    *,
    weights: Floats | None = None,
    family: FamilyName = "gaussian",
    offset: Floats | None = None,
    start: Fit | None = None,
    search: bool = True,
    max_iterations: int = MAX_ITERATIONS,
) -> Fit:
    """Fit coefficients and smoothing parameters.

    Parameters
    ----------
    design
        The terms.
    y
        The target.
    weights
        Of rows, which count as repetitions; zero leaves a row out.
    family
        Distribution of the target.
    offset
        Known part of the score.
    start
        A fit of the same design, to start from.
    search
        Whether the smoothing parameters are chosen; otherwise those of ``start`` stay.
    max_iterations
        Working models to solve at most.
    """
    problem = _Problem(design, y, relative(weights, len(y), family), family, offset)
    if problem.family.is_quadratic:
        return problem.quadratic(start, search=search)
    return problem.iterate(start, search=search, max_iterations=max_iterations)


def fit_counts(
    design: Design, y: Floats, weights: Floats, exposure: Floats, *, first: float | None = None
) -> tuple[Fit, Dispersion]:
    """Fit counts, or amounts by the same likelihood, whose variance is any multiple of the mean.

    The choice of smoothness and all errors take the variance from the family. Amounts in thousands,
    or counts that come in clusters, would look like far more information than they are, and amounts
    in millions like hardly any. So the weights are divided by the dispersion, and both are fitted
    in turn.

    Parameters
    ----------
    design, y
        The terms and the target.
    weights
        How many times each row counts, times its exposure.
    exposure
        Of each row.
    first
        The dispersion to begin with.

    Returns
    -------
    fit, dispersion
        The fit is that with ``weights`` divided by the value of the dispersion.
    """
    now = _first_dispersion(y, weights, exposure) if first is None else first
    fit = fit_score(design, y, weights=weights / now, family="poisson")
    for left in reversed(range(MAX_DISPERSIONS)):
        estimated = _dispersion_of(design, fit, y, weights, exposure, now)
        if not left or abs(estimated.value / now - 1) < SAME_DISPERSION:
            break
        now = estimated.value
        fit = fit_score(design, y, weights=weights / now, family="poisson", start=fit)
    return fit, replace(estimated, value=now)


def _first_dispersion(y: Floats, weights: Floats, exposure: Floats) -> float:
    """Return 1 for counts; for others less than they vary about their mean, curves explain part."""
    if are_whole((exposure * y)[weights > 0]):
        return 1.0
    mean = np.full(len(y), np.average(y, weights=weights))
    return 0.3 * count_dispersion(y, mean, weights, exposure).value


def _dispersion_of(
    design: Design, fit: Fit, y: Floats, weights: Floats, exposure: Floats, used: float
) -> Dispersion:
    """Estimate the dispersion about a fit, whose weights were divided by that used."""
    mean = FAMILIES["poisson"].mean(design.score(fit.coefficients))
    reach = design.gram(weights * exposure * mean**2 / used)
    taken = float(np.sum(fit.state.inverse * reach))
    return count_dispersion(y, mean, weights, exposure, taken)


def fit_folds(
    design: Design,
    y: Floats,
    held_out: Sequence[Index],
    full: Fit,
    *,
    weights: Floats | None = None,
    family: FamilyName = "gaussian",
    search: bool = True,
) -> list[Fit]:
    """Fit to all rows but those held out, for each fold, from the fit to all rows.

    The sums over the kept rows are those over all rows less those over the held-out ones. Where one
    working model is not enough, further steps keep its matrix and take the exact gradient over the
    kept rows, which converges because a fold's fit is close to the full one.

    Parameters
    ----------
    design, y, weights, family
        As in `fit_score`, for all rows.
    held_out
        Positions of the rows that each fold leaves out.
    full
        The fit to all rows.
    search
        Whether each fold chooses its own smoothing parameters, without its held-out rows.
    """
    everything = _Problem(design, y, relative(weights, len(y), family), family, None)
    total = everything.working(design.score(full.coefficients))
    fits = []
    for rows in held_out:
        left = _Problem(
            design.take(rows), y[rows], everything.weights[rows], family, None, everything.shift
        )
        out = left.working(left.design.score(full.coefficients))
        kept = everything.weights.copy()
        kept[rows] = 0.0
        fold = _Problem(design, y, kept, family, None, everything.shift)
        working = Working(
            total.gram - out.gram,
            total.moment - out.moment,
            total.total - out.total,
            total.penalties,
            fold.freedom,
            fold.rows,
            total.largest,
        )
        fits.append(fold.from_neighbour(working, full, search=search))
    return fits


def constrain(
    design: Design,
    y: Floats,
    fit: Fit,
    rows: Floats,
    *,
    weights: Floats | None = None,
    family: FamilyName = "gaussian",
) -> Fit:
    """Fit again under the constraints that the products of rows and coefficients are not negative.

    The smoothing parameters are those of the fit without constraints.
    """
    problem = _Problem(design, y, relative(weights, len(y), family), family, None)
    beta = Projection(rows, fit.state.inverse)(fit.coefficients)
    if problem.family.is_quadratic:
        return replace(fit, coefficients=beta)
    score, penalty = design.score(beta), fit.state.penalty
    last = problem.deviance(beta, score, penalty)
    working, state = fit.working, fit.state
    iteration, gained = 0, np.inf
    while iteration < MAX_ITERATIONS and gained > TOLERANCE * (abs(last) + 0.1):
        iteration += 1
        working = problem.working(score)
        state = evaluate(working, fit.rho)
        new = Projection(rows, state.inverse)(state.coefficients)
        new_score = design.score(new)
        now = problem.deviance(new, new_score, penalty)
        beta, score, now = problem.halved(beta, score, new, new_score, now, penalty)
        gained, last = abs(last - now), now
    return Fit(beta, fit.rho, working, state, fit.iterations + iteration)


def relative(weights: Floats | None, n_rows: int, family: FamilyName) -> Floats:
    """Return weights that add up to the rows at least, where the scale of the noise is estimated.

    Small weights mean noisy rows there, and not few of them.
    """
    if weights is None:
        return np.ones(n_rows)
    return at_least_rows(weights) if FAMILIES[family].has_scale else weights


def at_least_rows(weights: Floats) -> Floats:
    """Return weights that add up to the rows at least: of smaller ones only the ratios matter.

    Whole weights, which are repetitions, stay as they are.

    Examples
    --------
    >>> at_least_rows(np.array([0.1, 0.3, 0.0]))
    array([0.5, 1.5, 0. ])
    """
    used = float((weights > 0).sum())
    if not 0 < weights.sum() < used:
        return weights
    scaled = np.asarray(weights * (used / float(weights.sum())))
    # equal weights are exactly 1: rounding would decide between splits that are equally good
    near = np.rint(scaled)
    return np.where(np.abs(scaled - near) <= 1e-12 * near, near, scaled)


class _Problem:
    """The rows of a fit, and the steps of its iterations."""

    def __init__(
        self,
        design: Design,
        y: Floats,
        weights: Floats,
        family: FamilyName,
        offset: Floats | None,
        shift: float | None = None,
    ) -> None:
        self.design = design
        self.y = y
        self.weights = weights
        self.family: Family = FAMILIES[family]
        self.offset = np.zeros(len(y)) if offset is None else offset
        self.penalties = design.penalties
        # sums of squares about a mean keep digits that those about zero lose
        self.shift = 0.0
        if self.family.is_quadratic:
            mean = float(np.average(y, weights=self.weights)) if self.weights.any() else 0.0
            self.shift = mean if shift is None else shift

    @property
    def rows(self) -> float:
        """Rows: whole weights are repetitions, and weights below one do not make rows fewer."""
        return max(float(self.weights.sum()), float((self.weights > 0).sum()))

    @property
    def freedom(self) -> float | None:
        """Rows less unpenalised coefficients, where the scale is estimated."""
        if not self.family.has_scale:
            return None
        unpenalised = int((self.penalties.sum(axis=1) == 0).sum())
        return max(self.rows - unpenalised, 1.0)

    def working(self, score: Floats, gram: Floats | None = None) -> Working:
        residual, weight = self.family.working(self.y, score + self.offset)
        weight = weight * self.weights
        target = residual + score - self.shift
        return Working(
            gram=self.design.gram(weight) if gram is None else gram,
            moment=self.design.moment(weight * target),
            total=float(weight @ target**2),
            penalties=self.penalties,
            freedom=self.freedom,
            rows=self.rows,
            largest=LARGEST_LOG_ODDS if self.family.name == "binomial" else np.inf,
        )

    def shifted(self, beta: Floats) -> Floats:
        """Return coefficients of the target from those of the target less its mean."""
        beta = beta.copy()
        beta[0] += self.shift
        return beta

    def deviance(self, beta: Floats, score: Floats, penalty: Floats) -> float:
        """Return the penalised deviance."""
        each = self.family.deviance(self.y, score + self.offset)
        return float(self.weights @ each + penalty @ beta**2)

    def quadratic(self, start: Fit | None, *, search: bool) -> Fit:
        working = self.working(np.zeros(len(self.y)))
        rho = first_rho(working) if start is None else start.rho
        if start is not None and search:
            rho = awake(working, rho)
        rho, state, _ = improve(working, rho, max_steps=50 if search else 0)
        return Fit(self.shifted(state.coefficients), rho, working, state, 1)

    def iterate(self, start: Fit | None, *, search: bool, max_iterations: int) -> Fit:
        if start is None:
            beta = np.zeros(self.design.width)
            score = self.family.start(self.y, self.weights) - self.offset
            working = self.working(score)
            rho = first_rho(working)
        else:
            beta, score = start.coefficients, self.design.score(start.coefficients)
            working = self.working(score)
            rho = awake(working, start.rho) if search else start.rho
        steady = self.family.name == "gamma"
        last = np.inf
        for iteration in range(1, max_iterations + 1):
            steps = 3 if search and iteration < SETTLED else 0
            rho, state, converged = improve(working, rho, max_steps=steps)
            converged = converged or not steps
            new = state.coefficients
            new_score = self.design.score(new)
            now = self.deviance(new, new_score, state.penalty)
            if iteration > 1 or start is not None:
                new, new_score, now = self.halved(beta, score, new, new_score, now, state.penalty)
            beta, score = new, new_score
            working = self.working(score, working.gram if steady else None)
            if converged and abs(last - now) < TOLERANCE * (abs(now) + 0.1):
                break
            last = now
        return Fit(beta, rho, working, evaluate(working, rho), iteration)

    def halved(
        self,
        old: Floats,
        old_score: Floats,
        new: Floats,
        new_score: Floats,
        now: float,
        penalty: Floats,
    ) -> tuple[Floats, Floats, float]:
        """Go back towards the last coefficients until the penalised deviance does not rise."""
        before = self.deviance(old, old_score, penalty)
        for _ in range(15):
            if np.isfinite(now) and now <= before + 1e-7 * abs(before):
                break
            new, new_score = (new + old) / 2, (new_score + old_score) / 2
            now = self.deviance(new, new_score, penalty)
        return new, new_score, now

    def from_neighbour(self, working: Working, full: Fit, *, search: bool) -> Fit:
        """Fit from a working model at the coefficients of a fit to almost the same rows."""
        steps = 3 if search else 0
        rho, state, _ = improve(working, full.rho, max_steps=steps, tolerance=1e-2)
        beta = self.shifted(state.coefficients)
        if self.family.is_quadratic:
            return Fit(beta, rho, working, state, 1)
        score, iteration = self.design.score(beta), 1
        last = self.deviance(beta, score, state.penalty)
        for iteration in range(2, 20):
            residual, weight = self.family.working(self.y, score + self.offset)
            gradient = self.design.moment(residual * weight * self.weights) - state.penalty * beta
            new = beta + state.inverse @ gradient
            new_score = self.design.score(new)
            now = self.deviance(new, new_score, state.penalty)
            if not now <= last + 1e-7 * abs(last):
                break
            beta, score, gained, last = new, new_score, last - now, now
            if gained < 1e-6 * (abs(now) + 0.1):
                return Fit(beta, rho, working, state, iteration)
        start = Fit(beta, rho, working, state, iteration)
        # the matrix of all rows was too far from that of the kept ones
        return self.iterate(start, search=False, max_iterations=10)


# Fits of several classes: a score for each, joined by the softmax.
#
# Given the scores of the other classes, the likelihood of the softmax in the score of one class
# is that of a binomial with an offset: P(class) = logistic(score − log Σ exp(other scores)). The
# classes are fitted in turn until nothing changes, which maximises the penalised likelihood of
# the softmax; each step chooses the smoothness of its class.


MAX_ROUNDS = 300
#: Rounds in which smoothing parameters are chosen; after them only coefficients move.
SEARCHES = 4


@dataclass(frozen=True, eq=False)
class ClassFit:
    """Fitted scores of classes.

    Parameters
    ----------
    coefficients
        Of shape (coefficients, classes); the scores of a row add up to zero over classes.
    fits
        The last fit of each class, given the others.
    rounds
        Rounds over the classes.
    """

    coefficients: Floats
    fits: tuple[Fit, ...]
    rounds: int


def fit_classes(
    design: Design,
    classes: Index,
    n_classes: int,
    *,
    weights: Floats | None = None,
    start: ClassFit | None = None,
    search: bool = True,
    max_rounds: int = MAX_ROUNDS,
) -> ClassFit:
    """Fit the scores of classes.

    Parameters
    ----------
    design
        The terms.
    classes, n_classes
        Each row's class, from 0, and how many there are.
    weights
        Of rows, which count as repetitions; zero leaves a row out.
    start
        A fit of the same design, to start from.
    search
        Whether the smoothing parameters are chosen; otherwise those of ``start`` stay.
    max_rounds
        Rounds over the classes at most.
    """
    weights = np.ones(len(classes)) if weights is None else weights
    problem = _Softmax(design, classes, n_classes, weights)
    fits: list[Fit | None] = [None] * n_classes if start is None else list(start.fits)
    if start is not None:
        for one, beta in enumerate(start.coefficients.T):
            problem.move(one, beta)
    searches = SEARCHES if search else 1
    rounds, last, is_done, refit = 0, np.inf, False, True
    while rounds < max_rounds and not is_done:
        rounds += 1
        for one in range(n_classes):
            if refit:
                fits[one] = problem.fit(one, fits[one], search=search and rounds <= searches)
            else:
                problem.step(one, cast("Fit", fits[one]))
        now = problem.loss(cast("list[Fit]", fits))
        is_done = rounds > searches and abs(last - now) < TOLERANCE * (abs(now) + 0.1)
        # steps keep the matrices of the last fits; one that went too far calls for new ones
        refit = rounds < searches or now > last
        last = now
    done = tuple(problem.fit(one, cast("Fit", fit), search=False) for one, fit in enumerate(fits))
    beta = np.stack([fit.coefficients for fit in done], axis=1)
    return ClassFit(beta - beta.mean(axis=1, keepdims=True), done, rounds)


class _Softmax:
    """The rows of a fit and the scores of their classes."""

    def __init__(self, design: Design, classes: Index, n_classes: int, weights: Floats) -> None:
        self.design, self.classes, self.weights = design, classes, weights
        self.indicators = (classes[:, None] == np.arange(n_classes)).astype(float)
        shares = np.maximum(weights @ self.indicators, 0.5) / weights.sum()
        self.beta = np.zeros((design.width, n_classes))
        self.beta[0] = np.log(shares)
        self.scores = np.repeat(self.beta[:1], len(classes), axis=0)

    def move(self, one: int, beta: Floats) -> None:
        """Set the coefficients of a class."""
        self.beta[:, one] = beta
        self.scores[:, one] = self.design.score(beta)

    def fit(self, one: int, start: Fit | None, *, search: bool) -> Fit:
        """Fit the score of a class, given the others."""
        others = logsumexp(np.delete(self.scores, one, axis=1), axis=1)
        if start is not None:
            start = replace(start, coefficients=self.beta[:, one].copy())
        fit = fit_score(
            self.design,
            self.indicators[:, one],
            weights=self.weights,
            family="binomial",
            offset=-others,
            start=start,
            search=search,
            max_iterations=20 if start is None else 1 + search,
        )
        self.move(one, fit.coefficients)
        return fit

    def step(self, one: int, fit: Fit) -> None:
        """Take a Newton step for one class with the matrix of its last fit."""
        missed = self.indicators[:, one] - softmax(self.scores, axis=1)[:, one]
        gradient = self.design.moment(self.weights * missed)
        beta = self.beta[:, one]
        self.move(one, beta + fit.state.inverse @ (gradient - fit.state.penalty * beta))

    def loss(self, fits: list[Fit]) -> float:
        """Return the penalised deviance."""
        own = self.scores[np.arange(len(self.classes)), self.classes]
        deviance = 2 * float(self.weights @ (logsumexp(self.scores, axis=1) - own))
        penalty = np.stack([fit.state.penalty for fit in fits], axis=1)
        return deviance + float((penalty * self.beta**2).sum())
