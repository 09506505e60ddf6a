"""The smooth curves of every fold, on functions of the columns that all folds share."""

import numpy as np

from clearwood._shared.arrays import Floats, Index
from clearwood.models.glassbox.gam.design import Design
from clearwood.models.glassbox.gam.fitting import Fit, fit_folds, fit_score
from clearwood.models.glassbox.gam.response import FAMILIES, FamilyName
from clearwood.models.glassbox.gam.softmax import fit_classes
from clearwood.models.glassbox.glass.boosting import BoostedLoss

__all__ = ["FAMILY_OF_LOSS", "fold_curves"]

FAMILY_OF_LOSS: dict[BoostedLoss, FamilyName] = {
    "squared": "gaussian",
    "logistic": "binomial",
    "poisson": "poisson",
    "gamma": "gamma",
}


def fold_curves(
    design: Design,
    y: Floats,
    weights: Floats,
    fold_of_row: Index,
    *,
    loss: BoostedLoss,
    n_outputs: int,
) -> Floats:
    """Fit curves to the rows each fold keeps.

    Parameters
    ----------
    design
        The functions of all columns; they use no target, so all rows may take part in them.
    y, weights, fold_of_row
        The target, the weights, and the fold that holds each row out.
    loss, n_outputs
        What is minimised, and the number of scores.

    Returns
    -------
    ndarray of shape (folds, coefficients, outputs)
    """
    n_folds = int(fold_of_row.max()) + 1
    if loss == "softmax":
        classes = y.astype(np.intp)
        start = fit_classes(design, classes, n_outputs, weights=weights)
        kept = [np.where(fold_of_row == fold, 0.0, weights) for fold in range(n_folds)]
        fits = [fit_classes(design, classes, n_outputs, weights=one, start=start) for one in kept]
        return np.stack([fit.coefficients for fit in fits])
    family = FAMILY_OF_LOSS[loss]
    if family == "poisson":
        whole, weights = _overdispersed(design, y, weights)
    else:
        whole = fit_score(design, y, weights=weights, family=family)
    held_out = [np.flatnonzero(fold_of_row == fold) for fold in range(n_folds)]
    singles = fit_folds(design, y, held_out, whole, weights=weights, family=family)
    return np.stack([fit.coefficients[:, None] for fit in singles])


def _overdispersed(design: Design, y: Floats, weights: Floats) -> tuple[Fit, Floats]:
    """Fit counts or amounts that vary more than Poisson's law; return weights over dispersion.

    The choice of smoothness takes the variance from the family. Amounts in thousands, or counts
    that come in clusters, would look like far more information than they are.
    """
    mean = np.full(len(y), np.average(y, weights=weights))
    dispersion = _dispersion(y, mean, weights)
    fit = fit_score(design, y, weights=weights / dispersion, family="poisson")
    fitted = FAMILIES["poisson"].mean(design.score(fit.coefficients))
    better = _dispersion(y, fitted, weights)
    if better < 0.9 * dispersion:
        dispersion = better
        fit = fit_score(design, y, weights=weights / dispersion, family="poisson", start=fit)
    return fit, weights / dispersion


def _dispersion(y: Floats, mean: Floats, weights: Floats) -> float:
    """Return Pearson's statistic for each row, at least one."""
    rows = max(float(weights.sum()), len(y))
    return max(1.0, float(weights @ ((y - mean) ** 2 / mean)) / rows)
