"""Selection bias: the risk of choosing the best of several learners, on rows not used for it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._shared.numbers import interval, number
from clearwood._shared.results import Result

if TYPE_CHECKING:
    from clearwood.benchmarking.intervals.estimates import LossesOf
    from clearwood.benchmarking.result import Benchmark

__all__ = ["Choosing", "choosing"]


@dataclass(frozen=True)
class Choosing(Result):
    """The risk of choosing the best of the learners on a table like this, then using it.

    The smallest of several risks is too optimistic, as it was selected. In every outer fold the
    best learner is chosen by cross-validation on the other folds and judged on the fold that was
    not used for the choice (Hiabu 2024, section 2.3, with the other folds as inner folds), which
    removes selection bias. The fits are those of the nested interval.

    Parameters
    ----------
    winner
        The learner with the smallest risk on all rows.
    risk, low, high
        Its risk and interval, shifted by `optimism`.
    optimism
        Mean loss of the learners chosen fold by fold, minus that of the winner.
    chosen
        In how many of the outer folds each learner was chosen; one that is nearly always chosen
        is better by more than chance.
    confidence
        The level of the interval.
    loss
        What the risk is the mean of.
    """

    winner: str
    risk: float
    low: float
    high: float
    optimism: float
    chosen: Mapping[str, int]
    confidence: float
    loss: str

    def _columns(self) -> dict[str, list[Any]]:
        return {"learner": list(self.chosen), "folds": list(self.chosen.values())}

    def __repr__(self) -> str:
        folds = sum(self.chosen.values())
        counts = ", ".join(f"{name} {count}" for name, count in self.chosen.items())
        side = "above" if self.optimism >= 0 else "below"
        return (
            f"Choosing the best: {self.loss} risk {number(self.risk, 4)} "
            f"({interval(self.low, self.high, 4)}), {number(abs(self.optimism), 2)} {side} that of "
            f"{self.winner!r}; chosen in {folds} folds: {counts}"
        )


def choosing(bench: "Benchmark") -> Choosing | None:
    """Judge the choice among the learners of a benchmark; None without fits that can judge it."""
    if not any(np.isfinite(one.risk) for one in bench.standings):
        return None
    winner = bench.best()
    names = [
        one.learner for one in bench.standings if np.isfinite(one.risk) and not one.failures
    ] or [winner.name]
    losses = {name: bench.losses(name) for name in names}
    folds = [key for key in losses[winner.name].outer if _has_pairs(losses.values(), key)]
    if not folds:
        return None
    weights = bench.context.table.weights
    above, total = 0.0, 0.0
    counts: Counter[str] = Counter()
    for key in folds:
        name = min(names, key=lambda name: _inside(losses[name], key, weights))
        counts[name] += 1
        rows = losses[name].rows[key]
        share = np.ones(len(rows)) if weights is None else weights[rows]
        more = losses[name].outer[key] - losses[winner.name].outer[key]
        above += float((share * more).sum())
        total += float(share.sum())
    optimism = above / total
    standing = winner.standing
    return Choosing(
        winner=winner.name,
        risk=standing.risk + optimism,
        low=standing.low + optimism,
        high=standing.high + optimism,
        optimism=optimism,
        chosen=dict(counts.most_common()),
        confidence=bench.method.confidence,
        loss=bench.loss,
    )


def _has_pairs(several: "Iterable[LossesOf]", key: tuple[int, int]) -> bool:
    return all(key in one.outer and len(_others(one, key)) > 1 for one in several)


def _others(losses: "LossesOf", key: tuple[int, int]) -> Sequence[tuple[int, int, int]]:
    """Return the pairs with losses of another fold under fits without that and this fold."""
    repeat, fold = key
    return [pair for pair in losses.pairs if pair[0] == repeat and pair[2] == fold]


def _inside(losses: "LossesOf", key: tuple[int, int], weights: Any) -> float:
    """Cross-validate the table without a fold."""
    pairs = _others(losses, key)
    together = np.concatenate([losses.pairs[pair] for pair in pairs])
    rows = np.concatenate([losses.rows[repeat, other] for repeat, other, _ in pairs])
    return float(np.average(together, weights=None if weights is None else weights[rows]))
