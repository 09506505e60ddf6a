"""How far coefficients vary from sample to sample.

The Bayesian covariance V_β = P φ takes the smoothing parameters as known and covers too little;
V_c = V_β + J H⁻¹ Jᵀ adds their uncertainty to first order, with J = ∂β/∂ρ = −P(E∘β) and the
criterion's Hessian H (Wood, Pya & Säfken 2016).
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh

from clearwood._shared.arrays import Floats
from clearwood.models.glassbox.gam.design import Design
from clearwood.models.glassbox.gam.fitting import Fit
from clearwood.models.glassbox.gam.response import FAMILIES, FamilyName
from clearwood.models.glassbox.gam.softmax import ClassFit

__all__ = ["MOST_DEVIATIONS", "class_covariance", "corrected", "deviations", "scale"]

#: Beyond this many coefficients over all classes, their joint covariance is not computed.
MOST_DEVIATIONS = 2_000
#: Least curvature of the criterion that a direction of smoothing parameters counts with.
LEAST_CURVATURE = 0.1


def scale(design: Design, fit: Fit, y: Floats, weights: Floats, family: FamilyName) -> float:
    """Estimate the scale of the noise; one where the family has none."""
    kind = FAMILIES[family]
    if not kind.has_scale:
        return 1.0
    residual, weight = kind.working(y, design.score(fit.coefficients))
    rows = max(float(weights.sum()), float((weights > 0).sum()))
    used = float((1 - np.diag(fit.state.inverse) * fit.state.penalty).sum())
    return float(weights * weight @ residual**2) / max(rows - used, 1.0)


def corrected(fit: Fit, phi: float) -> Floats:
    """Return V_c."""
    return np.asarray(fit.state.inverse * phi + _of_smoothness(fit))


def _of_smoothness(fit: Fit) -> Floats:
    """Return what the uncertainty of the smoothing parameters adds."""
    state = fit.state
    if not len(fit.rho):
        return np.zeros_like(state.inverse)
    slopes = -state.inverse @ (state.each_penalty * state.coefficients[:, None])
    values, vectors = np.linalg.eigh(state.hessian)
    rotated = slopes @ (vectors / np.sqrt(np.maximum(values, LEAST_CURVATURE)))
    return np.asarray(rotated @ rotated.T)


def deviations(covariance: Floats) -> Floats:
    """Return columns whose outer products add up to a covariance."""
    values, vectors = eigh(covariance)
    keep = values > 1e-12 * max(float(values[-1]), 0.0)
    return np.asarray(vectors[:, keep] * np.sqrt(values[keep]))


def class_covariance(design: Design, fit: ClassFit, weights: Floats) -> Floats | None:
    """Return the covariance of all classes' coefficients, class by class; None if too large."""
    n_classes = len(fit.fits)
    width = design.width
    if n_classes * width > MOST_DEVIATIONS:
        return None
    scores = np.stack([design.score(beta) for beta in fit.coefficients.T], axis=1)
    shares = np.exp(scores - np.logaddexp.reduce(scores, axis=1)[:, None])
    information = np.zeros((n_classes * width, n_classes * width))
    for one in range(n_classes):
        mine = slice(one * width, (one + 1) * width)
        for other in range(one + 1):
            there = slice(other * width, (other + 1) * width)
            cell = shares[:, one] * ((one == other) - shares[:, other])
            # negative weights: the Gram matrix of their absolute values, with the sign put back
            sign = 1.0 if one == other else -1.0
            block = sign * design.gram(weights * np.abs(cell))
            information[mine, there] = block
            information[there, mine] = block
        information[mine, mine] += np.diag(fit.fits[one].state.penalty)
    # the same constant added to all classes changes nothing; it is taken out below
    ridge = 1e-10 * np.trace(information) / len(information)
    information.flat[:: len(information) + 1] += ridge
    factor = cho_factor(information, lower=True)
    centring = np.kron(np.eye(n_classes) - 1 / n_classes, np.eye(width))
    covariance = centring @ cho_solve(factor, centring)
    extra = np.zeros_like(covariance)
    for one, single in enumerate(fit.fits):
        mine = slice(one * width, (one + 1) * width)
        extra[mine, mine] = _of_smoothness(single)
    return np.asarray(covariance + centring @ extra @ centring)
