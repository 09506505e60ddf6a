"""Fits of several classes: a score for each, joined by the softmax.

Given the scores of the other classes, the likelihood of the softmax in the score of one class is
that of a binomial with an offset: P(class) = logistic(score − log Σ exp(other scores)). The classes
are fitted in turn until nothing changes, which maximises the penalised likelihood of the softmax;
each step chooses the smoothness of its class.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import log_softmax, logsumexp

from clearwood._shared.arrays import Floats, Index
from clearwood.models.glassbox.gam.design import Design
from clearwood.models.glassbox.gam.fitting import Fit, fit_score

__all__ = ["ClassFit", "fit_classes"]

MAX_ROUNDS = 100


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
    indicators = (classes[:, None] == np.arange(n_classes)).astype(float)
    fits: list[Fit | None] = [None] * n_classes if start is None else list(start.fits)
    if start is None:
        shares = np.log(np.maximum(weights @ indicators, 0.5) / weights.sum())
        scores = np.repeat(shares[None, :], len(classes), axis=0)
    else:
        scores = np.stack([design.score(beta) for beta in start.coefficients.T], axis=1)
    last = np.inf
    for rounds in range(1, max_rounds + 1):
        for one in range(n_classes):
            others = logsumexp(np.delete(scores, one, axis=1), axis=1)
            # λ settles within few rounds; after that only coefficients move
            fit = fit_score(
                design,
                indicators[:, one],
                weights=weights,
                family="binomial",
                offset=-others,
                start=fits[one],
                search=search and rounds <= 8,
                max_iterations=60 if rounds == 1 else 3,
            )
            fits[one] = fit
            scores[:, one] = design.score(fit.coefficients)
        own = log_softmax(scores, axis=1)[np.arange(len(classes)), classes]
        loss = -2 * float(weights @ own)
        loss += sum(float(fit.state.penalty @ fit.coefficients**2) for fit in fits if fit)
        if abs(last - loss) < 1e-7 * (abs(loss) + 0.1):
            break
        last = loss
    done = tuple(fit for fit in fits if fit is not None)
    beta = np.stack([fit.coefficients for fit in done], axis=1)
    return ClassFit(beta - beta.mean(axis=1, keepdims=True), done, rounds)
