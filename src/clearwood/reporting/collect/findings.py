"""Everything a page is written from: the library's results, computed once."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from math import comb
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.clock import Clock
from clearwood.explanation import Unit
from clearwood.models import Learner, chooses_columns, chosen_columns, has_probabilities
from clearwood.reporting.browser.page_model import PageModel
from clearwood.reporting.browser.tree_places import Places
from clearwood.reporting.page.blocks import Caution
from clearwood.table import Table, Task

if TYPE_CHECKING:
    from clearwood._shared.results import Result
    from clearwood.benchmarking import (
        Benchmark,
        Choosing,
        Difference,
        IdenticalRows,
        LearningCurve,
        SelectionFrequency,
        TwoWays,
    )
    from clearwood.checks import Association, Drift, Events, Leakage, RepeatedUnits, Trend, Twins
    from clearwood.condensing import Condensed, Rules
    from clearwood.evaluation import (
        ByColumn,
        CalibrationCurve,
        Evaluation,
        Interval,
        Measures,
        Residuals,
    )
    from clearwood.explanation import (
        Agreement,
        Attention,
        Coefficients,
        Decomposition,
        Effect,
        Factors,
        Importance,
        InParts,
        IntegratedGradients,
        Interactions,
        Shapley,
        TermTable,
        TrainingCurve,
    )
    from clearwood.fairness import Audit
    from clearwood.models import Extrapolation
    from clearwood.table import Profile, StandIn

__all__ = [
    "HANDFUL",
    "LEAST_IMPORTANCE",
    "LEAST_INTERACTION",
    "EffectViews",
    "EvaluationFindings",
    "Findings",
    "Inside",
    "Options",
    "PageModel",
    "PageTree",
    "PartsKind",
    "Performance",
    "Places",
    "Stage",
    "Step",
]

#: Pairs of columns with a smaller share of the variation have no relevant interaction.
LEAST_INTERACTION = 0.005
#: Columns with a smaller share of the variation are not among the most important.
LEAST_IMPORTANCE = 0.01
#: A column with at least this share of the variation carries the model.
CARRIES = 2 / 3
#: Groups of fewer rows are not shown on a page without rows.
HANDFUL = 5
#: Classes drawn in one figure; more lines cannot be told apart.
MOST_CLASSES = 5
#: Columns that are called the most important.
_TOP = 3
# A share of the variation that is rounding.
_NO_SHARE = 1e-9


class Step(StrEnum):
    """A step of the work, by the name that the page gives it; in the order they are done."""

    IMPORT = "import of the model"
    PREDICTIONS = "predictions"
    PROFILES = "columns"
    ASSOCIATION = "association"
    DECOMPOSITION = "decomposition"
    IMPORTANCE = "importance"
    EFFECTS = "effects"
    TERMS = "terms"
    FACTORS = "table of factors"
    INTERACTIONS = "interactions"
    MORE_EFFECTS = "more effects"
    AGREEMENT = "agreement"
    PERFORMANCE = "performance"
    COMPARISON = "comparison of learners"
    DIAGNOSTICS = "calibration and rankings"
    OBSERVED = "observed and expected"
    PAIRS = "pairs of columns"
    HELD_OUT = "held-out predictions"
    TEST = "test rows"
    TEST_COLUMNS = "test rows by column"
    LEARNING_CURVE = "learning curve"
    SHAPLEY = "Shapley values"
    NETWORK = "inside the network"
    PAGE_MODEL = "model in the page"
    CONDENSE = "one tree"
    PAGE_TREE = "tree in the page"
    AUDIT = "groups of protected columns"
    PROTECTED = "use of protected columns"
    EVENTS = "events"
    LEAKAGE = "leakage"
    STAND_INS = "stand-ins of protected columns"
    WITHOUT = "without suspicious columns"
    TWINS = "identical rows"
    RELATED = "repeated units and trend"
    DRIFT = "drift"
    WRITING = "writing of the page"


@dataclass(frozen=True)
class Options:
    """Options of `clearwood.report`."""

    seed: int = 0
    n_jobs: int = 1
    quick: bool = False
    #: The most rows the page carries, as examples and as background of its Shapley values.
    sample: int = 500
    #: Whether the page may contain rows of the data.
    has_rows: bool = True
    #: Seconds that the explanations may take in all; None for the usual ones.
    time_limit: float | None = None
    #: The probability above which the second of two classes is predicted; None for the usual one.
    threshold: float | None = None
    #: Names of the sections to write; None for all.
    sections: tuple[str, ...] | None = None
    #: The command line that made the page, if one did.
    command: str | None = None
    #: Whether the learners were compared for this report.
    is_compared: bool = False
    #: The file of the model, if it was given as one.
    model_file: str | None = None
    #: Options of the call that differ from their defaults.
    given: Mapping[str, Any] = field(default_factory=dict)
    #: What was done before the report, with its seconds.
    before: Mapping[str, float] = field(default_factory=dict)
    #: Since when the report is being made.
    clock: Clock = field(default_factory=Clock)


@dataclass(frozen=True)
class Stage:
    """A step that was done, and its seconds."""

    step: Step
    seconds: float


@dataclass(frozen=True, eq=False)
class EffectViews:
    """The effect of one column by three methods; None for a method that failed."""

    column: str
    pdp: "Effect | None" = None
    ice: "Effect | None" = None
    ale: "Effect | None" = None


@dataclass(frozen=True, eq=False)
class Inside:
    """What only a neural network has.

    Parameters
    ----------
    training
        Its losses, epoch by epoch.
    gradients
        Integrated gradients of some rows of the page, by what their prediction is among those of
        the page: "lowest", "median", "highest"; none on a page without rows.
    rows
        The positions of these rows in the table.
    attention
        Of a transformer; None for other networks.
    """

    training: "TrainingCurve"
    gradients: "Mapping[str, IntegratedGradients]" = field(default_factory=dict)
    rows: tuple[int, ...] = ()
    attention: "Attention | None" = None


@dataclass(frozen=True, eq=False)
class PageTree:
    """The condensed tree as the page shows it.

    Parameters
    ----------
    places
        The tree laid out, with rows counted at every place; None where nothing is certified.
    rules
        Its leaves in words; None where they are too many or cannot be written, with the reason.
    ways
        The way that each row of the page takes.
    """

    places: Places | None = None
    rules: "Rules | None" = None
    no_rules: str = ""
    ways: tuple[str, ...] = ()


class PartsKind(StrEnum):
    """How the parts of a prediction combine, which decides how the page writes them."""

    SUM = "sum"  # parts add up to the prediction itself
    ODDS = "odds"  # parts are log odds: each multiplies the odds
    FACTOR = "factor"  # parts are logs: each multiplies the prediction
    SCORE = "score"  # parts add up to a score that some other link turns into the prediction

    @classmethod
    def of(cls, unit: Unit) -> "PartsKind":
        """Return how numbers of a unit combine.

        Examples
        --------
        >>> PartsKind.of(Unit.LOG_ODDS)
        <PartsKind.ODDS: 'odds'>
        """
        kinds = {
            Unit.PREDICTION: cls.SUM,
            Unit.PROBABILITY: cls.SUM,
            Unit.LOG_ODDS: cls.ODDS,
            Unit.LOG_MEAN: cls.FACTOR,
        }
        return kinds.get(unit, cls.SCORE)


@dataclass(frozen=True, eq=False, kw_only=True)
class Performance:
    """How well the model predicts some rows.

    Parameters
    ----------
    rows
        Which ones: "out-of-fold" (all rows, each predicted by a fit that had not seen it), "test"
        (rows given as held out) or "training" (the rows it was, or may have been, fitted to).
    n_rows
        How many.
    sampled_of
        Where measures, calibration and residuals are of a sample of these rows: of how many. The
        risk is that of all of them.
    loss, risk_title
        What the risk is the mean of, and what that mean is called: "mean squared error".
    risk
        With its interval.
    baseline
        The risk of always predicting the mean, or the shares of the classes.
    against_baseline
        Risk less that of the baseline with its interval, row by row; None for training rows.
    measures, calibration, residuals
        Beside the loss; None where they make no sense.
    evaluation
        The predictions of these rows, for what is computed from them; None where they are not kept.
    diagnostics
        Smooth calibration, lift, double lift, and ROC or Lorenz curve of these predictions, by
        name, as far as they have them.
    """

    rows: Literal["out-of-fold", "test", "training"]
    n_rows: int
    loss: str
    risk_title: str
    risk: "Interval"
    baseline: float | None = None
    against_baseline: "Difference | None" = None
    measures: "Measures | None" = None
    calibration: "CalibrationCurve | None" = None
    residuals: "Residuals | None" = None
    evaluation: "Evaluation | None" = None
    diagnostics: "Mapping[str, Result]" = field(default_factory=dict)
    sampled_of: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the main numbers, ready for JSON."""
        gap, measured = self.against_baseline, self.measures
        return {
            "rows": self.rows,
            "n_rows": self.n_rows,
            "sampled_of": self.sampled_of,
            "loss": self.loss,
            "risk": self.risk.to_json(),
            "baseline": self.baseline,
            "explained": self.explained,
            "against_baseline": None if gap is None else gap.to_json(),
            "measures": None if measured is None else measured.to_json(),
        }

    @property
    def explained(self) -> float | None:
        """The share of the baseline's risk that the model removes."""
        if self.baseline is None or not self.baseline > 0:
            return None
        return 1 - self.risk.estimate / self.baseline

    @property
    def may_be_chance(self) -> bool:
        """Whether chance could explain the gain over the baseline."""
        if self.against_baseline is not None:
            return not self.against_baseline.clear
        return self.baseline is not None and self.risk.high > self.baseline


