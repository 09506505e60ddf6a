"""From a model and its data to findings: every explanation computed once, within budgets."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from functools import partial
from math import log2
from typing import Any, Literal, TypeVar

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood._shared.clock import Clock
from clearwood._shared.draws import draw_rows
from clearwood._shared.errors import Call, InputError, words
from clearwood._shared.numbers import count, duration
from clearwood.benchmarking import (
    Choosing,
    Difference,
    LearningCurve,
    SelectionFrequency,
    TwoWays,
    learning_curve,
    two_ways_without,
)
from clearwood.checks import (
    Drift,
    Events,
    Leakage,
    Twins,
    association,
    drift,
    events,
    leakage,
    repeated_units,
    trend,
    twins,
)
from clearwood.condensing import Condensed
from clearwood.evaluation import ByColumn
from clearwood.explanation import (
    Agreement,
    Decomposition,
    Effect,
    Shapley,
    TermTable,
    integrated_gradients,
    leaves_of,
    readable_order,
)
from clearwood.fairness import Audit, audit, stand_ins_in, used_columns
from clearwood.models import Extrapolation, Learner, outside_training
from clearwood.reporting.browser.page_model import PageModel, page_model
from clearwood.reporting.collect.answers import (
    EVALUATIONS,
    attention_of,
    coefficients_of,
    decomposition_of,
    effect_of,
    equation_of,
    factors_of,
    one_tree_of,
    over_rows,
    page_tree,
    shapley_of,
    some_rows,
    terms_of,
    training_of,
)
from clearwood.reporting.collect.findings import (
    LEAST_INTERACTION,
    EffectViews,
    Findings,
    Inside,
    Options,
    PageTree,
    Performance,
    Step,
)
from clearwood.reporting.collect.inputs import ReportInput
from clearwood.reporting.collect.performance import (
    by_columns,
    diagnostics_of,
    gap_between,
    misfit,
    of_benchmark,
    of_rows,
)
from clearwood.reporting.collect.privacy import (
    coarse_drift,
    coarse_grid,
    coarse_performance,
    coarse_profile,
)
from clearwood.reporting.collect.stages import Stages, attempt
from clearwood.table import NUMERIC, Column, Profile, StandIn, Table, are_few_levels, profile

__all__ = ["SECTIONS", "Budgets", "budgets_of", "collect"]

T = TypeVar("T")

#: The sections of a page, by name, with the steps that each needs.
SECTIONS: dict[str, tuple[Step, ...]] = {
    "summary": (Step.DECOMPOSITION, Step.EFFECTS, Step.PERFORMANCE, Step.TEST, Step.CONDENSE),
    "data": (Step.ASSOCIATION, Step.TWINS),
    "performance": (
        Step.PERFORMANCE,
        Step.COMPARISON,
        Step.DIAGNOSTICS,
        Step.TEST,
        Step.TEST_COLUMNS,
        Step.LEARNING_CURVE,
    ),
    "terms": (Step.DECOMPOSITION, Step.TERMS),
    "table": (Step.FACTORS,),
    "importance": (
        Step.DECOMPOSITION,
        Step.EFFECTS,
        Step.INTERACTIONS,
        Step.AGREEMENT,
        Step.PERFORMANCE,
        Step.OBSERVED,
    ),
    "individual": (Step.DECOMPOSITION, Step.SHAPLEY, Step.PAGE_MODEL, Step.PAGE_TREE),
    "network": (Step.NETWORK,),
    "tree": (Step.CONDENSE, Step.PAGE_MODEL, Step.PAGE_TREE),
    "fairness": (Step.AUDIT,),
    "cautions": (
        Step.ASSOCIATION,
        Step.EFFECTS,
        Step.PERFORMANCE,
        Step.TEST,
        Step.AGREEMENT,
        Step.LEAKAGE,
        Step.STAND_INS,
        Step.TWINS,
        Step.RELATED,
        Step.WITHOUT,
        Step.DRIFT,
    ),
    "reproduction": (),
}

#: Columns whose effects are shown, pairs whose interaction is, and columns one click away.
MOST_EFFECTS, MOST_INTERACTIONS, MORE_EFFECTS = 12, 4, 24
#: Columns of test rows whose bands are shown.
MOST_TEST_COLUMNS = 20
#: Bands of protected columns of numbers, which a report chooses itself.
_BANDS = 4

# The most values of a column at which its effect is evaluated.
_POINTS = 40
_POINTS_OF_TERMS = 100
_POINTS_OF_CURVES, _POINTS_OF_CLASSES, _POINTS_OF_MORE, _POINTS_OF_PAIRS = 30, 20, 20, 14
_CURVES = 25
# With more columns than this, a model that is sampled is not searched for interactions.
_MOST_SEARCHED = 60
# Methods are not compared for columns with a smaller share of the variation.
_LEAST_SHARE = 0.005
# Averages over fewer rows than this would be noise.
_FEWEST_ROWS, _FEWEST_EXACT, _FEWEST_CARRIED = 500, 200, 30
# Attention is averaged over rows at most.
_ROWS_OF_ATTENTION = 500
# The fewest and the most nodes that are composed for one tree.
_NODES = (1000, 2_000_000)
# With more leaves than this, no single tree will be found.
_MOST_LEAVES = 500_000
# Larger tables are not refitted without some columns.
_MOST_CELLS_REFITTED = 2_000_000
# Work is counted in steps, one of which is a visit to a node of a tree, about 2 ns. Neither the
# clock nor what else the machine does has a say in how many rows a number is of.
#
# The exact decomposition of a forest takes steps for each leaf (a table over the subsets of its
# path), then a look-up for each row; measured, and right within a factor of three.
_STEPS_OF_LEAF, _STEPS_OF_LEAF_AND_ROW = 7500, 10
# A row takes steps in addition to its predictions: to be put together for each value, and to be
# drawn for each replicate of a band. Measured.
_STEPS_OF_VALUE, _STEPS_OF_BAND = 50, 2000
# What a prediction takes where it is a sum of curves or factors, and where nothing is known of it.
_STEPS_OF_SUM, _STEPS_OF_UNKNOWN = 1000, 10_000
# Seconds that a page takes where all steps use their whole budgets, by which a time limit scales
# them.
_USUAL_SECONDS, _QUICK_SECONDS = 65.0, 17.0


@dataclass(frozen=True)
class Budgets:
    """How much work steps may do, and how many rows they use.

    Parameters
    ----------
    decomposition, effects, agreement
        Steps of work.
    shapley
        Evaluations of a model whose Shapley values are estimated.
    learning_curve
        Cells of the table up to which a learner is fitted again for its learning curve.
    condense
        Nodes that may be composed for one tree, times leaves of the ensemble.
    agreement_rows, association_rows
        Rows.
    """

    decomposition: float
    effects: float
    agreement: float
    shapley: float
    learning_curve: float
    condense: float
    agreement_rows: int
    association_rows: int


_THOROUGH = Budgets(6e9, 7.5e9, 4e9, 200_000, 60_000, 2.5e8, 1000, 2000)
_QUICK = Budgets(2e9, 2.5e9, 1e9, 60_000, 0, 8e7, 300, 1000)
# The share that each step has of a time limit.
_SHARES = {
    Step.DECOMPOSITION: 0.18,
    Step.EFFECTS: 0.23,
    Step.INTERACTIONS: 0.12,
    Step.AGREEMENT: 0.12,
    Step.SHAPLEY: 0.15,
    Step.LEARNING_CURVE: 0.15,
    Step.CONDENSE: 0.15,
    Step.DIAGNOSTICS: 0.05,
    Step.OBSERVED: 0.05,
    Step.TEST_COLUMNS: 0.05,
    Step.AUDIT: 0.1,
}
# What cautions are found from, whichever sections are written.
_ALWAYS = {Step.PREDICTIONS, Step.PROFILES, Step.PROTECTED, Step.EVENTS}


def budgets_of(options: Options) -> Budgets:
    """Return the budgets of a report, smaller where there is a time limit.

    Examples
    --------
    >>> budgets_of(Options()).effects / budgets_of(Options(time_limit=6.5)).effects
    10.0
    >>> budgets_of(Options(time_limit=6500.0)) == budgets_of(Options())
    True
    """
    budgets = _QUICK if options.quick else _THOROUGH
    if options.time_limit is None:
        return budgets
    usual = _QUICK_SECONDS if options.quick else _USUAL_SECONDS
    share = min(options.time_limit / usual, 1.0)
    work = {f.name: getattr(budgets, f.name) * share for f in fields(budgets) if f.type is float}
    return replace(budgets, **work)


def collect(given: ReportInput, *, title: str, options: Options) -> Findings:
    """Compute everything that the page shows."""
    wanted = {step for name in options.sections or SECTIONS for step in SECTIONS[name]}
    if not options.has_rows:
        wanted -= {Step.SHAPLEY, Step.PAGE_MODEL, Step.CONDENSE, Step.FACTORS}
    wanted |= _ALWAYS
    plan = tuple(step for step in Step if step in wanted)
    stages = Stages(plan, quotes=options.has_rows)
    with stages.shown("report"):
        return Collector(given, options, stages, wanted).findings(title)


@dataclass
class Collector:
    """Computes the findings of one report."""

    given: ReportInput
    options: Options
    stages: Stages
    wanted: set[Step]
    #: Whether the decomposition is estimated from sampled predictions.
    is_sampled: bool = False

    def __post_init__(self) -> None:
        self.budgets = budgets_of(self.options)
        self.table = self.given.table
        self.seed = self.options.seed

    def findings(self, title: str) -> Findings:
        """Compute everything."""
        findings = self._start(title)
        findings = self._explanations(findings)
        findings = self._performances(findings)
        findings = self._rows(findings)
        findings = replace(
            findings,
            inside=self._when(Step.NETWORK, lambda: self._inside(findings)),
            condensed=self._when(Step.CONDENSE, self._condensed),
            protected_used=self._protected_used(findings),
            events=self._events(findings),
            leakage=self._leakage(findings),
            stand_ins=self._stand_ins(findings),
            twins=self._twins(findings) if Step.TWINS in self.wanted else None,
            drift=self._drift(findings),
        )
        findings = self._related(findings)
        findings = replace(
            findings,
            without=self._without(findings),
            page_tree=self._page_tree(findings),
            audits=self._audits(findings),
        )
        if not self.options.has_rows and findings.drift is not None:
            findings = replace(findings, drift=coarse_drift(findings.drift))
        return replace(
            findings,
            stages=tuple(self.stages.done),
            failures=dict(self.stages.failures),
            warnings=dict(self.stages.warnings),
        )

    def _when(self, step: Step, work: Callable[[], T]) -> T | None:
        """Do a step that some section needs."""
        return self.stages.run(step, work) if step in self.wanted else None

    # Predictions and columns

    def _start(self, title: str) -> Findings:
        given, table = self.given, self.table
        sample_rows = draw_rows(table.n_rows, self.options.sample, seed=self.seed)
        if not self.options.has_rows:
            sample_rows = sample_rows[:0]
        predictions = self.stages.run(Step.PREDICTIONS, lambda: self.given.predict(table))
        profiles = self.stages.run(
            Step.PROFILES, lambda: {column.name: self._profile(column) for column in table}
        )
        associated = self._when(
            Step.ASSOCIATION,
            lambda: association(
                table,
                columns=given.features,
                sample=self.budgets.association_rows,
                seed=self.seed,
            ),
        )
        return Findings(
            model=given.model,
            name=given.name,
            title=title,
            table=table,
            sample=table.take(sample_rows),
            sample_rows=sample_rows,
            features=given.features,
            target=table.target,
            task=given.task,
            classes=given.classes,
            is_probability=self.given.is_probability,
            predictions=predictions,
            benchmark=given.benchmark,
            chosen=given.chosen,
            same_rows=given.same_rows,
            profiles=profiles or {},
            association=associated,
            test=given.test,
            outside=self._outside(table, predictions),
            test_outside=self._outside(given.test, None),
            in_parts=given.explanation.in_parts,
            options=self.options,
        )

    def _profile(self, column: Column) -> Profile:
        table, weights = self.table, self.table.weights
        if table.exposure is not None and column.name in (table.target, table.exposure):
            weights = table.row_weights  # what is divided, and by what, is shown by rows
        whole = profile(column, weights=weights)
        return whole if self.options.has_rows else coarse_profile(whole, column, weights)

    def seconds_of(self, step: Step) -> float | None:
        """Return the seconds that a step may take, if the user limits the time."""
        limit = self.options.time_limit
        return None if limit is None else limit * _SHARES[step]

    @property
    def steps_of_prediction(self) -> float:
        """About how many steps the prediction of a row takes."""
        forest = self.given.explanation.forest
        if forest is not None:
            return forest.n_trees * (1 + log2(max(forest.n_leaves / forest.n_trees, 2)))
        return _STEPS_OF_SUM if self.given.explanation.is_exact else _STEPS_OF_UNKNOWN

    # The model as a whole

    def _explanations(self, findings: Findings) -> Findings:
        decomposition = self._when(Step.DECOMPOSITION, self._decomposition)
        if decomposition is not None:
            importance = self.stages.run(Step.IMPORTANCE, decomposition.importance)
            if importance is not None:
                findings = replace(
                    findings,
                    is_sampled=self.is_sampled,
                    decomposition=decomposition,
                    importance=importance,
                    interactions=decomposition.interactions(),
                )
        findings = self._terms(findings)
        drawn = [name for name in findings.ranked if name not in findings.unused]
        effects = self._when(Step.EFFECTS, lambda: self._effects(drawn)) or {}
        pairs = self._when(Step.INTERACTIONS, lambda: self._pairs(findings))
        rest = [name for name in drawn if name not in effects]
        return replace(
            findings,
            effects=effects,
            coefficients=coefficients_of(self.given.explanation) if self.options.has_rows else None,
            equation=equation_of(self.given.model) if self.options.has_rows else None,
            factors=self._when(Step.FACTORS, lambda: factors_of(self.given.explanation)),
            interaction_effects=pairs or (),
            more_effects=self._more_effects(findings, rest[:MORE_EFFECTS]),
            agreement=self._when(Step.AGREEMENT, lambda: self._agreement(findings)),
        )

    def _decomposition(self) -> Decomposition:
        """Decompose exactly, over as many rows as the budget allows, or else by sampling."""
        n_rows = self.exact_rows(self.budgets.decomposition)
        self.is_sampled = n_rows is None
        rows = self.table if n_rows is None else some_rows(self.table, n_rows, self.seed)
        many = len(self.given.features) > _MOST_SEARCHED
        order = readable_order(self.given.explanation)
        return decomposition_of(
            self.given.explanation,
            rows,
            is_sampled=self.is_sampled,
            max_order=1 if many and self.is_sampled else max(2, order or 2),
            time_limit=self.seconds_of(Step.DECOMPOSITION),
            seed=self.seed,
        )

    def _terms(self, findings: Findings) -> Findings:
        """Read a model that is a sum of few terms completely."""
        decomposition, order = findings.decomposition, readable_order(self.given.explanation)
        if decomposition is None or self.is_sampled or not order:
            return findings
        background = self.table
        if decomposition.background.n_rows < background.n_rows:
            background = some_rows(background, decomposition.background.n_rows, self.seed)
        table = self._when(Step.TERMS, lambda: terms_of(self.given.explanation, background, order))
        if table is None:
            return findings
        if not self.options.has_rows:  # neither extreme values nor values that occur
            bare = tuple(replace(term, low=None, high=None) for term in table.terms)
            return replace(findings, terms=replace(table, terms=bare))
        drawn = self._when(Step.TERMS, lambda: self._term_effects(decomposition, table))
        return replace(findings, terms=table, term_effects=drawn or ())

    def _outside(self, rows: Table | None, predicted: Floats | None) -> Extrapolation | None:
        """Count rows and predictions outside the training range, where this is known."""
        if rows is None or not hasattr(self.given.model, "training_"):
            return None
        outside = outside_training(self.given.model, rows, predicted)
        # an end of the range is the target of a row
        return outside if self.options.has_rows else replace(outside, low=None, high=None)

    def _term_effects(self, decomposition: Decomposition, table: TermTable) -> tuple[Effect, ...]:
        """Return the curve or surface of every listed term that can be drawn."""
        curves = {e.columns: e for e in decomposition.effects(points=_POINTS_OF_TERMS)}
        return tuple(
            curves[term.columns]
            if term.order == 1
            else decomposition.effect(*term.columns, points=_POINTS_OF_PAIRS)
            for term in table.terms
            if term.order <= 2
        )

    def exact_rows(self, steps: float) -> int | None:
        """Return over how many rows the model can be decomposed exactly within a number of steps.

        All of them for sums; None if the model is not a sum, or if even few rows take too many.
        """
        if not self.given.explanation.is_exact:
            return None
        n_rows, n_leaves = self.table.n_rows, leaves_of(self.given.explanation.exact_game)
        if n_leaves is None:
            return n_rows
        rows = int((steps / n_leaves - _STEPS_OF_LEAF) / _STEPS_OF_LEAF_AND_ROW)
        if self.given.explanation.in_parts is not None and rows >= min(_FEWEST_EXACT, n_rows):
            return n_rows  # of a table in parts, all rows count
        return min(rows, n_rows) if rows >= min(_FEWEST_EXACT, n_rows) else None

    def rows_within(self, steps: float, most: int, columns: int, values: int = _POINTS + 2) -> int:
        """Return how many rows are predicted at some values of each column within the steps."""
        per_row = (self.steps_of_prediction + _STEPS_OF_VALUE) * values + _STEPS_OF_BAND
        rows = int(steps / per_row / max(columns, 1))
        return min(max(rows, _FEWEST_ROWS), most)

    def _effects(self, drawn: Sequence[str]) -> dict[str, EffectViews]:
        """Return the effects of the first columns by three methods."""
        names, most = drawn[:MOST_EFFECTS], self.table.n_rows
        # all rows, if they are not too many; an accumulated effect has two predictions of each
        average = self.rows_within(0.8 * self.budgets.effects, most, len(names))
        steps = self.rows_within(0.2 * self.budgets.effects, most, len(names), 3)
        seconds = self.seconds_of(Step.EFFECTS)
        is_many_classes = len(self.given.classes) > 2
        kinds: tuple[tuple[Literal["pdp", "ice", "ale"], int, int], ...] = (
            ("pdp", average, _POINTS),
            ("ice", _CURVES, _POINTS_OF_CURVES),
            ("ale", steps, _POINTS),
        )
        if not self.options.has_rows:
            kinds = tuple(kind for kind in kinds if kind[0] != "ice")
        clock = Clock(seconds)
        each = None if seconds is None else seconds / max(len(names) * len(kinds), 1)
        effects: dict[str, EffectViews] = {}
        failure = None
        for name in names:
            if clock.is_over:
                self.stages.failures[Step.EFFECTS] = (
                    f"the time limit was reached after {len(effects)} columns; cw.effect computes "
                    "the others"
                )
                break
            views: dict[str, Any] = {}
            grid = None if self.options.has_rows else coarse_grid(self.table.column(name))
            if grid is None and not self.options.has_rows:
                continue
            for kind, n_rows, usual in kinds:
                points = _POINTS_OF_CLASSES if is_many_classes else usual
                try:
                    views[kind] = effect_of(
                        self.given.explanation,
                        name,
                        kind=kind,
                        points=points,
                        grid=grid,
                        n_rows=n_rows,
                        time_limit=each,
                        seed=self.seed,
                    )
                except InputError as error:
                    failure = error
            if views:
                effects[name] = EffectViews(name, **views)
        if failure is not None and not effects:
            raise failure
        return effects

    def _more_effects(self, findings: Findings, names: Sequence[str]) -> tuple[Effect, ...]:
        """Read main effects off the exact decomposition, all of them in the time of a few."""
        decomposition = findings.decomposition
        is_shown = Step.INTERACTIONS in self.wanted and self.options.has_rows  # values that occur
        if decomposition is None or not names or findings.is_sampled or not is_shown:
            return ()

        def read() -> tuple[Effect, ...]:
            all_effects = decomposition.effects(points=_POINTS_OF_MORE)
            by_name = {effect.columns[0]: effect for effect in all_effects}
            return tuple(by_name[name] for name in names if name in by_name)

        return self.stages.run(Step.MORE_EFFECTS, read) or ()

    def _pairs(self, findings: Findings) -> tuple[Effect, ...]:
        """Return the strongest interactions of two columns."""
        decomposition, interactions = findings.decomposition, findings.interactions
        if decomposition is None or interactions is None:
            raise InputError("the model could not be decomposed")
        if not self.options.has_rows:
            return ()
        clock = Clock(self.seconds_of(Step.INTERACTIONS))
        effects: list[Effect] = []
        strongest = zip(interactions.components, interactions.share, strict=True)
        for names, share in list(strongest)[:MOST_INTERACTIONS]:
            if share < LEAST_INTERACTION or len(names) != 2:
                break
            if clock.is_over:
                self.stages.failures[Step.INTERACTIONS] = (
                    f"the time limit was reached after {count(len(effects), 'pair')}"
                )
                break
            effects.append(decomposition.effect(*names, points=_POINTS_OF_PAIRS))
        return tuple(effects)

    def _agreement(self, findings: Findings) -> Agreement:
        """Compare methods for the columns that matter."""
        order = findings.ranked
        names = [n for n in order[:MOST_EFFECTS] if findings.shares.get(n, 1.0) > _LEAST_SHARE]
        names = names or list(order[:1])
        most = self.budgets.agreement_rows
        n_rows = self.rows_within(self.budgets.agreement, most, len(names))
        rows = some_rows(self.table, n_rows, self.seed)
        return over_rows(self.given.explanation, rows).agreement(
            columns=names, time_limit=self.seconds_of(Step.AGREEMENT), seed=self.seed
        )

    # Performance

    def _performances(self, findings: Findings) -> Findings:
        tested = self._diagnosed(self._tested())
        performance = self._when(Step.PERFORMANCE, lambda: self._performance(findings, tested))
        if performance is not tested:
            performance = self._diagnosed(performance)
        gap = None
        if tested is not None and performance is not None and performance.rows == "out-of-fold":
            gap = gap_between(tested, performance)
        findings = replace(
            findings,
            performance=performance,
            test_performance=tested,
            test_gap=gap,
            out_of_fold=self._out_of_fold(),
            choosing=self._choosing(),
            learning_curve=self._learning_curve(),
            observed=self._observed(findings, performance),
        )
        findings = self._compared(findings)
        return self._test_columns(findings)

    def _diagnosed(self, performance: Performance | None) -> Performance | None:
        """Add calibration and rankings, on a page that may show rows."""
        evaluation = None if performance is None else performance.evaluation
        if performance is None or evaluation is None or not self.options.has_rows:
            return performance
        seconds = self.seconds_of(Step.DIAGNOSTICS)
        found = self._when(Step.DIAGNOSTICS, lambda: diagnostics_of(evaluation, seconds))
        return replace(performance, diagnostics=found or {})

    def _compared(self, findings: Findings) -> Findings:
        """Compare the model with the best learner, and count the columns that folds chose."""
        bench, chosen = findings.benchmark, findings.chosen
        if bench is None:
            return findings

        def compare() -> tuple[Difference | None, dict[str, SelectionFrequency]]:
            best, better = bench.learners[0], None
            if chosen is not None and best != chosen:
                gap = bench.compare(chosen, best)
                better = gap if gap.clear and gap.difference > 0 else None
            return better, {name: bench.selection(name) for name in bench.selecting}

        better, selections = self.stages.run(Step.COMPARISON, compare) or (None, {})
        return replace(findings, better=better, selections=selections)

    def _observed(
        self, findings: Findings, performance: Performance | None
    ) -> Mapping[str, ByColumn]:
        """Compare observed and expected for the columns with effects."""
        evaluation = None if performance is None else performance.evaluation
        if evaluation is None or not findings.effects or not self.options.has_rows:
            return {}
        clock, shown = Clock(self.seconds_of(Step.OBSERVED)), findings.classes_shown
        label = shown[0] if shown else None

        def compare() -> dict[str, ByColumn]:
            found: dict[str, ByColumn] = {}
            for name in findings.effects:
                # another table may lack the column, and classes have no probabilities
                with suppress(InputError):
                    if not clock.is_over:
                        found[name] = evaluation.by(name, label=label)
            return found

        return self._when(Step.OBSERVED, compare) or {}

    def _test_columns(self, findings: Findings) -> Findings:
        """Compare observed and expected by column of test rows, and of held-out rows."""
        held, test = findings.performance, findings.test_performance
        evaluation = None if test is None else test.evaluation
        if evaluation is None or not self.options.has_rows:
            return findings
        clock = Clock(self.seconds_of(Step.TEST_COLUMNS))

        def compare() -> tuple[list[ByColumn], dict[str, ByColumn]]:
            every = by_columns(evaluation, ((n,) for n in evaluation.table.features), clock)
            parts = sorted(every, key=misfit, reverse=True)[:MOST_TEST_COLUMNS]
            own = None if held is None or not findings.is_test_apart else held.evaluation
            if own is None:
                return parts, {}
            names = [part.columns for part in parts if part.columns[0] in own.table.names]
            return parts, {part.columns[0]: part for part in by_columns(own, names, clock)}

        parts, beside = self._when(Step.TEST_COLUMNS, compare) or ([], {})
        return replace(findings, test_columns=tuple(parts), held_out_columns=beside)

    def _performance(self, findings: Findings, tested: Performance | None) -> Performance:
        """Return the performance on held-out rows if there are some, else on the table's."""
        given = self.given
        if tested is not None and (given.benchmark is None or given.chosen is None):
            return tested
        performance = self._evaluated(findings)
        return performance if self.options.has_rows else coarse_performance(performance)

    def _tested(self) -> Performance | None:
        """Return how well the model predicts test rows whose outcome is known."""
        given, test = self.given, self.given.test
        if test is None or test.target is None or Step.TEST not in self.wanted:
            return None
        bench, threshold = given.benchmark, self.options.threshold
        if threshold is None and bench is not None:
            threshold = bench.method.threshold
        loss = None if bench is None or given.chosen is None else bench.context.loss

        def score() -> Performance:
            scored = of_rows(
                given, test, given.predict(test), rows="test", threshold=threshold, loss=loss
            )
            return scored if self.options.has_rows else coarse_performance(scored)

        return self.stages.run(Step.TEST, score)

    def _evaluated(self, findings: Findings) -> Performance:
        given, threshold = self.given, self.options.threshold
        if given.benchmark is not None and given.chosen is not None:
            return of_benchmark(given.benchmark, given.chosen, threshold)
        if self.table.target is None:
            raise InputError("the table has no target to compare the predictions with")
        if findings.predictions is None:
            reason = self.stages.failures.get(Step.PREDICTIONS, "the model did not predict")
            raise InputError(reason)
        return of_rows(
            given, self.table, findings.predictions, rows="training", threshold=threshold
        )

    def _out_of_fold(self) -> Floats | None:
        bench, chosen = self.given.benchmark, self.given.chosen
        if bench is None or chosen is None or not self.given.same_rows:
            return None
        if bench.in_parts is not None:
            return None  # the rows that were held out are not those of the page
        return self.stages.run(Step.HELD_OUT, lambda: bench.predictions(chosen))

    def _choosing(self) -> Choosing | None:
        bench = self.given.benchmark
        if bench is None or len(bench.standings) < 2:
            return None
        try:
            return bench.choosing()
        except InputError:
            return None  # only the fits of a nested interval tell what choosing costs

    def _learning_curve(self) -> LearningCurve | None:
        if Step.LEARNING_CURVE not in self.wanted:
            return None
        model, step = self.given.model, Step.LEARNING_CURVE
        if not isinstance(model, Learner) or self.table.target is None:
            self.stages.skip(step, "it needs a learner that can be refitted, and a target")
            return None
        if self.options.quick:
            self.stages.skip(step, "a quick report leaves it out")
            return None
        reason, call = None, Call("benchmarking.learning_curve", ("model", "data"))
        n_cells = self.table.n_rows * max(len(self.given.features), 1)
        if n_cells > self.budgets.learning_curve:
            reason = f"25 more fits to a table of {n_cells:,} cells would take long; "
        seconds = self.seconds_of(step)
        # five folds at shares 0.1, 0.2, 0.4, 0.7 and 1 of four fifths of the rows
        expected = 5 * 2.4 * 0.8 * float(model.training_["seconds"]) + 0.5
        expected *= self.table.n_rows / max(1, int(model.training_["rows"]))
        if seconds is not None and expected > seconds:
            reason = f"25 more fits would take about {duration(round(expected))}; "
        if reason is not None:
            self.stages.skip(step, str(words(reason, call, " computes it")))
            return None
        fresh = Learner(**model.get_params(deep=False))
        return self.stages.run(step, lambda: learning_curve(fresh, self.table, seed=self.seed))

    # Individual rows

    def _rows(self, findings: Findings) -> Findings:
        findings = self._fewer_rows(findings)
        sample = findings.sample
        shapley = self._when(Step.SHAPLEY, lambda: self._shapley(findings))
        model = self._when(
            Step.PAGE_MODEL, lambda: page_model(self.given.explanation, sample, seed=self.seed)
        )
        if model is None:
            model = PageModel(None, self.stages.failures.get(Step.PAGE_MODEL, "it was not needed"))
        findings = replace(findings, shapley=shapley, page_model=model)
        if Step.SHAPLEY not in self.wanted:
            return findings
        outputs, predicted = self._sample_outputs(findings)
        return replace(findings, outputs=outputs, sample_outputs=predicted)

    def _fewer_rows(self, findings: Findings) -> Findings:
        """Carry fewer rows if each has to be estimated, unless the user says how many."""
        is_wanted = "sample" in self.options.given or "rows" in self.options.given
        if Step.SHAPLEY not in self.wanted or not findings.is_sampled or is_wanted:
            return findings
        size = max(int(self.budgets.shapley / EVALUATIONS), _FEWEST_CARRIED)
        if size >= findings.sample.n_rows:
            return findings
        rows = findings.sample_rows[draw_rows(findings.sample.n_rows, size, seed=self.seed)]
        return replace(findings, sample_rows=rows, sample=self.table.take(rows))

    def _shapley(self, findings: Findings) -> Shapley:
        return shapley_of(
            self.given.explanation,
            findings.sample,
            is_sampled=findings.is_sampled,
            time_limit=self.seconds_of(Step.SHAPLEY),
            seed=self.seed,
        )

    def _sample_outputs(self, findings: Findings) -> tuple[tuple[str, ...], Floats | None]:
        """Predict the page's rows, one column per output; scores of classes as positions."""
        is_label = bool(findings.classes) and not findings.is_probability
        predictions = findings.predictions
        if is_label and findings.page_model.data is None and predictions is not None:
            return ("prediction",), predictions[findings.sample_rows, None]
        predictor = self.given.predictor
        predicted, error = attempt(lambda: predictor.predict(findings.sample_rows))
        if error is not None:  # the step that predicts all rows has the reason
            return (), None
        return predictor.outputs, predicted

    def _inside(self, findings: Findings) -> Inside | None:
        """Look into a network; at no row, on a page without rows."""
        training = training_of(self.given.model)
        if training is None:
            return None
        rows = some_rows(self.table, _ROWS_OF_ATTENTION, self.seed)
        attention = attention_of(self.given.model, rows)
        predictions, places = findings.predictions, findings.sample_rows
        if predictions is None or not len(places):
            return Inside(training, attention=attention)
        order = places[np.argsort(predictions.reshape(len(predictions), -1)[places, -1])]
        chosen = {"lowest": order[0], "median": order[len(order) // 2], "highest": order[-1]}
        each = {
            name: integrated_gradients(self.given.model, self.table, int(row))
            for name, row in chosen.items()
        }
        return Inside(training, each, tuple(map(int, chosen.values())), attention)

    # One tree, and checks of the data

    def _condensed(self) -> Condensed:
        n_leaves = leaves_of(self.given.explanation.exact_game)
        if n_leaves is not None and n_leaves > _MOST_LEAVES:
            raise InputError(
                f"the model has {n_leaves:,} leaves, too many for one tree",
                hint=words("try ", Call("condense", ("model",), {"time_limit": 600}), "."),
            )
        nodes = int(np.clip(self.budgets.condense / (n_leaves or 1), *_NODES))
        return one_tree_of(
            self.given.explanation, nodes=nodes, time_limit=self.seconds_of(Step.CONDENSE)
        )

    def _leakage(self, findings: Findings) -> Leakage | None:
        if findings.target is None:
            return None
        return self._when(
            Step.LEAKAGE,
            lambda: leakage(self.table, columns=findings.features, seed=self.seed),
        )

    def _page_tree(self, findings: Findings) -> PageTree | None:
        """Lay the condensed tree out for the page."""
        condensed = findings.condensed
        if condensed is None:
            return None
        return self._when(Step.PAGE_TREE, lambda: page_tree(findings, condensed))

    def _audits(self, findings: Findings) -> tuple[Audit, ...]:
        """Compare groups of the protected columns: of held-out rows, and of test rows."""
        table = findings.table
        names = [name for name in table.protected if name != table.target]
        if not names:
            return ()
        numbers = [name for name in names if table.kind(name) in NUMERIC]
        bands = {name: _BANDS for name in numbers if not are_few_levels(table[name].values)}
        options: dict[str, Any] = {"protected": names, "cut_points": bands or None, "causes": False}
        bench, clock = findings.benchmark, Clock(self.seconds_of(Step.AUDIT))

        def compare() -> tuple[Audit, ...]:
            audits: list[Audit] = []
            if bench is not None and findings.chosen is not None and findings.same_rows:
                of_bench = audit(bench, learner=findings.chosen, fitted=findings.model, **options)
                audits.append(of_bench)
            if not audits or (findings.is_test_apart and not clock.is_over):
                audits.append(audit(findings.model, table, test=findings.test, **options))
            return tuple(audits)

        return self._when(Step.AUDIT, compare) or ()

    def _protected_used(self, findings: Findings) -> tuple[str, ...]:
        names = [name for name in findings.table.protected if name in findings.used]
        if not names:
            return ()
        work = partial(used_columns, findings.model, self.table, names)
        return self._when(Step.PROTECTED, work) or ()

    def _events(self, findings: Findings) -> Events | None:
        if findings.target is None or findings.target not in self.table.names:
            return None
        beside = [findings.target, self.table.exposure]
        rows = self.table.select([*findings.used, *filter(None, beside)])
        return self._when(Step.EVENTS, lambda: events(rows))

    def _stand_ins(self, findings: Findings) -> tuple[StandIn, ...]:
        protected = findings.table.protected
        if not protected:
            return ()
        work = partial(stand_ins_in, findings.model, self.table, protected)
        return self._when(Step.STAND_INS, work) or ()

    def _twins(self, findings: Findings) -> Twins | None:
        if findings.is_of_a_sample:
            self.stages.skip(Step.TWINS, "a sample has few rows of the same person or thing")
            return None
        known = None if findings.benchmark is None else findings.benchmark.twins
        if known is not None and known.n_rows == self.table.n_rows and findings.test is None:
            return known
        beside = [self.table.target, self.table.exposure]
        used = self.table.select([*findings.features, *filter(None, beside)])
        return self.stages.run(Step.TWINS, lambda: twins(used, test=findings.test, seed=self.seed))

    def _related(self, findings: Findings) -> Findings:
        """Look for repeated units and a trend, unless the table says how rows are related."""
        table = self.table
        if table.target is None or Step.RELATED not in self.wanted:
            return findings
        has_units = table.groups is None and not findings.is_of_a_sample
        both = self.stages.run(
            Step.RELATED,
            lambda: (
                repeated_units(table, seed=self.seed) if has_units else None,
                trend(table, seed=self.seed) if table.times is None else None,
            ),
        )
        units, along = both or (None, None)
        return replace(findings, units=units, trend=along)

    def _without(self, findings: Findings) -> TwoWays | None:
        """Refit the learner without the columns that may leak the target, or that carry it."""
        columns = findings.suspects or tuple(filter(None, [findings.carrier]))
        model, bench, step = self.given.model, findings.benchmark, Step.WITHOUT
        if step not in self.wanted or not isinstance(model, Learner) or self.table.target is None:
            return None
        columns = tuple(name for name in columns if name in self.table.features)
        if not columns or len(columns) == len(self.table.features):
            return None
        if self.options.quick:
            self.stages.skip(step, "a quick report leaves it out")
            return None
        if self.table.n_rows * len(self.table.features) > _MOST_CELLS_REFITTED:
            call = Call("benchmarking.two_ways_without", ("model", "data", "columns"))
            self.stages.skip(step, str(words("the table is large; ", call, " computes it")))
            return None
        chosen = findings.chosen
        if bench is not None and chosen is not None and bench.in_parts is None:
            return self.stages.run(step, lambda: bench.without(*columns, learner=chosen))
        fresh = Learner(**model.get_params(deep=False))
        return self.stages.run(
            step, lambda: two_ways_without(fresh, self.table, columns, seed=self.seed)
        )

    def _drift(self, findings: Findings) -> Drift | None:
        if Step.DRIFT not in self.wanted:
            return None
        target = () if findings.target is None else (findings.target,)
        columns = [*findings.features, *target]
        test = findings.test
        if test is not None:
            shared = [name for name in columns if name in test.names]
            return self.stages.run(
                Step.DRIFT, lambda: drift(self.table, test, columns=shared, seed=self.seed)
            )
        times = self.table.times
        if times is None or self.table.n_rows < 20:
            return None
        order = np.argsort(times, kind="stable")
        earlier, later = np.array_split(order, [len(order) // 2])
        return self.stages.run(
            Step.DRIFT,
            lambda: drift(
                self.table.take(earlier),
                self.table.take(later),
                columns=columns,
                names=("earlier rows", "later rows"),
                seed=self.seed,
            ),
        )
