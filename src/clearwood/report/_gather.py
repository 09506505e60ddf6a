"""From a model and its data to findings: the library is asked, stage by stage."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood import forest as forests
from clearwood._errors import InputError
from clearwood.benchmark import Benchmark, Choosing, LearningCurve, learning_curve
from clearwood.condense import Condensed, condense
from clearwood.decompose import Decomposition, Effect, Shapley
from clearwood.explain import agreement, alone, dependence, drift, explain, shapley
from clearwood.explain._effect import measured_effect
from clearwood.explain._predictor import Predictor, predictor_of
from clearwood.forest import Forest
from clearwood.models import Learner
from clearwood.report._findings import EffectViews, Findings, Options
from clearwood.report._inputs import Given
from clearwood.report._performance import of_benchmark, of_rows
from clearwood.report._stages import Clock, Stages
from clearwood.report._words import is_sampled
from clearwood.table import Table, profile

__all__ = ["SECTIONS", "gather"]

Floats = NDArray[np.float64]

#: The sections of a page, by name, with the stages that each needs.
SECTIONS: dict[str, tuple[str, ...]] = {
    "summary": ("decomposition", "effects", "performance", "condense"),
    "data": ("dependence",),
    "how-well": ("performance", "learning curve"),
    "why": ("decomposition", "effects", "interactions", "agreement"),
    "one-by-one": ("shapley",),
    "one-tree": ("condense",),
    "cautions": ("dependence", "effects", "performance", "agreement", "single columns", "drift"),
    "made": (),
}

#: Columns whose effects are shown, and pairs whose interaction is.
MOST_EFFECTS = 12
MOST_INTERACTIONS = 4
#: Columns after those, whose main effects are one click away.
MORE_EFFECTS = 24
_POINTS = 40
_POINTS_BESIDE = 14
_POINTS_OF_CURVES = 30
_POINTS_OF_CLASSES = 20
_POINTS_OF_MORE = 20
_CURVES = 25

# What the exact decomposition of a forest costs, in seconds on one core: for each leaf a table
# over the subsets of its path, then a look-up for each row. Measured; meant to be right within
# a factor of three.
_SECONDS_PER_LEAF = 1.5e-5
_SECONDS_PER_LEAF_AND_ROW = 2e-8
#: With more leaves than this there is no point in trying to make one tree.
_MOST_LEAVES = 500_000
#: Averages over fewer rows than this would be noise.
_FEWEST_ROWS = 100


@dataclass(frozen=True)
class _Limits:
    """How long stages may take, in seconds, and how many rows they use."""

    decomposition: float
    effects: float
    agreement: float
    shapley: float
    learning: float
    effect_rows: int
    agreement_rows: int


_THOROUGH = _Limits(12.0, 15.0, 8.0, 10.0, 10.0, 1000, 1000)
_QUICK = _Limits(4.0, 5.0, 2.0, 3.0, 0.0, 300, 300)


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
        self.limits = _QUICK if self.options.quick else _THOROUGH
        self.table = self.given.table
        self.asked: Any = self.given.model
        self.seconds_per_row = 0.0
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
            self.seconds_per_row = stages.done[-1].seconds / self.table.n_rows
        found = self._start(title, predictor, predictions)
        profiles = stages.run(
            "columns", lambda: {column.name: profile(column) for column in self.table}
        )
        found = replace(found, profiles=profiles or {})
        depend = self._when(
            "dependence",
            lambda: dependence(
                self.table,
                columns=found.features,
                sample=1000 if self.options.quick else 2000,
                seed=self.options.seed,
            ),
        )
        found = replace(found, dependence=depend)
        found = self._why(found)
        found = self._how_well(found)
        return replace(
            found,
            shapley=self._when("shapley", self._shapley),
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
        """Read trees once: every explanation of a model would do it again."""
        model = self.given.model
        if not isinstance(model, Forest):
            inner = getattr(model, "estimator_", model) if isinstance(model, Learner) else model
            if forests.supports(inner):
                try:
                    read = forests.from_model(model)
                    asked = predictor_of(read, self.sample)
                except InputError:
                    pass  # asked itself
                else:
                    same = tuple(map(str, asked.scorer.classes)) == self.given.classes
                    self.asked = read if same and asked.names == self.given.features else model
        return predictor_of(self.asked, self.table, n_jobs=self.options.n_jobs)

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
        why = self._when("decomposition", self._decomposition)
        importance = None
        if why is not None:
            importance = self.stages.run("importance", why.importance)
        elif "decomposition" in self.wanted:
            self.stages.leave_out()
        if importance is not None:
            # shares of the variance are known only now, and rank columns and pairs
            found = replace(
                found,
                decomposition=why,
                importance=importance,
                interactions=why.interactions(),
            )
        order = self._ranked(found)
        effects = self._when("effects", lambda: self._effects(order))
        pairs = self._when("interactions", lambda: self._pairs(found))
        more: tuple[Effect, ...] | None = ()
        rest = [name for name in order if name not in (effects or {})][:MORE_EFFECTS]
        if why is not None and rest and "interactions" in self.wanted and not is_sampled(found):
            more = self.stages.run("more effects", lambda: self._more(why, rest))
        elif "interactions" in self.wanted:
            self.stages.leave_out()
        return replace(
            found,
            effects=effects or {},
            more_effects=more or (),
            interaction_effects=pairs or (),
            agreement=self._when("agreement", lambda: self._agreement(order, found)),
        )

    def _decomposition(self) -> Decomposition:
        options, limits = self.options, self.limits
        table, exact = self.table, True
        if isinstance(self.asked, Forest):
            n_leaves = self.asked.n_leaves
            seconds = limits.decomposition / n_leaves - _SECONDS_PER_LEAF
            rows = int(seconds / _SECONDS_PER_LEAF_AND_ROW)
            exact = rows >= min(200, table.n_rows)
            if exact and rows < table.n_rows:
                table = thinned(table, max(rows, 200), options.seed)
        many = len(self.given.features) > 60
        found = explain(
            self.asked,
            table,
            max_order=1 if many and not exact else 2,
            exact=exact,
            time_budget=limits.decomposition,
            seed=options.seed,
            n_jobs=options.n_jobs,
        )
        return replace(
            found,
            columns=self._named(found.columns),
            components=tuple(self._named(found.columns, names) for names in found.components),
        )

    def _named(
        self, columns: tuple[str, ...], chosen: tuple[str, ...] | None = None
    ) -> tuple[str, ...]:
        """Give columns the table's names: a model fitted to an array knows only positions."""
        own = self.given.features
        known = dict(zip(columns, own, strict=True)) if len(own) == len(columns) else {}
        if set(columns) <= set(own):
            known = {}
        return tuple(known.get(name, name) for name in chosen or columns)

    def _ranked(self, found: Findings) -> list[str]:
        """Give the columns, the most important first where that is known."""
        if found.importance is None:
            return list(found.features)
        total = found.importance.total
        order = np.argsort(-total, kind="stable")
        return [found.importance.columns[k] for k in order]

    def _affordable(self, seconds: float, most: int, columns: int) -> int:
        """Give the rows for which so many columns can be asked at every grid value in a time."""
        asked = seconds / max(self.seconds_per_row, 1e-9)
        return int(np.clip(asked / max(columns, 1) / (_POINTS + 2), _FEWEST_ROWS, most))

    def _effects(self, order: list[str]) -> dict[str, EffectViews]:
        n_columns = min(len(order), MOST_EFFECTS)
        n_rows = self._affordable(self.limits.effects, self.limits.effect_rows, n_columns)
        seed, n_jobs = self.options.seed, self.options.n_jobs
        rows = thinned(self.table, n_rows, seed)
        few = thinned(rows, _CURVES, seed)
        # read once: of a large forest that takes longer than an effect
        many = predictor_of(self.asked, rows, n_jobs=n_jobs)
        asked = {"pdp": many, "ice": predictor_of(self.asked, few, n_jobs=n_jobs), "ale": many}
        clock = Clock(self.limits.effects)
        found: dict[str, EffectViews] = {}
        failed = None
        for name in order[:MOST_EFFECTS]:
            if clock.over:
                self.stages.failures["effects"] = (
                    f"the time for effects was over after {len(found)} columns; "
                    "cw.effect gives those of the others"
                )
                break
            views: dict[str, Any] = {}
            for kind, predictor in asked.items():
                try:
                    views[kind] = self._effect(predictor, name, kind)
                except InputError as error:
                    failed = error
            if views:
                found[name] = EffectViews(name, **views)
        if failed is not None and not found:
            raise failed
        return found

    def _effect(self, asked: Predictor, name: str, kind: str) -> Any:
        curves, several = kind == "ice", len(self.given.classes) > 2
        return measured_effect(
            None,
            asked,
            name,
            kind=kind,  # type: ignore[arg-type]
            points=_POINTS_OF_CLASSES if several else _POINTS_OF_CURVES if curves else _POINTS,
            bands=0 if curves else 100,
            level=0.9,
            exact=False,
            extrapolation=not curves,
            seed=self.options.seed,
            n_jobs=self.options.n_jobs,
        )

    def _more(self, why: Decomposition, names: list[str]) -> tuple[Effect, ...]:
        """Read main effects off the exact decomposition, which takes the time of few."""
        by_name = {effect.columns[0]: effect for effect in why.effects(points=_POINTS_OF_MORE)}
        return tuple(by_name[name] for name in names if name in by_name)

    def _pairs(self, found: Findings) -> tuple[Effect, ...]:
        why = found.decomposition
        if why is None or found.interactions is None:
            raise InputError(
                self.stages.failures.get("decomposition", "the model was not taken apart")
            )
        clock = Clock(self.limits.effects / 2)
        shown = []
        strongest = zip(found.interactions.components, found.interactions.share, strict=True)
        for names, share in list(strongest)[:MOST_INTERACTIONS]:
            if clock.over or share < 1e-4 or len(names) != 2:
                break
            shown.append(why.effect(*names, points=_POINTS_BESIDE))
        return tuple(shown)

    def _agreement(self, order: list[str], found: Findings) -> Any:
        options, limits = self.options, self.limits
        share = {}
        if found.importance is not None:
            share = dict(zip(found.importance.columns, found.importance.total, strict=True))
        # of columns that do next to nothing there is no story to tell
        names = [name for name in order[:MOST_EFFECTS] if share.get(name, 1.0) > 0.005]
        names = names or order[:1]
        n_rows = self._affordable(limits.agreement, limits.agreement_rows, len(names))
        rows = thinned(self.table, n_rows, options.seed)
        return agreement(
            self.asked,
            rows,
            columns=names,
            time_budget=limits.agreement,
            seed=options.seed,
            n_jobs=options.n_jobs,
        )

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
            predicted = predictor_of(self.asked, given.test, n_jobs=self.options.n_jobs)
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

    def _shapley(self) -> Shapley:
        options: dict[str, Any] = {"seed": self.options.seed, "n_jobs": self.options.n_jobs}
        if isinstance(self.asked, Forest):
            n_leaves = self.asked.n_leaves
            cost = n_leaves * (_SECONDS_PER_LEAF + 2 * len(self.sample) * _SECONDS_PER_LEAF_AND_ROW)
            if cost > self.limits.shapley:
                options["method"] = "permutation"
        found = shapley(
            self.asked,
            self.sample,
            background=self.sample,
            time_budget=self.limits.shapley,
            **options,
        )
        return replace(found, columns=self._named(found.columns))

    def _condensed(self) -> Condensed:
        if not isinstance(self.asked, Forest):
            raise InputError(f"{self.given.name} is not made of trees")
        n_leaves = self.asked.n_leaves
        if n_leaves > _MOST_LEAVES:
            raise InputError(
                f"the model has {n_leaves:,} leaves, too many to make one tree in the time given",
                hint="cw.condense(model, seconds=...) tries.",
            )
        seconds = self.options.condense_seconds
        if self.options.quick:
            seconds = min(seconds, 3.0)
        return condense(self.asked, data=self.table, seconds=seconds)

    def _alone(self, found: Findings) -> Any:
        if "single columns" not in self.wanted:
            return None
        if found.target is None:
            self.stages.leave_out()
            return None
        used = [*found.features, found.target]
        return self.stages.run(
            "single columns",
            lambda: alone(self.table.select(used), seed=self.options.seed),
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


def thinned(table: Table, most: int, seed: int) -> Table:
    """Give some rows of a table, drawn with the seed, in their order."""
    if table.n_rows <= most:
        return table
    rng = np.random.default_rng(seed)
    return table.take(np.sort(rng.choice(table.n_rows, most, replace=False)))


def row_losses(bench: Benchmark, learner: str) -> Floats:
    """Give the mean loss of each row over the repeats, NaN where it was never tested."""
    losses = bench.losses(learner)
    n_rows = bench.context.table.n_rows
    total, count = np.zeros(n_rows), np.zeros(n_rows)
    for key, values in losses.outer.items():
        np.add.at(total, losses.rows[key], values)
        np.add.at(count, losses.rows[key], 1)
    return np.asarray(np.divide(total, count, out=np.full(n_rows, np.nan), where=count > 0))
