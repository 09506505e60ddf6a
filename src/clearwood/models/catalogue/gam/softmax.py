"""Fits of several classes: a score for each, joined by the softmax.

Given the scores of the other classes, the likelihood of the softmax in the score of one class is
that of a binomial with an offset: P(class) = logistic(score − log Σ exp(other scores)). The classes
are fitted in turn until nothing changes, which maximises the penalised likelihood of the softmax;
each step chooses the smoothness of its class.
"""

from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from scipy.special import logsumexp, softmax

from clearwood._shared.arrays import Floats, Index
from clearwood.models.catalogue.gam.design import Design
from clearwood.models.catalogue.gam.fitting import Fit, fit_score

__all__ = ["ClassFit", "fit_classes"]

MAX_ROUNDS = 300
#: Rounds in which smoothing parameters are chosen; after them only coefficients move.
SEARCHES = 4
TOLERANCE = 1e-7


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
