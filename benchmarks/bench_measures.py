"""How often intervals of measures cover: ``python -m benchmarks.bench_measures``.

Rows are drawn from a population whose truth is known, with predictions that are right, too
extreme, too high or bent. The measures of each sample have intervals, in which the value of the
whole population, computed from a very large sample, is looked for. With ``--out-of-fold``, learners
are cross-validated on small tables, those of ``bench_coverage`` and some that go through
`clearwood.benchmark`, and what is looked for is the measure of the learner fitted to all rows of
the table, on a large one.
"""

import argparse
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import special
from threadpoolctl import threadpool_limits

import clearwood as cw
from benchmarks import _other_simulations, _simulations
from clearwood.benchmarking.fitting.work import Outcome, Unit
from clearwood.benchmarking.intervals.of_measures import allowances
from clearwood.evaluation import Measures, measures, smooth_estimates
from clearwood.resampling import KFold
from clearwood.table import Task

__all__ = [
    "OUT_OF_FOLD",
    "SETTINGS",
    "SIMULATED",
    "Covered",
    "Setting",
    "as_markdown",
    "coverage",
    "out_of_fold",
    "printed",
    "report",
]

CONFIDENCE = 0.9
SEED = 30
#: What intervals of 90 % are to cover.
PROMISED = (0.87, 0.96)
_LARGE = 400_000
#: Rows that the truth of one fit is computed from.
_FRESH = 20_000

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Setting:
    """A population.

    Parameters
    ----------
    task
        What is predicted.
    rows
        How many rows a sample has.
    score
        Mean and deviation of the linked predictions.
    truth
        From linked predictions to the linked mean of the target.
    per_group
        Rows that share an error of their own.
    has_weights
        Whether rows have weights, such as exposures, between 0.1 and 1.
    """

    task: Task
    rows: int
    score: tuple[float, float]
    truth: Callable[[Floats], Floats]
    per_group: int = 1
    has_weights: bool = False

    def draw(self, n: int, rng: np.random.Generator) -> dict[str, Any]:
        """Return truth, predictions, weights and groups of rows."""
        groups = np.arange(n) // self.per_group
        score = rng.normal(*self.score, n)
        shared = 0.5 * rng.normal(size=int(groups[-1]) + 1)[groups] if self.per_group > 1 else 0.0
        mean = self.truth(score) + shared
        weights = rng.uniform(0.1, 1.0, n) if self.has_weights else np.ones(n)
        options = {"weights": weights, "groups": groups}
        if self.task is Task.BINARY:
            p = special.expit(score)
            y: Any = (rng.random(n) < special.expit(mean)).astype(int)
            both = np.column_stack([1 - p, p])
            return {"y": y, "predicted": both, "needs": "probability", **options}
        if self.task is Task.COUNT:
            # the count of an exposure, per unit of exposure
            y = rng.poisson(weights * np.exp(mean)) / weights
            return {"y": y, "predicted": np.exp(score), **options}
        return {"y": mean + rng.normal(size=n), "predicted": score, **options}


def _bent(x: Floats) -> Floats:
    return np.asarray(x + 0.15 * (x + 1) ** 2 - 0.2)


SETTINGS = {
    "classes": Setting(Task.BINARY, 500, (-1.0, 1.0), lambda x: x),
    "few members": Setting(Task.BINARY, 500, (-2.5, 0.8), lambda x: x),
    "too extreme": Setting(Task.BINARY, 1000, (-1.0, 1.5), lambda x: 0.6 * x),
    "no information": Setting(Task.BINARY, 1000, (-1.0, 1.0), lambda x: 0 * x - 1),
    "weighted groups": Setting(Task.BINARY, 1500, (-1.0, 1.0), _bent, 3, has_weights=True),
    "numbers": Setting(Task.REGRESSION, 300, (2.0, 1.0), lambda x: x),
    "numbers in groups": Setting(
        Task.REGRESSION, 600, (2.0, 1.0), lambda x: 0.8 * x, 4, has_weights=True
    ),
    "counts": Setting(Task.COUNT, 1000, (-0.5, 0.6), lambda x: x, has_weights=True),
    "rare counts": Setting(Task.COUNT, 2000, (-2.5, 0.6), lambda x: x + 0.2, has_weights=True),
    "counts in groups": Setting(Task.COUNT, 1500, (-0.5, 0.6), _bent, 3, has_weights=True),
}


@dataclass(frozen=True)
class Covered:
    """How the interval of a measure did over many samples.

    Parameters
    ----------
    setting, measure
        What was simulated.
    truth
        The value of the population.
    samples
        How many had an interval.
    covered, below, above
        The share whose interval held the truth, and where it lay below or above.
    width
        The mean width.
    """

    setting: str
    measure: str
    truth: float
    samples: int
    covered: float
    below: float
    above: float
    width: float


