"""How far coefficients vary from sample to sample.

The Bayesian covariance V_β = P φ takes the smoothing parameters as known and covers too little;
V_c = V_β + J H⁻¹ Jᵀ adds their uncertainty to first order, with J = ∂β/∂ρ = −P(E∘β) and the
criterion's Hessian H (Wood, Pya & Säfken 2016). Where the criterion is flat, as for a term that has
vanished, a first-order correction is zero although less smooth curves fit as well; there V_c is
taken at the least smooth parameter that the criterion hardly prefers another to.
"""

from collections.abc import Sequence

import numpy as np
from scipy.linalg import cho_solve, eigh

from clearwood._shared.arrays import Floats, Index
from clearwood.models.catalogue.gam.bases import Beyond, SplineBasis, deviating_bases
from clearwood.models.catalogue.gam.design import Design, Projection
from clearwood.models.catalogue.gam.fitting import ClassFit, Fit
from clearwood.models.catalogue.gam.smoothness import (
    RHO_LIMIT,
    State,
    evaluate,
    positive_factor,
)
from clearwood.models.shared.response import FAMILIES, FamilyName
from clearwood.models.shared.score import Basis, ProductTerm, ScoreParts, Spread, SumOfProducts

__all__ = [
    "MOST_DEVIATIONS",
    "class_covariance",
    "corrected",
    "curve_spread",
    "deviations",
    "least_smooth",
    "projected_deviations",
    "scale",
]

#: Beyond this many coefficients over all classes, their joint covariance is not computed.
MOST_DEVIATIONS = 2_000
#: Least curvature of the criterion that a direction of smoothing parameters counts with.
LEAST_CURVATURE = 0.1
#: A loss of the criterion that makes no difference: a likelihood ratio of 1.13.
INDIFFERENT = 0.12
#: Draws that bands under constraints come from.
DRAWS = 400


def scale(design: Design, fit: Fit, y: Floats, weights: Floats, family: FamilyName) -> float:
    """Estimate the scale of the noise; one where the family has none."""
    kind = FAMILIES[family]
    if not kind.has_scale:
        return 1.0
    residual, weight = kind.working(y, design.score(fit.coefficients))
    rows = fit.working.rows
    used = float((1 - np.diag(fit.state.inverse) * fit.state.penalty).sum())
    return max(float(weights * weight @ residual**2) / max(rows - used, 1.0), 1e-100)


def corrected(fit: Fit, phi: float, free: Index | None = None) -> Floats:
    """Return V_c; without the penalties at some positions, as if their terms were not shrunk."""
    state = evaluate(fit.working, _freed(least_smooth(fit), free))
    return np.asarray(state.inverse * phi + _of_smoothness(state))


def _freed(rho: Floats, free: Index | None) -> Floats:
    """Lower smoothing parameters until their penalties are next to nothing."""
    if free is not None:
        rho[free] = -RHO_LIMIT
    return rho


def least_smooth(fit: Fit) -> Floats:
    """Lower each flat smoothing parameter as far as the criterion loses next to nothing.

    A change of one penalty by diag(δ) changes log|A| by log|I + δP| and D by βᵀδ(I + Pδ)⁻¹β, with
    the rows and columns of P that the penalty applies to.
    """
    state, working = fit.state, fit.working
    rho = fit.rho.copy()
    explained = float(state.coefficients @ working.moment)
    residual = max(float(working.total) - explained, 1e-300)
    floor = float(np.log(max(float(np.mean(np.diag(working.gram))), 1e-6))) - 12.0
    floors = np.maximum(floor, working.least_rho)
    for k in np.flatnonzero((np.diag(state.hessian) < LEAST_CURVATURE) & (rho > floors)):
        low, high = float(floors[k]), float(rho[k])
        for _ in range(8):
            middle = (low + high) / 2
            lost = _loss(fit, int(k), middle - float(rho[k]), residual)
            low, high = (middle, high) if lost > INDIFFERENT else (low, middle)
        rho[k] = high
    return rho


def _loss(fit: Fit, k: int, step: float, residual: float) -> float:
    """Return how much the criterion rises when one smoothing parameter changes."""
    state, freedom = fit.state, fit.working.freedom
    on = np.flatnonzero(fit.working.penalties[:, k])
    beta = state.coefficients[on]
    change = state.each_penalty[on, k] * np.expm1(step)
    mixed = np.eye(len(on)) + state.inverse[np.ix_(on, on)] * change
    sign, log_det = np.linalg.slogdet(mixed)
    if sign <= 0:
        return np.inf
    after = max(residual + float((beta * change) @ np.linalg.solve(mixed, beta)), 1e-300)
    if freedom is None:
        fit_change = (after - residual) / 2
    else:
        fit_change = freedom / 2 * np.log(after / residual)
    log_penalty = float(np.log1p(change / state.penalty[on]).sum())
    return float(fit_change + (log_det - log_penalty) / 2)


