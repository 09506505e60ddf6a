"""The smooth curves of every fold, on functions of the columns that all folds share."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from clearwood._shared.arrays import Bools, Floats, Index
from clearwood.models.catalogue.gam.covariance import (
    class_covariance,
    corrected,
    deviations,
    scale,
)
from clearwood.models.catalogue.gam.design import Design, constraint_rows
from clearwood.models.catalogue.gam.fitting import (
    constrain,
    fit_classes,
    fit_counts,
    fit_folds,
    fit_score,
    relative,
)
from clearwood.models.catalogue.glass.boosting import BoostedLoss
from clearwood.models.shared.response import FAMILIES, FamilyName

__all__ = ["FAMILY_OF_LOSS", "Curves", "fold_curves"]

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


@dataclass(frozen=True, eq=False)
class Curves:
    """The curves of every fold, and how far their mean varies from sample to sample.

    Parameters
    ----------
    coefficients
        Of shape (folds, coefficients, outputs).
    scores
        Of shape (folds, outputs, rows).
    deviations
        A root of the covariance of the coefficients, of shape (coefficients, outputs, deviations):
        that of the likelihood at the chosen smoothness, with levels as if they were not shrunk,
        since trees undo some of it, and no smaller where one factor draws the curves towards a
        constant. None where there are too many coefficients.
    freedom
        Degrees of freedom of the scale of the deviations.
    noise
        The dispersion of the target.
    """

    coefficients: Floats
    scores: Floats
    deviations: Floats | None
    freedom: float
    noise: float


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
) -> Curves:
    """Fit curves to the rows each fold keeps.

    Where the curves predict held-out rows worse than they would when drawn towards a constant, as
    for perfectly separated classes, those of all folds are multiplied by one factor below one;
    terms without a penalty are not.

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
    """
    folds = [fold_of_row == fold for fold in range(int(fold_of_row.max()) + 1)]
    if loss == "softmax":
        coefficients, spread, freedom = _of_classes(design, y, weights, folds, n_outputs)
        noise = 1.0
    else:
        shares = weights if exposure is None else exposure
        coefficients, spread, freedom, noise = _of_numbers(
            design, y, weights, shares, folds, loss, monotone
        )
    scores = np.stack([[design.score(one) for one in fold.T] for fold in coefficients])
    constants = np.stack([_constant(loss, y[~rows], weights[~rows], n_outputs) for rows in folds])
    # what no factor applies to: a constant and terms without a penalty
    is_fixed = design.penalties.sum(axis=1) == 0
    is_fixed[0] = False
    kept = np.where(is_fixed[None, :, None], coefficients, 0.0)
    kept[:, 0] = constants
    least = np.stack([[design.score(one) for one in fold.T] for fold in kept])
    held_out, start = (
        np.take_along_axis(one, fold_of_row[None, None, :], axis=0)[0] for one in (scores, least)
    )
    losses = [
        float(weights @ _losses(loss, y, start + factor * (held_out - start))) for factor in FACTORS
    ]
    factor = FACTORS[int(np.argmin(losses))]
    return Curves(
        kept + factor * (coefficients - kept),
        least + factor * (scores - least),
        spread,
        freedom,
        noise,
    )


def _of_classes(
    design: Design, y: Floats, weights: Floats, folds: Sequence[Bools], n_classes: int
) -> tuple[Floats, Floats | None, float]:
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
    covariance = class_covariance(design, whole, weights, design.of_levels)
    spread = None
    if covariance is not None:
        shape = (n_classes, design.width, -1)
        spread = deviations(covariance).reshape(shape).transpose(1, 0, 2)
    return np.stack([fit.coefficients for fit in fits]), spread, np.inf


def _of_numbers(
    design: Design,
    y: Floats,
    weights: Floats,
    exposure: Floats,
    folds: Sequence[Bools],
    loss: BoostedLoss,
    monotone: Sequence[int],
) -> tuple[Floats, Floats, float, float]:
    """Fit curves of one score, each fold with a smoothness of its own."""
    family = FAMILY_OF_LOSS[loss]
    noise = 1.0
    if family == "poisson":
        whole, dispersion = fit_counts(design, y, weights, exposure)
        noise = dispersion.value
        weights, freedom = weights / dispersion.value, dispersion.freedom
    else:
        whole = fit_score(design, y, weights=weights, family=family)
        used = float((1 - np.diag(whole.state.inverse) * whole.state.penalty).sum())
        known = not FAMILIES[family].has_scale
        freedom = np.inf if known else max(whole.working.rows - used, 1.0)
    phi = scale(design, whole, y, relative(weights, len(y), family), family)
    spread = deviations(corrected(whole, phi, design.of_levels))[:, None, :]
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
    return np.stack([fit.coefficients[:, None] for fit in fits]), spread, freedom, phi * noise


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
