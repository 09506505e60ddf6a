"""The mixture: gates, experts, and the EM algorithm that fits both (Jordan and Jacobs 1994).

Gates are the inner nodes of a complete binary tree; each sends a row to the right with a
probability that is logistic in its columns. Every path ends in an expert, a linear model of the
target. The E step computes how probable it is that each expert made a row, the M step fits gates
and experts to rows weighted by that. Steps of gates and of experts for classes and counts raise
their part of the likelihood without maximising it, which is enough for it to rise.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, gammaln, log_expit, log_softmax, logsumexp, softmax

from clearwood._shared.arrays import Floats
from clearwood._shared.progress import Step, silent

__all__ = ["Family", "Mixture", "Options", "fit_mixture"]

Family = Literal["gaussian", "poisson", "classes"]
#: As a share of the target's standard deviation: a narrower expert could have any likelihood.
_LEAST_NOISE = 0.02
_INNER_STEPS = 8
_MOST_SCORE = 30.0
#: After these steps only the best start is continued.
_FIRST_STEPS = 12


@dataclass(frozen=True, eq=False)
class Mixture:
    """Gates and experts, in standardised columns after a column of ones.

    Parameters
    ----------
    gates
        Of shape (inner nodes, 1 + columns): log odds of going right; the children of node k are
        2k + 1 and 2k + 2.
    experts
        Of shape (experts, 1 + columns, outputs).
    noise
        Standard deviation of the noise of each expert; ones where there is none.
    path
        The penalised log-likelihood after each step.
    """

    gates: Floats
    experts: Floats
    noise: Floats
    path: Floats

    def log_shares(self, design: Floats) -> Floats:
        """Compute log probabilities of the experts, (rows, experts)."""
        n_leaves = len(self.gates) + 1
        scores = design @ self.gates.T
        right, left = log_expit(scores), log_expit(-scores)
        logs = np.zeros((len(design), 2 * n_leaves - 1))
        for node in range(n_leaves - 1):
            logs[:, 2 * node + 1] = logs[:, node] + left[:, node]
            logs[:, 2 * node + 2] = logs[:, node] + right[:, node]
        return logs[:, n_leaves - 1 :]

    def means(self, design: Floats, family: Family) -> Floats:
        """Compute means of all experts, (rows, experts, outputs)."""
        scores = np.einsum("nj,kjo->nko", design, self.experts)
        if family == "poisson":
            return np.exp(np.minimum(scores, _MOST_SCORE))
        return np.asarray(softmax(scores, axis=2)) if family == "classes" else scores

    def predict(self, design: Floats, family: Family) -> Floats:
        """Compute the mean of the mixture, (rows, outputs)."""
        shares = np.exp(self.log_shares(design))
        return np.asarray(np.einsum("nk,nko->no", shares, self.means(design, family)))


@dataclass(frozen=True)
class Options:
    """How a mixture is fitted."""

    levels: int
    ridge: float
    restarts: int
    max_steps: int
    tolerance: float


@dataclass(frozen=True, eq=False)
class _Problem:
    """Rows, targets of shape (rows, outputs), weights, and the penalty."""

    design: Floats
    target: Floats
    weight: Floats
    family: Family
    ridge: float
    least_noise: float

    def log_likelihoods(self, mixture: Mixture) -> Floats:
        """Compute the log-likelihood of rows under each expert, (rows, experts)."""
        scores = np.einsum("nj,kjo->nko", self.design, mixture.experts)
        if self.family == "classes":
            logs = log_softmax(scores, axis=2)
            return np.asarray((self.target[:, None, :] * logs).sum(axis=2))
        y, score = self.target, scores[:, :, 0]
        if self.family == "poisson":
            score = np.minimum(score, _MOST_SCORE)
            return np.asarray(y * score - np.exp(score) - gammaln(y + 1))
        away = (y - score) / mixture.noise
        return np.asarray(-0.5 * away**2 - np.log(mixture.noise) - 0.5 * np.log(2 * np.pi))

    def value(self, mixture: Mixture) -> float:
        """Compute the penalised log-likelihood."""
        joint = self.log_likelihoods(mixture) + mixture.log_shares(self.design)
        slopes = (mixture.gates[:, 1:] ** 2).sum() + (self._scaled(mixture) ** 2).sum()
        return float(self.weight @ logsumexp(joint, axis=1) - 0.5 * self.ridge * slopes)

    def _scaled(self, mixture: Mixture) -> Floats:
        """Return slopes of experts as the penalty counts them: over their noise for numbers."""
        return np.asarray(mixture.experts[:, 1:] / mixture.noise[:, None, None])

    def improved(self, mixture: Mixture) -> Mixture:
        """Take one step of EM."""
        joint = self.log_likelihoods(mixture) + mixture.log_shares(self.design)
        shares = np.exp(joint - logsumexp(joint, axis=1, keepdims=True)) * self.weight[:, None]
        gates = self._gates(mixture.gates, shares)
        experts, noise = mixture.experts.copy(), mixture.noise.copy()
        for k in range(len(experts)):
            experts[k], noise[k] = self._expert(experts[k], noise[k], shares[:, k])
        return Mixture(gates, experts, noise, mixture.path)

    def _gates(self, gates: Floats, shares: Floats) -> Floats:
        n_leaves = shares.shape[1]
        total = np.zeros((len(shares), 2 * n_leaves - 1))
        total[:, n_leaves - 1 :] = shares
        for node in range(n_leaves - 2, -1, -1):
            total[:, node] = total[:, 2 * node + 1] + total[:, 2 * node + 2]
        result = gates.copy()
        for node in range(n_leaves - 1):
            right, all_of = total[:, 2 * node + 2], total[:, node]

            def loss(
                beta: Floats, right: Floats = right, all_of: Floats = all_of
            ) -> tuple[float, Floats]:
                score = self.design @ beta
                value = float(all_of @ np.logaddexp(0, score) - right @ score)
                return value, self.design.T @ (all_of * expit(score) - right)

            result[node] = self._climbed(loss, gates[node])
        return result

    def _expert(self, beta: Floats, noise: float, share: Floats) -> tuple[Floats, float]:
        """Fit an expert to rows by their shares."""
        if self.family == "gaussian":
            return self._linear_expert(beta, noise, share)
        shape = beta.shape

        def loss(flat: Floats) -> tuple[float, Floats]:
            score = self.design @ flat.reshape(shape)
            if self.family == "classes":
                logs = log_softmax(score, axis=1)
                value = -float(share @ (self.target * logs).sum(axis=1))
                slope = share[:, None] * (np.exp(logs) - self.target)
            else:
                held = np.minimum(score, _MOST_SCORE)
                value = float(share @ (np.exp(held) - self.target * held)[:, 0])
                slope = share[:, None] * np.where(
                    score < _MOST_SCORE, np.exp(held) - self.target, 0
                )
            return value, (self.design.T @ slope).ravel()

        return self._climbed(loss, beta.ravel()).reshape(shape), noise

    def _linear_expert(self, beta: Floats, noise: float, share: Floats) -> tuple[Floats, float]:
        """Fit a line by weighted ridge regression, and its noise."""
        n_columns = self.design.shape[1] - 1
        penalty = np.diag([0.0] + [self.ridge] * n_columns)
        gram = self.design.T @ (share[:, None] * self.design) + penalty
        total = float(share.sum())
        if total < 1e-8:
            return beta, noise
        gram[np.diag_indices_from(gram)] += 1e-10 * total
        beta = np.linalg.solve(gram, self.design.T @ (share[:, None] * self.target))
        left = share @ (self.target - self.design @ beta)[:, 0] ** 2
        left += self.ridge * float((beta[1:] ** 2).sum())
        return beta, max(float(np.sqrt(left / total)), self.least_noise)

    def _climbed(self, loss: Callable[[Floats], tuple[float, Floats]], start: Floats) -> Floats:
        """Lower a loss plus the penalty by a few steps; never raise it."""
        width = self.design.shape[1]
        penalised = np.ones((width, len(start) // width))
        penalised[0] = 0.0
        mask = penalised.ravel()

        def whole(beta: Floats) -> tuple[float, Floats]:
            value, slope = loss(beta)
            return value + 0.5 * self.ridge * float(
                mask @ beta**2
            ), slope + self.ridge * mask * beta

        found = minimize(
            whole, start, jac=True, method="L-BFGS-B", options={"maxiter": _INNER_STEPS}
        )
        return np.asarray(found.x if found.fun <= whole(start)[0] else start)


def fit_mixture(
    design: Floats,
    target: Floats,
    weight: Floats,
    family: Family,
    options: Options,
    rng: np.random.Generator,
    step: Step = silent,
) -> Mixture:
    """Fit a mixture from several random starts, and continue the one of the largest likelihood.

    Parameters
    ----------
    design
        A column of ones, and standardised columns.
    target
        Of shape (rows, outputs): one indicator for each class.
    weight
        How many rows each row stands for.
    family
        Of the experts.
    options
        How.
    rng
        Draws the starts.
    step
        Called with 1 after every start.
    """
    share = weight / weight.sum()
    spread = float(np.sqrt(share @ (target - share @ target) ** 2).max())
    problem = _Problem(
        design, target, weight, family, options.ridge, max(_LEAST_NOISE * spread, 1e-12)
    )
    first = min(_FIRST_STEPS, options.max_steps)
    results = []
    for _ in range(options.restarts):
        start = _start(problem, options.levels, spread, rng)
        results.append(_climb(problem, start, first, options.tolerance))
        step(1)
    best = max(results, key=lambda one: float(one.path[-1]))
    return _climb(problem, best, options.max_steps - first, options.tolerance)


def _start(problem: _Problem, levels: int, spread: float, rng: np.random.Generator) -> Mixture:
    """Draw steep gates at random, and let experts start from the mean."""
    width, n_experts = problem.design.shape[1], 2**levels
    gates = rng.normal(size=(n_experts - 1, width)) * 2 / np.sqrt(max(width - 1, 1))
    gates[:, 0] = rng.normal(size=n_experts - 1)
    mean = np.average(problem.target, axis=0, weights=problem.weight)
    experts = np.zeros((n_experts, width, problem.target.shape[1]))
    if problem.family == "gaussian":
        experts[:, 0] = mean + 0.5 * spread * rng.normal(size=(n_experts, 1))
    else:
        experts[:, 0] = np.log(np.maximum(mean, 1e-9))
        experts += 0.3 * rng.normal(size=experts.shape) / np.sqrt(width)
    is_number = problem.family == "gaussian"
    noise = (
        np.full(n_experts, max(spread, problem.least_noise)) if is_number else np.ones(n_experts)
    )
    return Mixture(gates, experts, noise, np.empty(0))


def _climb(problem: _Problem, mixture: Mixture, steps: int, tolerance: float) -> Mixture:
    """Repeat EM until the likelihood rises no more, and add what it was to the path."""
    path = [*mixture.path] or [problem.value(mixture)]
    least = tolerance * max(float(problem.weight.sum()), 1.0)
    for _ in range(steps):
        if len(path) > 1 and path[-1] - path[-2] < least:
            break
        mixture = problem.improved(mixture)
        path.append(problem.value(mixture))
    return Mixture(mixture.gates, mixture.experts, mixture.noise, np.array(path))
