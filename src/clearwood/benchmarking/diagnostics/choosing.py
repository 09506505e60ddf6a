"""What it costs to choose the best of several learners by the rows that then judge it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._shared.errors import InputError
from clearwood._shared.results import Result

if TYPE_CHECKING:
    from clearwood.benchmarking.intervals.estimates import LossesOf
    from clearwood.benchmarking.result import Benchmark

__all__ = ["Choosing", "choosing", "simultaneous"]


@dataclass(frozen=True)
class Choosing(Result):
    """The risk of choosing the best of the learners on a table like this, then using it.

    The best of several risks is the best partly by luck, so the risk of the winner is too good. In
    every outer fold the best learner is chosen by cross-validation on the other folds, and judged
    on the fold that had no say (Hiabu 2024, section 2.3, with as many inner folds as there are
    others). The fits are those the nested interval has made anyway.

    Parameters
    ----------
    winner
        The learner with the smallest risk on all rows.
    risk, low, high
        Its risk and interval, moved by `optimism`.
    optimism
        Mean loss of what was chosen fold by fold, less that of the winner.
    chosen
        In how many of the outer folds each learner was chosen; one that is nearly always chosen
        has won by more than luck.
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
        told = ", ".join(f"{name} {count}" for name, count in self.chosen.items())
        side = "above" if self.optimism >= 0 else "below"
        return (
            f"Choosing the best: {self.loss} risk {self.risk:.4g} ({self.low:.4g} to "
            f"{self.high:.4g}), {abs(self.optimism):.2g} {side} that of {self.winner!r}; chosen in "
            f"{folds} folds: {told}"
        )


def choosing(bench: "Benchmark") -> Choosing:
    """Judge the choice among the learners of a benchmark: see `Choosing`."""
    winner = bench.best()
    names = [
        one.learner for one in bench.standings if np.isfinite(one.risk) and not one.failures
    ] or [winner.name]
    losses = {name: bench.losses(name) for name in names}
    folds = [key for key in losses[winner.name].outer if _has_pairs(losses.values(), key)]
    if not folds:
        raise InputError(
            "choosing is judged by fits that leave two folds out, and there are none",
            hint="compare with interval='nested' and k-fold cross-validation.",
        )
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


def simultaneous(bench: "Benchmark") -> "Benchmark":
    """Widen the intervals of differences until all hold together: see `Benchmark.simultaneous`."""
    wider = replace(bench, method=replace(bench.method, simultaneous=True))
    best = bench.standings[0].learner
    made = []
    for one in bench.standings:
        if one.learner == best or not np.isfinite(one.difference_low):
            made.append(one)
            continue
        found = wider.compare(one.learner, best)
        made.append(replace(one, difference_low=found.low, difference_high=found.high))
    return replace(wider, standings=tuple(made))


def _has_pairs(several: "Any", key: tuple[int, int]) -> bool:
    return all(key in one.outer and len(_others(one, key)) > 1 for one in several)


def _others(losses: "LossesOf", key: tuple[int, int]) -> Sequence[tuple[int, int, int]]:
    """Pairs whose losses are those of another fold, by fits without that and without this one."""
    repeat, fold = key
    return [pair for pair in losses.pairs if pair[0] == repeat and pair[2] == fold]


def _inside(losses: "LossesOf", key: tuple[int, int], weights: Any) -> float:
    """Cross-validation of the table without a fold."""
    pairs = _others(losses, key)
    together = np.concatenate([losses.pairs[pair] for pair in pairs])
    rows = np.concatenate([losses.rows[repeat, other] for repeat, other, _ in pairs])
    return float(np.average(together, weights=None if weights is None else weights[rows]))