def coverage(name: str, *, samples: int, seed: int = SEED, n_jobs: int = 1) -> list[Covered]:
    """Return the coverage of every measure in a setting."""
    setting = SETTINGS[name]
    whole = measures(setting.task, **setting.draw(_LARGE, np.random.default_rng(seed)))
    draws = Parallel(n_jobs)(delayed(_sampled)(name, seed, k) for k in range(samples))
    lines = []
    for measure, value in whole.values.items():
        # the distance of perfect predictions is zero, whatever noise it has in a large sample
        truth = 0.0 if measure == "ici" and _is_perfect(setting) else value
        ends = np.array([one[measure] for one in draws if np.isfinite(one[measure]).all()])
        if len(ends):
            low, high = ends.T
            below, above = float(np.mean(truth < low)), float(np.mean(truth > high))
            width = float(np.mean(high - low))
            held = 1 - below - above
            lines.append(Covered(name, measure, truth, len(ends), held, below, above, width))
    return lines


def _is_perfect(setting: Setting) -> bool:
    """Return whether predictions are the mean of the target."""
    score = np.linspace(-3, 3, 50)
    return setting.per_group == 1 and bool(np.allclose(setting.truth(score), score))


def _sampled(name: str, seed: int, k: int) -> dict[str, tuple[float, float]]:
    setting = SETTINGS[name]
    drawn = setting.draw(setting.rows, np.random.default_rng([seed, k]))
    result = measures(setting.task, **drawn, confidence=CONFIDENCE)
    return {measure: result.interval(measure) for measure in result.values}


#: Learners that are cross-validated, with the task and the number of rows.
OUT_OF_FOLD = {
    "logistic learner": ("logistic", Task.BINARY, 200),
    "tree of classes": ("tree", Task.BINARY, 300),
    "least squares": ("ols", Task.REGRESSION, 150),
    "Poisson": ("glm", Task.COUNT, 300),
}


def _table(task: Task, n: int, rng: np.random.Generator) -> cw.Table:
    """Draw a table with five columns, two of which have no effect."""
    x = rng.normal(size=(n, 5))
    score = 0.8 * x[:, 0] - 0.5 * x[:, 1] + 0.3 * x[:, 2] ** 2 - 0.5
    if task is Task.BINARY:
        y = np.where(rng.random(n) < special.expit(score), "yes", "no").tolist()
    elif task is Task.COUNT:
        y = rng.poisson(np.exp(0.5 * score)).tolist()
    else:
        y = (score + rng.normal(size=n)).tolist()
    columns = {f"x{k}": column.tolist() for k, column in enumerate(x.T)}
    return cw.read({**columns, "y": y}, target="y", task=task.value)


def out_of_fold(name: str, *, samples: int, seed: int = SEED, n_jobs: int = 1) -> list[Covered]:
    """Return the coverage of every measure of a learner that is cross-validated."""
    draws = Parallel(n_jobs)(delayed(_judged)(name, seed, k) for k in range(samples))
    lines = []
    for measure in dict.fromkeys(measure for one in draws for measure in one):
        known = [one[measure] for one in draws if measure in one]
        values = np.array([ends for ends in known if np.isfinite(ends).all()])
        if len(values):
            truth, low, high = values.T
            below, above = float(np.mean(truth < low)), float(np.mean(truth > high))
            width = float(np.mean(high - low))
            held = 1 - below - above
            mean = float(truth.mean())
            lines.append(Covered(name, measure, mean, len(values), held, below, above, width))
    return lines


def _judged(name: str, seed: int, k: int) -> dict[str, tuple[float, float, float]]:
    with threadpool_limits(1):
        if name in OUT_OF_FOLD:
            truth, result = _benchmarked(name, np.random.default_rng([seed, k]))
        else:
            truth, result = _simulated(name, seed * 1_000_000 + k)
    return {
        measure: (truth[measure], *result.interval(measure))
        for measure in result.values
        if measure in truth.values
    }


def _benchmarked(name: str, rng: np.random.Generator) -> tuple[Measures, Measures]:
    """Return the measures of the fit to all rows, and those out of fold."""
    learner, task, rows = OUT_OF_FOLD[name]
    data, large = _table(task, rows, rng), _table(task, _FRESH, rng)
    result = cw.benchmark(data, learner, tune=0, confidence=CONFIDENCE).measures(learner)
    return cw.evaluate(cw.learner(learner).fit(data), large).measures(), result


#: Settings of the coverage of risks, without those that take long, and what they predict.
SIMULATED = {
    name: {"logistic": Task.BINARY, "log-loss": Task.BINARY, "rare-class": Task.BINARY}.get(
        name, Task.COUNT if name == "counts" else Task.REGRESSION
    )
    for name in (*_simulations.SETTINGS, *_other_simulations.OTHERS)
    if name not in ("lasso", "large") and not name.startswith("reuse")
}