def _of_smoothness(state: State) -> Floats:
    """Return what the uncertainty of the smoothing parameters adds."""
    if not state.each_penalty.shape[1]:
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


def curve_spread(
    curves: Sequence[tuple[tuple[int, ...], tuple[Basis, ...], tuple[int, ...]]],
    deviating: Floats,
    beyond: Floats,
    freedom: float,
) -> Spread:
    """Describe how far curves vary, wider beyond the ends where they are constant.

    Parameters
    ----------
    curves
        The columns and the bases of each term, and how many functions it has of each column.
    deviating
        Deviations of the coefficients, of shape (coefficients, outputs, deviations).
    beyond
        Standard deviation of each curve for each unit beyond its ends, of shape (terms, 2,
        outputs), as from `beyond_ends`.
    freedom
        Degrees of freedom.
    """
    with_ends = np.flatnonzero(beyond.any(axis=(1, 2))).tolist()
    width, outputs, own = deviating.shape
    count = own + len(with_ends)
    padded = np.zeros((width, outputs, count))
    padded[:, :, :own] = deviating
    flat = padded.reshape(width, -1)
    terms, start = [], 1
    for columns, bases, shape in curves:
        end = start + int(np.prod(shape))
        mine = flat[start:end].reshape(*shape, -1).copy()
        terms.append(ProductTerm(columns, deviating_bases(bases), mine))
        start = end
    for k, position in enumerate(with_ends):
        columns, (basis, *_), _ = curves[position]
        assert isinstance(basis, SplineBasis)
        ramps = Beyond(basis.low, basis.high, basis.high - basis.low)
        slopes = np.zeros((2, outputs, count))
        slopes[:, :, own + k] = beyond[position]
        terms.append(ProductTerm(columns, (ramps,), slopes.reshape(2, -1)))
    products = SumOfProducts(flat[0].copy(), tuple(terms))
    return Spread(ScoreParts(products), count, freedom, "covariance")


def class_covariance(
    design: Design, fit: ClassFit, weights: Floats, free: Index | None = None
) -> Floats | None:
    """Return the covariance of all classes' coefficients, class by class; None if too large.

    ``free`` are positions of penalties to leave out.
    """
    n_classes = len(fit.fits)
    width = design.width
    if n_classes * width > MOST_DEVIATIONS:
        return None
    scores = np.stack([design.score(beta) for beta in fit.coefficients.T], axis=1)
    shares = np.exp(scores - np.logaddexp.reduce(scores, axis=1)[:, None])
    information = np.zeros((n_classes * width, n_classes * width))
    states = []
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
        rho = _freed(least_smooth(fit.fits[one]), free)
        state = evaluate(fit.fits[one].working, rho)
        information[mine, mine] += np.diag(state.penalty)
        states.append(state)
    # the same constant added to all classes changes nothing; it is taken out below
    ridge = 1e-10 * np.trace(information) / len(information)
    lower = positive_factor(information, np.full(len(information), ridge))
    centring = np.kron(np.eye(n_classes) - 1 / n_classes, np.eye(width))
    covariance = centring @ cho_solve((lower, True), centring)
    extra = np.zeros_like(covariance)
    for one, state in enumerate(states):
        mine = slice(one * width, (one + 1) * width)
        extra[mine, mine] = _of_smoothness(state)
    return np.asarray(covariance + centring @ extra @ centring)


def projected_deviations(
    free: Floats, covariance: Floats, projection: Projection, centre: Floats
) -> Floats:
    """Return deviations of coefficients under constraints: draws, each projected.

    Parameters
    ----------
    free, covariance
        The coefficients without constraints, and their covariance.
    projection
        Makes coefficients keep the constraints.
    centre
        The coefficients that the fit under constraints has.
    """
    # a fixed stream, so that a fit is the same every time
    draws = np.random.default_rng(0).standard_normal((DRAWS, len(free)))
    factor = deviations(covariance)
    kept = [projection(free + factor @ draw[: factor.shape[1]]) for draw in draws]
    return np.asarray((np.array(kept) - centre).T / np.sqrt(DRAWS))
