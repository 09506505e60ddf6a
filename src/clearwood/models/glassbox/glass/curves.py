"""The smooth curves of every fold, on functions of the columns that all folds share."""

from collections.abc import Sequence

import numpy as np
from scipy.special import logsumexp

from clearwood._shared.arrays import Bools, Floats, Index
from clearwood.models.glassbox.gam.design import Design
from clearwood.models.glassbox.gam.fitting import constrain, fit_counts, fit_folds, fit_score
from clearwood.models.glassbox.gam.response import FAMILIES, FamilyName
from clearwood.models.glassbox.gam.shapes import constraint_rows
from clearwood.models.glassbox.gam.softmax import fit_classes
from clearwood.models.glassbox.glass.boosting import BoostedLoss

__all__ = ["FAMILY_OF_LOSS", "fold_curves"]

FAMILY_OF_LOSS: dict[BoostedLoss, FamilyName] = {
    "squared": "gaussian",
    "logistic": "binomial",
    "poisson": "poisson",
    "gamma": "gamma",
}
#: Rounds over the classes: trees follow, so that curves need not be exact.
CLASS_ROUNDS = 3
#: What the curves of all folds may be multiplied by.
FACTORS = np.linspace(1.0, 0.0, 11)


def fold_curves(
    design: Design,
    y: Floats,
    weights: Floats,
    fold_of_row: Index,
    *,
    loss: BoostedLoss,
    n_outputs: int,
    exposure: Floats | None = None,
    monotone: Sequence[int] = (),
) -> tuple[Floats, Floats]:
    """Fit curves to the rows each fold keeps.

    Where the curves predict held-out rows worse than they would when drawn towards a constant, as
    for perfectly separated classes, those of all folds are multiplied by one factor below one.

    Parameters
    ----------
    design
        The functions of all columns; they use no target, so all rows may take part in them.
    y, weights, fold_of_row
        The target, the weights, and the fold that holds each row out.
    loss, n_outputs
        What is minimised, and the number of scores.
    exposure
        The part of the weights that is exposure, for the dispersion of counts; all when None.
    monotone
        For each column 1, -1 or 0.

    Returns
    -------
    coefficients : ndarray of shape (folds, coefficients, outputs)
    scores : ndarray of shape (folds, outputs, rows)
    """
    folds = [fold_of_row == fold for fold in range(int(fold_of_row.max()) + 1)]
    if loss == "softmax":
        coefficients = _of_classes(design, y, weights, folds, n_outputs)
    else:
        shares = weights if exposure is None else exposure
        coefficients = _of_numbers(design, y, weights, shares, folds, loss, monotone)
    scores = np.stack([[design.score(one) for one in fold.T] for fold in coefficients])
    constants = np.stack([_constant(loss, y[~rows], weights[~rows], n_outputs) for rows in folds])
    held_out = np.take_along_axis(scores, fold_of_row[None, None, :], axis=0)[0]
    start = constants[fold_of_row].T
    losses = [
        float(weights @ _losses(loss, y, start + factor * (held_out - start))) for factor in FACTORS
    ]
    factor = FACTORS[int(np.argmin(losses))]
    coefficients = factor * coefficients
    coefficients[:, 0] += (1 - factor) * constants
    return coefficients, constants[:, :, None] + factor * (scores - constants[:, :, None])


def _of_classes(
    design: Design, y: Floats, weights: Floats, folds: Sequence[Bools], n_classes: int
) -> Floats:
    """Fit curves of several classes; folds keep the smoothness chosen on all rows."""
    classes = y.astype(np.intp)
    whole = fit_classes(design, classes, n_classes, weights=weights, max_rounds=CLASS_ROUNDS)
    fits = [
        fit_classes(
            design,
            classes,
            n_classes,
            weights=np.where(rows, 0.0, weights),
            start=whole,
            search=False,
            max_rounds=CLASS_ROUNDS,
        )
        for rows in folds
    ]
    return np.stack([fit.coefficients for fit in fits])


def _of_numbers(
    design: Design,
    y: Floats,
    weights: Floats,
    exposure: Floats,
    folds: Sequence[Bools],
    loss: BoostedLoss,
    monotone: Sequence[int],
) -> Floats:
    """Fit curves of one score, each fold with a smoothness of its own."""
    family = FAMILY_OF_LOSS[loss]
    if family == "poisson":
        whole, dispersion = fit_counts(design, y, weights, exposure)
        weights = weights / dispersion.value
    else:
        whole = fit_score(design, y, weights=weights, family=family)
    held_out = [np.flatnonzero(rows) for rows in folds]
    fits = fit_folds(design, y, held_out, whole, weights=weights, family=family)
    directions = constraint_rows(design, monotone=monotone)
    if len(directions):
        fits = [
            constrain(
                design, y, fit, directions, weights=np.where(rows, 0.0, weights), family=family
            )
            for fit, rows in zip(fits, folds, strict=True)
        ]
    return np.stack([fit.coefficients[:, None] for fit in fits])


def _constant(loss: BoostedLoss, y: Floats, weights: Floats, n_outputs: int) -> Floats:
    """Return the best constant score of each output; a class without rows has half of one."""
    total = float(weights.sum())
    if loss == "softmax":
        shares = np.bincount(y.astype(np.intp), weights, n_outputs)
        return np.asarray(np.log(np.maximum(shares, 0.5) / total))
    mean = float(weights @ y) / total
    if loss == "squared":
        return np.array([mean])
    if loss == "logistic":
        least = 0.5 / max(total, 1.0)
        mean = min(max(mean, least), 1 - least)
        return np.array([np.log(mean / (1 - mean))])
    return np.array([np.log(max(mean, 1e-300))])


def _losses(loss: BoostedLoss, y: Floats, score: Floats) -> Floats:
    """Return the loss of each row at scores of shape (outputs, rows)."""
    if loss == "softmax":
        own = score[y.astype(np.intp), np.arange(len(y))]
        return np.asarray(logsumexp(score, axis=0) - own)
    return FAMILIES[FAMILY_OF_LOSS[loss]].deviance(y, score[0])
