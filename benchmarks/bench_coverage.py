"""How often intervals cover the risk they are about: ``python -m benchmarks.bench_coverage``.

Tables are drawn from models whose truth is known (see `_simulations`); on each, the learner is
cross-validated, intervals are computed, and the exact risk of the learner fitted to all rows of
that table is looked for in them. The same for the difference of two risks, for the learner
that comes out best, and for learners that `clearwood.benchmark` tunes (see `_front_door`). At the
end the figures come as the tables of the page on intervals.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from benchmarks._front_door import FRONT_DOOR
from benchmarks._other_simulations import OTHERS
from benchmarks._simulations import SETTINGS, Simulated, losses_of_table
from clearwood.benchmarking import nested_interval
from clearwood.evaluation import Interval, naive_interval, simultaneous_level
from clearwood.resampling import KFold

__all__ = ["Coverage", "as_markdown", "coverage", "report", "simulate"]

CONFIDENCE = 0.9
#: Of the figures in the docs; none of its tables was used to develop the intervals.
SEED = 20
#: Repeats that the learner which comes out best is looked at with: the default of a benchmark.
CHOOSING_REPEATS = 3
BEST, ALL_TO_BEST = "risk of best", "all to best"
# what nested intervals of 90 % are to cover, with three repeats or more
PROMISED = (0.87, 0.94)
HEADER = (
    f"{'setting':11} {'of':16} {'interval':12} {'folds':>5} {'repeats':>7} {'tables':>6} "
    f"{'covered':>8} {'± se':>5} {'below':>6} {'above':>6} {'width':>6} {'bias':>7} {'risk':>7}"
)


@dataclass(frozen=True)
class Coverage:
    """How an interval did over many tables.

    Parameters
    ----------
    setting, of, interval, folds, repeats, tables
        What was simulated: ``of`` is "risk", "to ..." for the difference to that learner, "risk of
        best" for the learner with the smallest estimate, or "all to best" for the differences of
        all others to it together: there the one that is covered least of each table.
    covered, se
        The share of tables whose interval held the true risk, with its Monte Carlo standard error.
    below, above
        The share where the truth lay below or above it.
    width
        The mean width as a multiple of the naive interval's; NaN where there is none.
    bias
        The mean of estimate less truth.
    risk
        The mean of the truth.
    """

    setting: str
    of: str
    interval: str
    folds: int
    repeats: int
    tables: int
    covered: float
    se: float
    below: float
    above: float
    width: float
    bias: float
    risk: float

    @property
    def kept(self) -> bool:
        """Whether coverage is as promised, or off by no more than chance explains."""
        if self.interval == "naive" or self.repeats < 3:
            return True
        if self.of == ALL_TO_BEST:
            # several intervals of 90 % each are not promised to hold together
            return self.interval == "nested" or self.covered + 2 * self.se >= CONFIDENCE
        low, high = PROMISED
        return low - 2 * self.se <= self.covered <= high + 2 * self.se

    def row(self) -> str:
        return (
            f"{self.setting:11} {self.of:16} {self.interval:12} {self.folds:5} {self.repeats:7} "
            f"{self.tables:6} {self.covered:8.1%} {100 * self.se:5.1f} {self.below:6.1%} "
            f"{self.above:6.1%} {self.width:6.2f} {self.bias:+7.4f} {self.risk:7.4f}"
        )


@dataclass(frozen=True)
class _Covering:
    """One interval on one table."""

    of: str
    interval: str
    repeats: int
    low: float
    high: float
    estimate: float
    truth: float


def simulate(setting: str, *, folds: int, repeats: Sequence[int], seed: int) -> list[_Covering]:
    """All intervals on one table."""
    with threadpool_limits(1):
        if setting in FRONT_DOOR:
            return _through_the_front_door(setting, folds, max(repeats), seed)
        chosen = _SIMULATED[setting]
        splits = KFold(folds, max(repeats)).splits(chosen.rows, seed=seed)
        fold_of_row = np.empty((max(repeats), chosen.rows), dtype=np.int64)
        for split in splits:
            fold_of_row[split.repeat, split.test] = split.fold
        learners = losses_of_table(chosen, fold_of_row, seed)
        judged = {"risk": learners[0]}
        for solver, other in zip(chosen.solvers[1:], learners[1:], strict=True):
            judged[f"to {solver.name}"] = _difference(learners[0], other)
        intervals = []
        for of, losses in judged.items():
            naive = naive_interval(np.concatenate(losses.outer[0]), confidence=CONFIDENCE)
            intervals.append(_covering(of, 1, naive, losses.risk))
            intervals += [
                _covering(of, number, _nested(losses, number), losses.risk) for number in repeats
            ]
        if CHOOSING_REPEATS in repeats and len(learners) > 2:
            intervals += _after_choosing(learners)
        return intervals


_SIMULATED = {**SETTINGS, **OTHERS}


def _nested(losses: Simulated, repeats: int, confidence: float = CONFIDENCE) -> Interval:
    return nested_interval(
        losses.outer[:repeats], losses.pairs[:repeats], confidence, rows=losses.rows[:repeats]
    )


def _after_choosing(learners: Sequence[Simulated]) -> list[_Covering]:
    """The learner with the smallest estimate, and the others beside it."""
    repeats = CHOOSING_REPEATS
    risks = [_nested(one, repeats) for one in learners]
    best = int(np.argmin([one.estimate for one in risks]))
    intervals = [_covering(BEST, repeats, risks[best], learners[best].risk)]
    differences = [
        _difference(one, learners[best]) for one in learners if one is not learners[best]
    ]
    together = simultaneous_level(CONFIDENCE, len(learners))
    for kind, level in (("nested", CONFIDENCE), ("simultaneous", together)):
        every = [
            _Covering(ALL_TO_BEST, kind, repeats, one.low, one.high, one.estimate, difference.risk)
            for difference in differences
            for one in (_nested(difference, repeats, level),)
        ]
        intervals.append(max(every, key=_miss))
    return intervals


def _miss(one: _Covering) -> float:
    """How far the truth is from the estimate, in half widths."""
    half = (one.high - one.low) / 2
    off = abs(one.truth - one.estimate)
    return off / half if half > 0 else np.inf if off > 0 else 0.0


def _through_the_front_door(setting: str, folds: int, repeats: int, seed: int) -> list[_Covering]:
    intervals = []
    options = {"folds": folds, "repeats": repeats, "seed": seed}
    for one in FRONT_DOOR[setting].intervals(confidence=CONFIDENCE, **options):
        intervals.append(_covering(one.of, 1, one.naive, one.truth))
        ends = (one.low, one.high, one.estimate, one.truth)
        intervals.append(_Covering(one.of, "nested", repeats, *ends))
    return intervals


def _covering(of: str, repeats: int, interval: Interval, truth: float) -> _Covering:
    return _Covering(
        of, interval.kind, repeats, interval.low, interval.high, interval.estimate, truth
    )


def _difference(one: Simulated, other: Simulated) -> Simulated:
    return Simulated(
        [
            [a - b for a, b in zip(mine, theirs, strict=True)]
            for mine, theirs in zip(one.outer, other.outer, strict=True)
        ],
        [
            {key: mine[key] - theirs[key] for key in mine}
            for mine, theirs in zip(one.pairs, other.pairs, strict=True)
        ],
        one.rows,
        one.risk - other.risk,
    )


def coverage(
    setting: str,
    *,
    folds: int = 10,
    repeats: Sequence[int] = (1, 3, 10),
    tables: int = 400,
    seed: int = SEED,
    jobs: int = 1,
) -> list[Coverage]:
    """Coverage of the nested and of the naive interval in one setting."""
    run = Parallel(n_jobs=jobs)
    calls = (
        delayed(simulate)(setting, folds=folds, repeats=repeats, seed=seed * 1_000_000 + table)
        for table in range(tables)
    )
    by_table: list[list[_Covering]] = run(calls)
    widths = {
        intervals[0].of: np.array([one.high - one.low for one in intervals])
        for intervals in zip(*by_table, strict=True)
        if intervals[0].interval == "naive"
    }
    return [
        _summary(setting, folds, intervals, widths.get(intervals[0].of))
        for intervals in zip(*by_table, strict=True)
    ]


def _summary(
    setting: str,
    folds: int,
    intervals: Iterable[_Covering],
    naive_widths: NDArray[np.float64] | None,
) -> Coverage:
    intervals = list(intervals)
    low, high, estimate, truth = np.transpose(
        [(one.low, one.high, one.estimate, one.truth) for one in intervals]
    )
    covered = float(((low <= truth) & (truth <= high)).mean())
    return Coverage(
        setting=setting,
        of=intervals[0].of,
        interval=intervals[0].interval,
        folds=folds,
        repeats=intervals[0].repeats,
        tables=len(intervals),
        covered=covered,
        se=float(np.sqrt(covered * (1 - covered) / len(intervals))),
        below=float((truth < low).mean()),
        above=float((truth > high).mean()),
        width=np.nan if naive_widths is None else float((high - low).mean() / naive_widths.mean()),
        bias=float((estimate - truth).mean()),
        risk=float(truth.mean()),
    )


def report(
    *,
    quick: bool,
    path: Path | None,
    settings: Iterable[str] = (*SETTINGS, *OTHERS, *FRONT_DOOR),
    folds: Sequence[int] | None = None,
    repeats: Sequence[int] | None = None,
    tables: int | None = None,
    seed: int = SEED,
    jobs: int = 2,
) -> int:
    """Print coverage, write it, and count the nested intervals that break the promise."""
    print(f"\ncoverage of intervals of {CONFIDENCE:.0%}\n{HEADER}", flush=True)
    everything: list[Coverage] = []
    for name in settings:
        setting = FRONT_DOOR[name] if name in FRONT_DOOR else _SIMULATED[name]
        plans = dict(setting.plans)
        for number in folds or plans:
            start = time.perf_counter()
            intervals = coverage(
                name,
                folds=number,
                repeats=repeats or plans.get(number, (CHOOSING_REPEATS,)),
                tables=20 if quick else tables or setting.tables,
                seed=seed,
                jobs=jobs,
            )
            for result in intervals:
                print(result.row(), flush=True)
            print(f"({time.perf_counter() - start:.0f} s)", flush=True)
            everything += intervals
    print(as_markdown(everything))
    if path is not None:
        figures = [asdict(result) for result in everything]
        path.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
        print(f"written to {path}")
    return sum(not result.kept for result in everything)


def as_markdown(results: Iterable[Coverage]) -> str:
    """The tables of the page on intervals: a line for each risk and difference, then the best."""
    by_line: dict[tuple[str, str, str], list[Coverage]] = {}
    for one in results:
        group = "best" if one.of in (BEST, ALL_TO_BEST) else "each"
        by_line.setdefault((group, one.setting, one.of), []).append(one)
    each = [
        _line(of, intervals) for (group, _, of), intervals in by_line.items() if group == "each"
    ]
    return "\n".join(["", _EACH, *each, "", _BEST, *_best_lines(by_line)])


_EACH = (
    "| setting | tables | of | naive | 10 folds | **5 folds** | 5 folds, 1 repeat | width |\n"
    + "|---" * 8
    + "|"
)
_BEST = (
    "| setting | folds | risk of best | all to best, each at 90 % | simultaneous |\n"
    + "|---" * 5
    + "|"
)


def _line(of: str, intervals: Sequence[Coverage]) -> str:
    by_plan = {(one.interval, one.folds, one.repeats): one for one in intervals}
    usual = by_plan.get(("nested", 5, 3)) or by_plan.get(("nested", 5, 1)) or intervals[-1]
    plans = [("naive", 5, 1), ("nested", 10, 3), ("nested", 5, 3), ("nested", 5, 1)]
    cells = [_share(by_plan.get(plan)) for plan in plans]
    head = (intervals[0].setting, str(usual.tables), of)
    return "| " + " | ".join([*head, *cells, f"{usual.width:.2f}"]) + " |"


def _best_lines(by_line: Mapping[tuple[str, str, str], Sequence[Coverage]]) -> Iterator[str]:
    for (_, setting, of), intervals in by_line.items():
        if of != BEST:
            continue
        for one in intervals:
            together = {
                other.interval: other
                for other in by_line["best", setting, ALL_TO_BEST]
                if other.folds == one.folds
            }
            cells = [_share(one), _share(together["nested"]), _share(together["simultaneous"])]
            yield "| " + " | ".join([setting, str(one.folds), *cells]) + " |"


def _share(one: Coverage | None) -> str:
    return "" if one is None else f"{100 * one.covered:.1f} ± {100 * one.se:.1f}"


def _numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]


def main() -> int:
    known = (*SETTINGS, *OTHERS, *FRONT_DOOR)
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("setting", nargs="*", help=f"{', '.join(known)}; all if none is named")
    parser.add_argument("--tables", type=int, help="how many tables to draw; each setting has its")
    parser.add_argument("--folds", type=_numbers, help="one number or several: 10,5")
    parser.add_argument("--repeats", type=_numbers, help="one number or several: 1,3,10")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="few tables, for a first look")
    parser.add_argument("--output", type=Path, help="file for the figures, as JSON")
    options = parser.parse_args()
    broken = report(
        quick=options.quick,
        path=options.output,
        settings=options.setting or known,
        folds=options.folds,
        repeats=options.repeats,
        tables=options.tables,
        seed=options.seed,
        jobs=options.jobs,
    )
    return 1 if broken and not options.quick else 0


if __name__ == "__main__":
    sys.exit(main())