def _simulated(name: str, seed: int) -> tuple[Measures, Measures]:
    """Return the same for the first learner of a setting, with 5 folds and 3 repeats."""
    setting = {**_simulations.SETTINGS, **_other_simulations.OTHERS}[name]
    task, solver = SIMULATED[name], setting.solvers[0]
    table = setting.draw(np.random.default_rng(seed), setting.rows, setting.columns)
    folds = np.empty((3, setting.rows), dtype=np.int64)
    for split in KFold(5, 3).splits(setting.rows, seed=seed):
        folds[split.repeat, split.test] = split.fold
    kept, left_out = _simulations.keep_rows(folds)
    outcomes = []
    for scores, (repeat, j, k) in zip(
        solver.scores(table.x, table.y, kept, table.x), left_out, strict=True
    ):
        first = np.flatnonzero(folds[repeat] == j)
        test = first if j == k else np.concatenate([first, np.flatnonzero(folds[repeat] == k)])
        unit = Unit(solver.name, "outer", repeat, j, test, test)
        if j != k:
            unit = replace(unit, purpose="pair", other=k, first=len(first))
        outcomes.append((unit, Outcome(None, _predicted(task, scores[test]))))
    options: dict[str, Any] = {"needs": "probability" if task is Task.BINARY else "prediction"}
    y = table.y.astype(np.int64) if task is Task.BINARY else table.y

    def estimator(rows: Any, predicted: Floats, fits: Any) -> Any:
        return smooth_estimates(task, y[rows], predicted, splits=fits, groups=rows, **options)

    plain = cw.read({"row": list(range(len(y))), "y": table.y.tolist()}, target="y")
    of_risk = allowances(outcomes, plain, estimator, folds=5)
    least = of_risk["rmse" if task is Task.REGRESSION else "deviance_explained"].inflation
    extra = allowances(outcomes, plain, estimator, folds=5, least=least)
    outer = [(unit, outcome.predictions) for unit, outcome in outcomes if unit.purpose == "outer"]
    rows = np.concatenate([unit.test for unit, _ in outer])
    result = measures(
        task,
        y[rows],
        np.concatenate([part for _, part in outer if part is not None]),
        splits=np.repeat(np.arange(len(outer)), [len(unit.test) for unit, _ in outer]),
        groups=rows,
        confidence=CONFIDENCE,
        inflation=least,
        allowances=extra,
        **options,
    )
    new = setting.draw(np.random.default_rng([seed, 1]), _FRESH, setting.columns)
    everyone = np.ones((1, setting.rows), dtype=bool)
    scores = solver.scores(table.x, table.y, everyone, new.x)[0]
    truth = new.y.astype(np.int64) if task is Task.BINARY else new.y
    return measures(task, truth, _predicted(task, scores), **options), result


def _predicted(task: Task, scores: Floats) -> Floats:
    """Return predictions from scores on the scale of the link."""
    if task is Task.BINARY:
        p = special.expit(scores)
        return np.column_stack([1 - p, p])
    return np.exp(np.minimum(scores, 30.0)) if task is Task.COUNT else scores


def as_markdown(lines: Sequence[Covered]) -> str:
    """Return the table of the page on intervals: the coverage of each measure, by setting."""
    settings = list(dict.fromkeys(one.setting for one in lines))
    by_measure: dict[str, dict[str, Covered]] = {}
    for one in lines:
        by_measure.setdefault(one.measure, {})[one.setting] = one
    text = [f"| measure | {' | '.join(settings)} |", "|---" * (len(settings) + 1) + "|"]
    for measure, own in by_measure.items():
        cells = [f"{100 * own[name].covered:.0f}" if name in own else "" for name in settings]
        text.append(f"| {measure.replace('_', ' ')} | {' | '.join(cells)} |")
    return "\n".join(text)


def report(*, quick: bool, path: Path) -> int:
    """Print the coverage of every measure on new rows, and write it."""
    results: list[Covered] = []
    for name in SETTINGS:
        results += coverage(name, samples=20 if quick else 400)
        printed(one for one in results if one.setting == name)
    figures = [asdict(one) for one in results]
    path.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    return 0


def printed(lines: Iterable[Covered]) -> None:
    """Print the coverage of every measure."""
    print(
        f"{'setting':18} {'measure':25} {'truth':>8} {'samples':>7} {'covered':>8} {'below':>6} "
        f"{'above':>6} {'width':>7}"
    )
    for one in lines:
        sign = " " if PROMISED[0] <= one.covered <= PROMISED[1] else "*"
        print(
            f"{one.setting:18} {one.measure:25} {one.truth:8.3f} {one.samples:7d} "
            f"{one.covered:7.3f}{sign} {one.below:6.3f} {one.above:6.3f} {one.width:7.3f}",
            flush=True,
        )


def main() -> None:
    """Run the simulation."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=400)
    known = (*SETTINGS, *SIMULATED, *OUT_OF_FOLD)
    parser.add_argument("--settings", nargs="*", choices=known, help="all if none is named")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out-of-fold", action="store_true")
    options = parser.parse_args()
    if options.out_of_fold:
        lines = []
        for name in options.settings or (*SIMULATED, *OUT_OF_FOLD):
            lines += out_of_fold(name, samples=options.samples, n_jobs=options.jobs)
            printed(one for one in lines if one.setting == name)
        print(as_markdown(lines))
        return
    for name in options.settings or SETTINGS:
        printed(coverage(name, samples=options.samples, n_jobs=options.jobs))


if __name__ == "__main__":
    main()
