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
from scipy.special import expit, gammaln, log_expit, softmax

from clearwood._shared.arrays import Floats
from clearwood._shared.progress import Step, silent

__all__ = ["Family", "Mixture", "MixtureOptions", "fit_mixture"]

Family = Literal["gaussian", "poisson", "classes"]
#: Its value, and first and second derivatives in the scores, of shape (rows, outputs).
_Loss = tuple[float, Floats, Floats]
#: As a share of the target's standard deviation: a narrower expert could have any likelihood.
_LEAST_NOISE = 0.02
_MOST_SCORE = 100.0
#: Halves of a step before it is not taken.
_HALVES = 12
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
            return np.asarray(np.exp(np.minimum(scores, _MOST_SCORE)))
        return np.asarray(softmax(scores, axis=2) if family == "classes" else scores)

    def predict(self, design: Floats, family: Family) -> Floats:
        """Compute the mean of the mixture, (rows, outputs)."""
        shares = np.exp(self.log_shares(design))
        return np.asarray(np.einsum("nk,nko->no", shares, self.means(design, family)))


@dataclass(frozen=True)
class MixtureOptions:
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
            logs = _log_softmax(scores)
            return np.asarray((self.target[:, None, :] * logs).sum(axis=2))
        y, score = self.target, scores[:, :, 0]
        if self.family == "poisson":
            score = np.minimum(score, _MOST_SCORE)
            return np.asarray(y * score - np.exp(score) - gammaln(y + 1))
        away = (y - score) / mixture.noise
        return np.asarray(-0.5 * away**2 - np.log(mixture.noise) - 0.5 * np.log(2 * np.pi))

    def expected(self, mixture: Mixture) -> tuple[float, Floats]:
        """Take the E step: the penalised log-likelihood, and shares of rows times their weights."""
        joint = self.log_likelihoods(mixture) + mixture.log_shares(self.design)
        total = np.logaddexp.reduce(joint, axis=1)
        slopes = (mixture.gates[:, 1:] ** 2).sum() + (self._scaled(mixture) ** 2).sum()
        value = float(self.weight @ total - 0.5 * self.ridge * slopes)
        return value, np.exp(joint - total[:, None]) * self.weight[:, None]

    def _scaled(self, mixture: Mixture) -> Floats:
        """Return slopes of experts as the penalty counts them: over their noise for numbers."""
        return np.asarray(mixture.experts[:, 1:] / mixture.noise[:, None, None])

    def improved(self, mixture: Mixture, shares: Floats) -> Mixture:
        """Take the M step."""
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
            right, all_of = total[:, [2 * node + 2]], total[:, [node]]

            def loss(score: Floats, right: Floats = right, all_of: Floats = all_of) -> _Loss:
                odds = expit(score)
                value = float((all_of * np.logaddexp(0, score) - right * score).sum())
                return value, all_of * odds - right, all_of * odds * (1 - odds)

            result[node] = self._climbed(loss, gates[node][:, None])[:, 0]
        return result

    def _expert(self, beta: Floats, noise: float, share: Floats) -> tuple[Floats, float]:
        """Fit an expert to rows by their shares."""
        if self.family == "gaussian":
            return self._linear_expert(beta, noise, share)
        of_rows = share[:, None]

        def class_loss(score: Floats) -> _Loss:
            logs = _log_softmax(score)
            means = np.exp(logs)
            value = -float((of_rows * self.target * logs).sum())
            # twice the diagonal bounds the second derivatives, and is exact for two classes
            return value, of_rows * (means - self.target), 2 * of_rows * means * (1 - means)

        def count_loss(score: Floats) -> _Loss:
            held = np.minimum(score, _MOST_SCORE)
            means = np.exp(held)
            value = float((of_rows * (means - self.target * held)).sum())
            return (
                value,
                np.where(score < _MOST_SCORE, means - self.target, 0.0) * of_rows,
                (of_rows * means),
            )

        return self._climbed(class_loss if self.family == "classes" else count_loss, beta), noise

    def _linear_expert(self, beta: Floats, noise: float, share: Floats) -> tuple[Floats, float]:
        """Fit a line by weighted ridge regression, and its noise."""
        total = float(share.sum())
        if total < 1e-8:
            return beta, noise
        moments = self.design.T @ (share[:, None] * self.target)
        line = np.asarray(np.linalg.solve(self._curvature(share), moments), np.float64)
        left = share @ (self.target - self.design @ line)[:, 0] ** 2
        left += self.ridge * float((line[1:] ** 2).sum())
        return line, max(float(np.sqrt(left / total)), self.least_noise)

    def _curvature(self, share: Floats) -> Floats:
        """Return second derivatives of a sum of squares by shares, with those of the penalty."""
        matrix = self.design.T @ (share[:, None] * self.design)
        diagonal = np.full(len(matrix), self.ridge)
        diagonal[0] = 0.0  # constants are free
        matrix[np.diag_indices_from(matrix)] += diagonal + 1e-10 * share.sum() + 1e-12
        return np.asarray(matrix)

    def _climbed(self, loss: Callable[[Floats], _Loss], start: Floats) -> Floats:
        """Lower a loss plus the penalty by a Newton step, halved until it does; never raise it."""
        value, slope, curve = loss(self.design @ start)
        mask = np.full((len(start), 1), self.ridge)
        mask[0] = 0.0
        before = value + 0.5 * float((mask * start**2).sum())
        gradient = self.design.T @ slope + mask * start
        step = np.column_stack(
            [
                np.linalg.solve(self._curvature(curve[:, k]), gradient[:, k])
                for k in range(start.shape[1])
            ]
        )
        for _ in range(_HALVES):
            beta = start - step
            if loss(self.design @ beta)[0] + 0.5 * float((mask * beta**2).sum()) <= before:
                return np.asarray(beta)
            step = step / 2
        return start


def fit_mixture(
    design: Floats,
    target: Floats,
    weight: Floats,
    family: Family,
    options: MixtureOptions,
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
    value, shares = problem.expected(mixture)
    path = [*mixture.path] or [value]
    least = tolerance * max(float(problem.weight.sum()), 1.0)
    for _ in range(steps):
        if len(path) > 1 and path[-1] - path[-2] < least:
            break
        mixture = problem.improved(mixture, shares)
        value, shares = problem.expected(mixture)
        path.append(value)
    return Mixture(mixture.gates, mixture.experts, mixture.noise, np.array(path))


def _log_softmax(scores: Floats) -> Floats:
    """Compute log probabilities over the last axis."""
    return np.asarray(scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True))