@dataclass(frozen=True, eq=False, kw_only=True)
class EvaluationFindings:
    """What the page of an evaluation is written from.

    Parameters
    ----------
    parts
        Lift, calibration, rankings and the like, by name, as far as the predictions have them.
    columns, pairs
        Observed against expected by column, and by pair of the columns that are most off; those
        that are clearly off first.
    failures
        Why a step has no result.
    """

    evaluation: "Evaluation"
    parts: "Mapping[str, Result]" = field(default_factory=dict)
    columns: "tuple[ByColumn, ...]" = ()
    pairs: "tuple[ByColumn, ...]" = ()
    failures: Mapping[Step, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, kw_only=True)
class Findings:
    """What is known about a model and its data.

    A result that could not be computed is None (or empty), and `failures` has the reason, by step;
    `stages` has what was done, in order, and `warnings` what the library warned of.

    Parameters
    ----------
    name
        What to call the model: the learner's name, or the kind of the model.
    sample, sample_rows
        The rows that the page carries, drawn from the table with the seed, and their positions in
        it, in increasing order. They are also the background of `shapley`.
    features
        The columns that the model takes, in the order of the table; `used` are those of them that
        it chose.
    classes
        The labels in the order of the columns of probabilities; empty for numbers.
    is_probability
        Whether predictions and `effects` are probabilities.
    predictions
        Of all rows of the table: numbers, or one column of probabilities per class; for a
        classifier without probabilities the positions of predicted classes.
    outputs, sample_outputs
        Names of what the model predicts, and its predictions of the sample, one column each.
    chosen
        The learner of the benchmark that the model is; None if it is not one of those compared.
    same_rows
        Whether the benchmark compared on the rows of the table.
    out_of_fold
        What the chosen learner predicted for each row when it had not seen it; None if the rows
        are not the benchmark's.
    decomposition, is_sampled
        Over the table or some of its rows (see its ``background``); and whether it is estimated
        from sampled predictions.
    effects, more_effects
        For the most important columns, by column; for columns that come after those, as exact
        main effects on the decomposition's scale.
    interaction_effects
        The strongest interactions, as components of two columns.
    terms, term_effects
        Of a model that is read term by term: the table of its terms, and the curve or surface of
        each listed term of one or two columns, with the model's own band where it has one.
    coefficients
        Of a linear learner that is explained on the rows it was fitted to.
    equation
        What `clearwood.models.equation` returns for the model; None where it cannot be written out.
    factors
        A learner in which at most two columns interact, as a base value and what cells do to it.
    inside
        Of a neural network: its training, gradients and attention; None for other models.
    outside, test_outside
        How many rows of the page, and test rows, and how many predictions of these lie outside the
        training range; None if that is not known.
    page_model
        The model as the page's script computes with it, or why it cannot.
    performance
        Where a target is known: that of the benchmark if there is one, else on the test rows, else
        on the rows of the page.
    test_performance, test_gap
        Where the outcome of test rows is known: how well the model predicts them, and their risk
        less that of `performance` where this is of other held-out rows.
    observed
        Observed against expected by column, for the columns with effects: of `performance`.
    test_columns, held_out_columns
        The same for all columns of test rows, those that are clearly off first, and for the other
        held-out rows.
    audits
        What the model predicts for groups of protected columns: of held-out rows, of test rows.
    protected_used
        The protected columns with which predictions change while all others stay as they are.
    events
        The events of the table, for the columns of the model.
    better
        The learner of the benchmark that predicts better than this model beyond chance, and by how
        much.
    selections
        How often the folds of a learner that chooses columns chose each, by learner.
    page_tree
        The condensed tree as the page shows it.
    choosing
        What it costs to choose the best of the benchmark's learners.
    twins
        Rows with identical features.
    without
        What the learner gains over the baseline with and without the columns that may leak the
        target or, if there are none, the one that carries most of the model.
    units, trend
        Keys or columns that identify repeated units; what the target changes along.
    in_parts
        The rows, where the table is only a sample of them because they are read in parts.
    cautions
        What to be careful about, the most serious first; found from all of the above.
    drift
        How the test rows differ from the table's, or its later rows from the earlier ones.
    """

    model: Any
    name: str
    title: str
    table: Table
    sample: Table
    sample_rows: Index
    features: tuple[str, ...]
    target: str | None
    task: Task | None
    classes: tuple[str, ...] = ()
    is_probability: bool = False
    predictions: Floats | None = None
    outputs: tuple[str, ...] = ()
    sample_outputs: Floats | None = None
    benchmark: "Benchmark | None" = None
    chosen: str | None = None
    same_rows: bool = False
    out_of_fold: Floats | None = None
    decomposition: "Decomposition | None" = None
    is_sampled: bool = False
    effects: Mapping[str, EffectViews] = field(default_factory=dict)
    more_effects: "tuple[Effect, ...]" = ()
    importance: "Importance | None" = None
    interactions: "Interactions | None" = None
    interaction_effects: "tuple[Effect, ...]" = ()
    terms: "TermTable | None" = None
    term_effects: "tuple[Effect, ...]" = ()
    coefficients: "Coefficients | None" = None
    equation: Any = None
    factors: "Factors | None" = None
    inside: Inside | None = None
    outside: "Extrapolation | None" = None
    test_outside: "Extrapolation | None" = None
    profiles: "Mapping[str, Profile]" = field(default_factory=dict)
    association: "Association | None" = None
    agreement: "Agreement | None" = None
    shapley: "Shapley | None" = None
    page_model: PageModel = field(default_factory=lambda: PageModel(None, "it was not wanted"))
    condensed: "Condensed | None" = None
    performance: Performance | None = None
    test_performance: Performance | None = None
    test_gap: "Interval | None" = None
    observed: "Mapping[str, ByColumn]" = field(default_factory=dict)
    test_columns: "tuple[ByColumn, ...]" = ()
    held_out_columns: "Mapping[str, ByColumn]" = field(default_factory=dict)
    audits: "tuple[Audit, ...]" = ()
    protected_used: tuple[str, ...] = ()
    events: "Events | None" = None
    better: "Difference | None" = None
    selections: "Mapping[str, SelectionFrequency]" = field(default_factory=dict)
    page_tree: PageTree | None = None
    choosing: "Choosing | None" = None
    learning_curve: "LearningCurve | None" = None
    leakage: "Leakage | None" = None
    stand_ins: "tuple[StandIn, ...]" = ()
    without: "TwoWays | None" = None
    twins: "Twins | None" = None
    units: "RepeatedUnits | None" = None
    trend: "Trend | None" = None
    drift: "Drift | None" = None
    test: Table | None = None
    in_parts: "InParts | None" = None
    options: Options = field(default_factory=Options)
    cautions: tuple[Caution, ...] = ()
    stages: tuple[Stage, ...] = ()
    failures: Mapping[Step, str] = field(default_factory=dict)
    warnings: Mapping[Step, tuple[str, ...]] = field(default_factory=dict)

    @property
    def is_of_a_sample(self) -> bool:
        """Whether the table is a sample of the rows of a table in parts."""
        return self.table.n_rows < self.n_all

    @property
    def n_all(self) -> int:
        """How many rows there are, of which ``table`` holds some where they are read in parts."""
        return self.table.n_rows if self.in_parts is None else self.in_parts.parts.n_rows

    @property
    def outcome(self) -> str | None:
        """What a prediction is of: the target, with an exposure per unit of it."""
        return self.table.outcome or self.target

    @property
    def is_test_apart(self) -> bool:
        """Whether test rows were scored next to other held-out rows."""
        return self.test_performance is not None and self.test_performance is not self.performance

    @property
    def gain_is_lost(self) -> bool:
        """Whether the model beats the baseline on held-out rows, and clearly not on test rows."""
        held, test = self.performance, self.test_performance
        if held is None or test is None or not self.is_test_apart or held.rows == "training":
            return False
        gap = test.against_baseline
        is_worse = gap is not None and gap.clear and gap.difference > 0
        return is_worse and (held.explained or 0) > 0 and not held.may_be_chance

    @property
    def test_contradicts(self) -> bool:
        """Whether test rows are predicted better or worse than held-out ones beyond chance."""
        gap = self.test_gap
        return (gap is not None and not gap.low <= 0 <= gap.high) or self.gain_is_lost

    @property
    def has_probabilities(self) -> bool:
        """Whether classes have probabilities; some learners have scores only."""
        return not isinstance(self.model, Learner) or has_probabilities(self.model)

    @cached_property
    def class_rows(self) -> dict[str, int]:
        """How many rows of the table have each class, the most frequent by weight first."""
        if not self.classes or self.target not in self.table.names:
            return {}
        labels = self.table.column(str(self.target)).labels()
        weights = np.ones(len(labels)) if self.table.weights is None else self.table.weights
        rows: Counter[str] = Counter()
        total: Counter[str] = Counter()
        for label, weight in zip(labels, weights, strict=True):
            if label is not None:
                rows[str(label)] += 1
                total[str(label)] += weight
        return {name: rows[name] for name, _ in total.most_common()}

    @cached_property
    def shares(self) -> dict[str, float]:
        """Each column's share of the variation of the predictions; empty if that is not known."""
        if self.importance is None:
            return {}
        total = self.importance.total.tolist()
        return dict(zip(self.importance.columns, total, strict=True))

    @cached_property
    def component_shares(self) -> dict[frozenset[str], float]:
        """Each component's share of the variation of the predictions."""
        if self.importance is None:
            return {}
        return {
            frozenset(names): float(share)
            for names, share in zip(self.importance.components, self.importance.share, strict=True)
        }

    def share_of_order(self, order: int) -> float:
        """Return the share of all components of this many columns."""
        return sum(share for names, share in self.component_shares.items() if len(names) == order)

    @property
    def remainder_share(self) -> float:
        """The share of what lies beyond the order of the decomposition."""
        return 0.0 if self.importance is None else self.importance.remainder_share

    @cached_property
    def ranked(self) -> tuple[str, ...]:
        """The features, the most important first if that is known."""
        return tuple(sorted(self.features, key=lambda name: -self.shares.get(name, 0.0)))

    @cached_property
    def used(self) -> tuple[str, ...]:
        """The features that a learner which chooses columns chose; all of them for other models."""
        if not isinstance(self.model, Learner) or not chooses_columns(self.model):
            return self.features
        chosen = set(chosen_columns(self.model))
        return tuple(name for name in self.features if name in chosen)

    @cached_property
    def unused(self) -> tuple[str, ...]:
        """Features that do not change the prediction, as far as this is exact; never all."""
        idle = {*self.features} - {*self.used}
        if not self.is_sampled:
            idle |= {name for name in self.ranked if self.shares.get(name, 1.0) <= _NO_SHARE}
        return tuple(n for n in self.features if n in idle and (n != self.ranked[0]))

    @cached_property
    def top(self) -> tuple[str, ...]:
        """The most important columns; none if the model predicts the same for every row."""
        known = [name for name in self.ranked if self.shares.get(name, 0.0) > 0]
        large = [name for name in known[:_TOP] if self.shares[name] >= LEAST_IMPORTANCE]
        return tuple(large or known[:1])

    @cached_property
    def interacting(self) -> tuple[tuple[str, ...], ...]:
        """Pairs of columns with a relevant interaction, the strongest first."""
        pairs = [
            (share, names) for names, share in self.component_shares.items() if len(names) == 2
        ]
        strong = sorted(
            (pair for pair in pairs if pair[0] >= LEAST_INTERACTION),
            reverse=True,
            key=lambda pair: pair[0],
        )
        return tuple(tuple(name for name in self.ranked if name in names) for _, names in strong)

    def partners(self, column: str) -> tuple[str, ...]:
        """Return the columns that a column interacts with, the strongest first."""
        pairs = [pair for pair in self.interacting if column in pair]
        return tuple(other for pair in pairs for other in pair if other != column)

    @cached_property
    def uncompared(self) -> tuple[str, ...]:
        """Columns that change the prediction, but for which methods were not compared."""
        entries = () if self.agreement is None else self.agreement.columns
        compared = {entry.column for entry in entries}
        return tuple(n for n in self.ranked if n not in compared and n not in self.unused)

    @cached_property
    def all_pairs_examined(self) -> bool:
        """Whether every pair of columns was examined for an interaction."""
        n_pairs = sum(len(names) == 2 for names in self.component_shares)
        return not self.is_sampled or n_pairs == comb(len(self.features), 2)

    @cached_property
    def shape_conflicts(self) -> tuple[str, ...]:
        """Columns for which partial dependence and ALE disagree."""
        entries = () if self.agreement is None else self.agreement.columns
        return tuple(entry.column for entry in entries if entry.curves_differ)

    @cached_property
    def proxies(self) -> tuple[str, ...]:
        """Columns whose groups of rows differ from the effect of the column itself."""
        entries = () if self.agreement is None else self.agreement.columns
        return tuple(entry.column for entry in entries if entry.is_proxy)

    @cached_property
    def classes_shown(self) -> tuple[str, ...]:
        """The classes that figures show, the most frequent first; none if there are two."""
        if len(self.classes) <= 2:
            return ()
        counts = np.zeros(len(self.classes))
        if self.predictions is not None and self.predictions.ndim == 2:
            counts = self.predictions.mean(axis=0)
        order = np.argsort(-counts, kind="stable")[:MOST_CLASSES]
        shown = tuple(self.classes[k] for k in order)
        if self.options.has_rows:
            return shown
        return tuple(name for name in shown if self.class_rows.get(name, 0) >= HANDFUL)

    @property
    def suspects(self) -> tuple[str, ...]:
        """Columns that may leak the target, or explain nearly as much as the model."""
        if self.leakage is None:
            return ()
        explained = self.explained_unseen
        most = () if explained is None else self.leakage.most_of(explained)
        return tuple(dict.fromkeys((*self.leakage.suspects, *most)))

    @property
    def carrier(self) -> str | None:
        """The column that carries most of the model, if one does."""
        first = self.ranked[0] if self.shares else None
        return first if first is not None and self.shares.get(first, 0.0) >= CARRIES else None

    @property
    def explained_unseen(self) -> float | None:
        """The share of the baseline's risk removed on rows not fitted to, if it is known."""
        performance, curve = self.performance, self.learning_curve
        if performance is None or performance.rows != "training":
            return None if performance is None else performance.explained
        if curve is None or curve.loss != performance.loss or not performance.baseline:
            return None
        return 1 - float(curve.risk[-1]) / performance.baseline

    @property
    def two_ways(self) -> "tuple[TwoWays, ...]":
        """What repeated units and time do to the gain of the benchmark's best learner."""
        both = () if self.benchmark is None else self.benchmark.two_ways
        return tuple(one for one in both if one.matters)

    @property
    def identical_rows(self) -> "IdenticalRows | None":
        """What identical rows do to the gain of the benchmark's best learner, if they matter."""
        compared = None if self.benchmark is None else self.benchmark.identical_rows
        return compared if compared is not None and compared.matters else None

    def spread_of(self, output: int) -> float:
        """Return the standard deviation of the predictions of one output; 0 if unknown."""
        spread = self.predictions
        if spread is None or not spread.size:
            return 0.0
        column = spread if spread.ndim == 1 else spread[:, min(output, spread.shape[1] - 1)]
        return float(np.nanstd(column))
