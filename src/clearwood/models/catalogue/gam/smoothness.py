"""Automatic smoothness: fREML by Newton's method on the logarithms of the smoothing parameters.

With A = XᵀWX + S, S = diag(Σ λ_k d_k), P = A⁻¹, β = P XᵀWz and D = zᵀWz − βᵀXᵀWz the criterion is
(n − M)/2 · log D + ½ log|A| − ½ Σ log s over the M-less penalised coefficients; D/2 replaces its
first term where the scale is known (Wood, Li, Shaddick & Augustin 2017). All penalties are
diagonal, so gradient and Hessian need nothing but P.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from clearwood._shared.arrays import Floats

__all__ = [
    "RHO_LIMIT",
    "State",
    "Working",
    "awake",
    "criterion",
    "evaluate",
    "first_rho",
    "improve",
    "positive_factor",
]

#: Logarithms of smoothing parameters stay within this.
RHO_LIMIT = 20.0


@dataclass(frozen=True, eq=False)
class Working:
    """A penalised least-squares problem by its sums over rows.

    Parameters
    ----------
    gram, moment, total
        XᵀWX, XᵀWz and zᵀWz.
    penalties
        The diagonals d_k as columns, of shape (coefficients, penalties).
    freedom
        Rows less unpenalised coefficients; None where the scale is known.
    rows
        Rows, by their weights.
    largest
        Largest standard deviation, a priori, of any penalised coefficient; infinite for any.
    """

    gram: Floats
    moment: Floats
    total: float
    penalties: Floats
    freedom: float | None
    rows: float
    largest: float = np.inf

    @property
    def least_rho(self) -> Floats:
        """The least logarithm of each smoothing parameter."""
        if np.isinf(self.largest):
            return np.full(self.penalties.shape[1], -RHO_LIMIT)
        least = np.where(self.penalties > 0, self.penalties, np.inf).min(axis=0, initial=np.inf)
        return np.asarray(-2 * np.log(self.largest) - np.log(least))


@dataclass(frozen=True, eq=False)
class State:
    """The solution at given smoothing parameters, with the criterion and its derivatives."""

    value: float
    gradient: Floats
    hessian: Floats
    coefficients: Floats
    inverse: Floats
    penalty: Floats
    each_penalty: Floats


def _factor(gram: Floats, penalty: Floats) -> tuple[Floats, bool]:
    matrix = gram.copy()
    matrix.flat[:: len(matrix) + 1] += penalty
    lower, failed = lapack.dpotrf(matrix, lower=1, overwrite_a=1)
    return lower, bool(failed)


def positive_factor(gram: Floats, penalty: Floats) -> Floats:
    """Factor A; a ridge of rounding size is added until it is positive definite."""
    ridge = 0.0
    for power in range(-10, 0):
        lower, failed = _factor(gram, penalty + ridge)
        if not failed:
            return lower
        ridge = 10.0**power * max(float(np.trace(gram)) / len(gram), 1e-12)
    message = "the normal equations are not finite"
    raise FloatingPointError(message)


def _residual(working: Working, explained: float) -> float:
    return max(working.total - explained, 1e-10 * working.total, 1e-100)


def _criterion(working: Working, residual: float, log_det: float, penalty: Floats) -> float:
    log_penalty = float(np.log(penalty[penalty > 0]).sum())
    fit = residual / 2 if working.freedom is None else working.freedom / 2 * np.log(residual)
    return float(fit + log_det / 2 - log_penalty / 2)


def evaluate(working: Working, rho: Floats) -> State:
    """Solve at given smoothing parameters, and differentiate the criterion there."""
    each = working.penalties * np.exp(rho)
    penalty = each.sum(axis=1)
    lower = positive_factor(working.gram, penalty)
    beta = lapack.dpotrs(lower, working.moment, lower=1)[0]
    inverse = lapack.dpotri(lower, lower=1)[0]
    inverse = np.tril(inverse) + np.tril(inverse, -1).T
    residual = _residual(working, float(beta @ working.moment))
    value = _criterion(working, residual, 2 * float(np.log(np.diag(lower)).sum()), penalty)

    roughness = each.T @ beta**2
    each_beta = each * beta[:, None]
    residual_second = np.diag(roughness) - 2 * each_beta.T @ (inverse @ each_beta)
    if working.freedom is None:
        gradient, hessian = roughness / 2, residual_second / 2
    else:
        half = working.freedom / 2
        share = roughness / residual
        gradient = half * share
        hessian = half * (residual_second / residual - np.outer(share, share))
    trace = each.T @ np.diag(inverse)
    trace_second = np.diag(trace) - each.T @ ((inverse * inverse) @ each)
    penalised = penalty > 0
    ratio = each[penalised] / penalty[penalised, None]
    log_first = ratio.sum(axis=0)
    log_second = np.diag(log_first) - ratio.T @ ratio
    return State(
        value=value,
        gradient=gradient + trace / 2 - log_first / 2,
        hessian=hessian + trace_second / 2 - log_second / 2,
        coefficients=beta,
        inverse=inverse,
        penalty=penalty,
        each_penalty=each,
    )


def criterion(working: Working, rho: Floats) -> float:
    """Return the criterion at given smoothing parameters."""
    penalty = working.penalties @ np.exp(rho)
    lower, failed = _factor(working.gram, penalty)
    if failed:
        return np.inf
    half = lapack.dtrtrs(lower, working.moment, lower=1)[0]
    residual = _residual(working, float(half @ half))
    return _criterion(working, residual, 2 * float(np.log(np.diag(lower)).sum()), penalty)


def first_rho(working: Working) -> Floats:
    """Return smoothing parameters to start from: curves that follow the data rather closely.

    The functions have unit mean square, so that the weight of the rows sets the scale. With many
    functions and few rows the start is smoother, at half as many degrees of freedom as rows: close
    to interpolation the criterion has minima of its own.
    """
    diagonal = np.diag(working.gram)
    whole = working.penalties.sum(axis=1)
    level = float(np.log(max(float(np.mean(diagonal)), 1e-6)))
    for above in range(-3, 12):
        # as if the functions of all terms were orthogonal
        shrunk = diagonal / np.maximum(diagonal + whole * np.exp(level + above), 1e-300)
        if float(shrunk.sum()) - 1 < working.rows / 2:
            break
    return np.full(working.penalties.shape[1], level + above)


def awake(working: Working, rho: Floats) -> Floats:
    """Return smoothing parameters of another fit, where no term has vanished for good.

    Far out the criterion is flat, and a search that starts there would stay.
    """
    return np.minimum(rho, first_rho(working) + 4.0)


def improve(
    working: Working, rho: Floats, *, max_steps: int, tolerance: float = 1e-4
) -> tuple[Floats, State, bool]:
    """Take Newton steps on the criterion.

    Returns
    -------
    rho
        The logarithms of the smoothing parameters.
    state
        The solution at them.
    converged
        Whether a further step would change the criterion by next to nothing.
    """
    least = working.least_rho
    if max_steps:
        rho = np.maximum(rho, least)
    state = evaluate(working, rho)
    for _ in range(max_steps):
        step = _newton_step(state, rho, least)
        if step is None:
            return rho, state, True
        for halving in range(10):
            new = np.clip(rho + step / 2**halving, least, RHO_LIMIT)
            value = criterion(working, new)
            if value <= state.value + 1e-10 * abs(state.value):
                break
        else:
            return rho, state, True
        gained = state.value - value
        rho, state = new, evaluate(working, new)
        if gained < tolerance + 1e-10 * abs(value):
            return rho, state, True
    return rho, state, False


def _newton_step(state: State, rho: Floats, least: Floats) -> Floats | None:
    """Return the step, no longer than 5; None where the criterion is flat in every direction."""
    gradient, hessian = state.gradient, state.hessian
    flat = (np.abs(gradient) < 1e-3) & (np.abs(np.diag(hessian)) < 1e-3)
    at_end = (rho > RHO_LIMIT - 2) & (gradient < 0)
    # near -RHO_LIMIT nothing changes any more; at a bound that is nearer, only there
    near = np.where(least > -RHO_LIMIT, 1e-6, 2.0)
    at_end |= (rho < least + near) & (gradient > 0)
    live = ~flat & ~at_end
    if not live.any() or np.abs(gradient[live]).max() < 1e-3:
        return None
    values, vectors = np.linalg.eigh(hessian[np.ix_(live, live)])
    values = np.abs(values)
    values = np.maximum(values, 1e-4 * max(float(values.max()), 1e-8))
    step = np.zeros_like(rho)
    step[live] = -vectors @ ((vectors.T @ gradient[live]) / values)
    longest = float(np.abs(step).max())
    return step * min(1.0, 5 / longest) if longest > 0 else None
