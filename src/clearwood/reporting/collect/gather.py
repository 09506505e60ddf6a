"""From a model and its data to findings: the library is asked, stage by stage."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.errors import InputError
from clearwood.benchmarking import Benchmark, Choosing, LearningCurve, learning_curve
from clearwood.checks import association, drift, leakage
from clearwood.condensing import Condensed, condense
from clearwood.explanation import Effect, Explained, Explanation, Shapley
from clearwood.explanation.adapter.predictor import Predictor
from clearwood.forest import Forest
from clearwood.models import Learner
from clearwood.reporting.collect import gather_why as overall
from clearwood.reporting.collect.asked import Asked, limits_of, read_once
from clearwood.reporting.collect.findings import Findings, Options
from clearwood.reporting.collect.inputs import Given
from clearwood.reporting.collect.performance import of_benchmark, of_rows
from clearwood.reporting.collect.stages import Stages
from clearwood.reporting.sections.words import is_sampled, moving
from clearwood.table import profile

__all__ = ["SECTIONS", "gather"]

Floats = NDArray[np.float64]

#: The sections of a page, by name, with the stages that each needs.
SECTIONS: dict[str, tuple[str, ...]] = {
    "summary": ("decomposition", "effects", "performance", "condense"),
    "data": ("dependence",),
    "how-well": ("performance", "learning curve"),
    "why": ("decomposition", "effects", "interactions", "agreement"),
    "one-by-one": ("decomposition", "shapley"),
    "one-tree": ("condense",),
    "cautions": ("dependence", "effects", "performance", "agreement", "single columns", "drift"),
    "made": (),
}

#: With more leaves than this there is no point in trying to make one tree.
_MOST_LEAVES = 500_000
_QUICK_CONDENSE = 3.0
# Where Shapley values have to be estimated: questions for one row, background rows behind each,
# and the fewest rows worth carrying.
_EVALUATIONS = 2000
_BEHIND = 25
_FEWEST_CARRIED = 30


def gather(given: Given, *, title: str, options: Options) -> Findings:
    """Ask the library everything that the page tells.

    Parameters
    ----------
    given
        Model, table, benchmark and test rows, checked.
    title
        Of the page.
    options
        How the report was asked for.
    """
    wanted = {stage for name in options.sections or SECTIONS for stage in SECTIONS[name]}
    # beside what sections ask for: reading, predicting, columns, and what is read off results
    read_off = {"decomposition", "interactions", "performance"} & wanted
    total = len(wanted) + 3 + len(read_off)
    stages = Stages(total=total)
    with stages.shown("report"):
        return _Gathering(given, options, stages, wanted).all(title)


@dataclass
class _Gathering:
    """One run: what is given, and where time and failures are kept."""

    given: Given
    options: Options
    stages: Stages
    wanted: set[str]

    def __post_init__(self) -> None:
        self.limits = limits_of(self.options)
        self.table = self.given.table
        self.asked = Asked(self.given.model, self.given, self.options, self.limits)
        rng = np.random.default_rng(self.options.seed)
        n_rows = self.table.n_rows
        size = min(self.options.sample, n_rows)
        self.sample_rows = np.sort(rng.choice(n_rows, size, replace=False)).astype(np.intp)
        self.sample = self.table.take(self.sample_rows)

    def all(self, title: str) -> Findings:
        stages = self.stages
        predictor = stages.run("predictions", self._read_model)
        predictions = None if predictor is None else stages.run("predicting", _predict(predictor))
        if predictions is not None:
            seconds = stages.done[-1].seconds / self.table.n_rows
            self.asked = replace(self.asked, seconds_per_row=seconds)
        found = self._start(title, predictor, predictions)
        profiles = stages.run(
            "columns", lambda: {column.name: profile(column) for column in self.table}
        )
        found = replace(found, profiles=profiles or {})
        depend = self._when(
            "dependence",
            lambda: association(
                self.table,
                columns=found.features,
                sample=self.limits.dependence_rows,
                seed=self.options.seed,
            ),
        )
        found = replace(found, dependence=depend)
        found = self._why(found)
        found = self._how_well(found)
        found = self._fewer_rows(found)
        return replace(
            found,
            shapley=self._when("shapley", lambda: self._shapley(found)),
            condensed=self._when("condense", self._condensed),
            alone=self._alone(found),
            drift=self._drift(found),
            stages=tuple(stages.done),
            failures=dict(stages.failures),
            warned=dict(stages.warned),
        )

    def _when(self, stage: str, work: Callable[[], Any]) -> Any:
        """Do a stage that some section needs."""
        return self.stages.run(stage, work) if stage in self.wanted else None

    # The model

    def _read_model(self) -> Predictor:
        self.asked = replace(self.asked, model=read_once(self.given, self.sample))
        return Explained(self.asked.model, self.table, n_jobs=self.options.n_jobs).predictor()

    def _start(
        self, title: str, predictor: Predictor | None, predictions: Floats | None
    ) -> Findings:
        given = self.given
        unit = "prediction" if predictor is None else predictor.unit
        return Findings(
            model=given.model,
            name=given.name,
            title=title,
            table=self.table,
            sample=self.sample,
            sample_rows=self.sample_rows,
            features=given.features,
            target=self.table.target,
            task=given.task,
            classes=given.classes,
            scale="probability" if unit == "probability" else "response",
            unit=unit,
            predictions=predictions,
            benchmark=given.benchmark,
            chosen=given.chosen,
            test=given.test,
            options=self.options,
        )

    # Why, overall

    def _why(self, found: Findings) -> Findings:
        asked, stages = self.asked, self.stages
        why = self._when("decomposition", lambda: overall.decomposed(asked))
        importance = None
        if why is not None:
            importance = stages.run("importance", why.importance)
        elif "decomposition" in self.wanted:
            stages.leave_out()
        if importance is not None:
            # shares of the variance are known only now, and rank columns and pairs
            found = replace(
                found,
                decomposition=why,
                importance=importance,
                interactions=why.interactions(),
            )
        order = overall.ranked(found)
        drawn = moving(found, order)
        effects = self._when("effects", lambda: overall.effects(asked, drawn, stages))
        seconds = self.limits.effects / 2
        pairs = self._when("interactions", lambda: overall.pairs(found, seconds=seconds))
        rest = [name for name in drawn if name not in (effects or {})]
        return replace(
            found,
            effects=effects or {},
            more_effects=self._further(found, rest[: overall.MORE_EFFECTS]),
            interaction_effects=pairs or (),
            agreement=self._when("agreement", lambda: overall.compared(asked, order, found)),
        )

    def _further(self, found: Findings, names: list[str]) -> tuple[Effect, ...]:
        why = found.decomposition
        if "interactions" not in self.wanted:
            return ()
        if why is None or not names or is_sampled(found):
            self.stages.leave_out()
            return ()
        work = overall.further_effects
        return self.stages.run("more effects", lambda: work(why, names)) or ()

    # How well

    def _how_well(self, found: Findings) -> Findings:
        performance = self._when("performance", lambda: self._performance(found))
        rows, losses = self._out_of_fold()
        learning = None
        if "learning curve" in self.wanted:
            learning = self._learning()
        return replace(
            found,
            performance=performance,
            out_of_fold=rows,
            out_of_fold_losses=losses,
            choosing=self._choosing(),
            learning=learning,
        )

    def _choosing(self) -> Choosing | None:
        bench = self.given.benchmark
        if bench is None or len(bench.standings) < 2:
            return None
        try:
            return bench.choosing()
        except InputError:
            return None  # only the fits of a nested interval judge the choice

    def _performance(self, found: Findings) -> Any:
        given = self.given
        if given.benchmark is not None and given.chosen is not None:
            return of_benchmark(given.benchmark, given.chosen)
        if given.test is not None and given.test.target is not None:
            explained = Explained(self.asked.model, given.test, n_jobs=self.options.n_jobs)
            predicted = explained.predictor()
            told = _predict(predicted)()
            return of_rows(given, given.test, told, rows="test")
        if self.table.target is None:
            raise InputError("the table has no target, so predictions cannot be compared with it")
        if found.predictions is None:
            raise InputError(self.stages.failures.get("predictions", "the model did not predict"))
        return of_rows(given, self.table, found.predictions, rows="training")

    def _out_of_fold(self) -> tuple[Floats | None, Floats | None]:
        bench, chosen = self.given.benchmark, self.given.chosen
        if bench is None or chosen is None or not self.given.same_rows:
            if "performance" in self.wanted:
                self.stages.leave_out()
            return None, None
        predictions = self.stages.run("rows not seen", lambda: bench.predictions(chosen))
        return predictions, row_losses(bench, chosen)

    def _learning(self) -> LearningCurve | None:
        model, stages = self.given.model, self.stages
        if not isinstance(model, Learner) or self.table.target is None:
            stages.skip(
                "learning curve", "it needs a learner that can be fitted anew, and a target"
            )
            return None
        # five folds at shares 0.1, 0.2, 0.4, 0.7 and 1 of four fifths of the rows
        expected = 5 * 2.4 * 0.8 * float(model.training_["seconds"]) + 0.5
        expected *= self.table.n_rows / max(1, int(model.training_["rows"]))
        if self.options.quick:
            stages.skip("learning curve", "it is left out of a quick look")
            return None
        if expected > self.limits.learning:
            stages.skip(
                "learning curve",
                f"25 more fits would take about {expected:.0f} s; "
                "clearwood.benchmark.learning_curve(data, model) makes it",
            )
            return None
        fresh = Learner(**model.get_params(deep=False))
        return stages.run(
            "learning curve",
            lambda: learning_curve(self.table, fresh, seed=self.options.seed),
        )

    # One by one, one tree, cautions

    def _fewer_rows(self, found: Findings) -> Findings:
        """Carry as many rows as can be explained in time, where each has to be estimated."""
        if "shapley" not in self.wanted or not is_sampled(found):
            return found
        asked = self.limits.shapley / max(self.asked.seconds_per_row, 1e-9)
        size = int(np.clip(asked / _EVALUATIONS, _FEWEST_CARRIED, found.sample.n_rows))
        if size >= found.sample.n_rows:
            return found
        rng = np.random.default_rng(self.options.seed)
        rows = np.sort(rng.choice(found.sample_rows, size, replace=False))
        return replace(found, sample_rows=rows, sample=self.table.take(rows))

    def _shapley(self, found: Findings) -> Shapley:
        sample, seconds = found.sample, self.limits.shapley
        options: dict[str, Any] = {"seed": self.options.seed, "n_jobs": self.options.n_jobs}
        if is_sampled(found):
            options |= {
                "method": "permutation",
                "max_evaluations": _EVALUATIONS,
                "n_background": min(_BEHIND, sample.n_rows),
                # predictions one by one are slower than those of all rows at once
                "time_limit": 4 * seconds,
            }
        values = Explanation(self.asked.model, sample).shapley(**options)
        if len(values) < sample.n_rows:
            raise InputError(
                f"the time was over after {len(values)} of {sample.n_rows} rows",
                hint="cw.shapley(model, data, rows) explains single rows.",
            )
        return replace(values, columns=self.asked.named(values.columns))

    def _condensed(self) -> Condensed:
        forest = self.asked.model
        if not isinstance(forest, Forest):
            raise InputError(f"{self.given.name} is not made of trees")
        if forest.n_leaves > _MOST_LEAVES:
            raise InputError(
                f"the model has {forest.n_leaves:,} leaves, too many to make one tree in the time "
                "given",
                hint="cw.condense(model, time_limit=...) tries.",
            )
        seconds = self.options.condense_seconds
        if self.options.quick:
            seconds = min(seconds, _QUICK_CONDENSE)
        return condense(forest, self.table, time_limit=seconds)

    def _alone(self, found: Findings) -> Any:
        if "single columns" not in self.wanted:
            return None
        if found.target is None:
            self.stages.leave_out()
            return None
        used = [*found.features, found.target]
        return self.stages.run(
            "single columns",
            lambda: leakage(self.table.select(used), seed=self.options.seed),
        )

    def _drift(self, found: Findings) -> Any:
        if "drift" not in self.wanted:
            return None
        options: dict[str, Any] = {"seed": self.options.seed}
        target = () if found.target is None else (found.target,)
        if found.test is not None:
            test = found.test
            shared = [name for name in (*found.features, *target) if name in test.names]
            return self.stages.run(
                "drift", lambda: drift(self.table, test, columns=shared, **options)
            )
        times = self.table.times
        if times is None or self.table.n_rows < 20:
            self.stages.leave_out()
            return None
        order = np.argsort(times, kind="stable")
        half = len(order) // 2
        return self.stages.run(
            "drift",
            lambda: drift(
                self.table.take(order[:half]),
                self.table.take(order[half:]),
                columns=[*found.features, *target],
                names=("earlier rows", "later rows"),
                **options,
            ),
        )


def _predict(predictor: Predictor) -> Callable[[], Floats]:
    """Predict all rows: numbers, or one column of probabilities a class."""

    def work() -> Floats:
        told = predictor.predict(np.arange(len(predictor)))
        if len(predictor.scorer.classes) == 2 and told.shape[1] == 1:
            if predictor.unit == "probability":
                return np.column_stack([1 - told, told])
            return np.asarray(told[:, 0] > 0, np.float64)
        if len(predictor.scorer.classes) > 2 and predictor.unit != "probability":
            return np.asarray(told.argmax(axis=1), np.float64)
        return np.asarray(told[:, 0] if told.shape[1] == 1 else told)

    return work


def row_losses(bench: Benchmark, learner: str) -> Floats:
    """Give the mean loss of each row over the repeats, NaN where it was never tested."""
    losses = bench.losses(learner)
    n_rows = bench.context.table.n_rows
    total, count = np.zeros(n_rows), np.zeros(n_rows)
    for key, values in losses.outer.items():
        np.add.at(total, losses.rows[key], values)
        np.add.at(count, losses.rows[key], 1)
    return np.asarray(np.divide(total, count, out=np.full(n_rows, np.nan), where=count > 0))
