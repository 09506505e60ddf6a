"""Everything a page is written from: the results of the library, gathered once."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from clearwood.table import Table, Task

if TYPE_CHECKING:
    from clearwood.benchmarking import (
        Benchmark,
        CalibrationCurve,
        Choosing,
        Interval,
        LearningCurve,
        Measures,
        Residuals,
    )
    from clearwood.checks import Association, Drift, Leakage
    from clearwood.condensing import Condensed
    from clearwood.explanation import (
        Agreement,
        Decomposition,
        Effect,
        Importance,
        Interactions,
        Shapley,
    )
    from clearwood.table import Profile

__all__ = ["EffectViews", "Findings", "Options", "Performance", "Stage"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Options:
    """How a report was asked for; the words of `clearwood.report`."""

    seed: int = 0
    n_jobs: int = 1
    quick: bool = False
    #: The most rows the page carries, for one by one and as background of its Shapley values.
    sample: int = 500
    #: How long condensing may take, in seconds.
    condense_seconds: float = 10.0
    #: Names of the sections to make; None for all.
    sections: tuple[str, ...] | None = None
    #: The command line that made the page, where one did.
    command: str | None = None


@dataclass(frozen=True)
class Stage:
    """One step of the work: what it was, how long it took, and what came of it in words."""

    name: str
    seconds: float
    note: str = ""


@dataclass(frozen=True, eq=False)
class EffectViews:
    """The effect of one column, seen three ways; None where a way failed."""

    column: str
    pdp: "Effect | None" = None
    ice: "Effect | None" = None
    ale: "Effect | None" = None


@dataclass(frozen=True, eq=False, kw_only=True)
class Performance:
    """How well the model predicts some rows.

    Parameters
    ----------
    rows
        Which ones: "out-of-fold" (all rows, each by a fit that had not seen it), "test" (rows
        given as held out) or "training" (the rows it was, or may have been, fitted to).
    n_rows
        How many.
    loss
        What the risk is the mean of.
    risk
        With its interval.
    baseline
        The risk of always predicting the mean, or the shares of the classes.
    measures, calibration, residuals
        Beside the loss; None where they make no sense.
    """

    rows: Literal["out-of-fold", "test", "training"]
    n_rows: int
    loss: str
    risk: "Interval"
    baseline: float | None = None
    measures: "Measures | None" = None
    calibration: "CalibrationCurve | None" = None
    residuals: "Residuals | None" = None

    @property
    def explained(self) -> float | None:
        """The share of the baseline's risk that the model takes away."""
        if self.baseline is None or not self.baseline > 0:
            return None
        return 1 - self.risk.estimate / self.baseline


@dataclass(frozen=True, eq=False, kw_only=True)
class Findings:
    """What is known about a model and its data.

    A result that could not be had is None (or empty), and `failures` says why, by stage.

    Parameters
    ----------
    model
        As it was given: anything with ``predict``, or a function of rows.
    name
        What to call it: the learner's name, or the kind of the model.
    title
        Of the page.
    table
        The rows the explanations are about: all of them.
    sample, sample_rows
        The rows that the page carries, drawn from the table with the seed, and their positions in
        it, in increasing order. They are also the background of `shapley`.
    features
        The columns that the model uses, in the order of the table.
    target
        The name of the column that is predicted; None where it is not in the table.
    task
        What kind of target it is; None where nobody knows.
    classes
        The labels in the order of the columns of probabilities; empty for numbers.
    scale, unit
        The scale of `effects`: "response" for numbers, "probability" for classes, and what that
        is in words. The scale of `decomposition` and `shapley` is in their ``about``.
    predictions
        Of all rows of the table: numbers, or one column of probabilities a class; for a classifier
        without probabilities the positions of predicted classes.
    benchmark, chosen
        The comparison, and the name of the learner in it that the model is; None where there is
        none, or where the model is not one of those compared.
    out_of_fold
        What the chosen learner predicted for each row when it had not seen it, as
        ``Benchmark.predictions``; None where there is none or the rows are not the benchmark's.
    out_of_fold_losses
        The loss of each row with it, NaN where there is none.
    decomposition
        Of the model, over the table or some of its rows (said in its ``background``).
    effects
        For the most important columns, by column, the most important first.
    more_effects
        For columns that come after those, as exact main effects on the decomposition's scale.
    importance, interactions
        Shares of variance by order, from the decomposition.
    interaction_effects
        The strongest interactions, as components of two columns.
    profiles
        The distribution of each column, by name.
    dependence
        How far the features tell about one another.
    agreement
        Where the methods tell different stories.
    shapley
        Interventional values of the rows of `sample`, over `sample`.
    condensed
        One tree for the model.
    performance
        How well, where a target is known: on rows that the model had not seen where there are
        some.
    choosing
        What it costs to choose the best of the benchmark's learners; None where that is not known.
    learning
        Risk against the number of training rows.
    alone
        What each column explains on its own.
    drift
        How the test rows differ from the table's, or its last rows in time from the first.
    test
        Rows that were held out, where they were given.
    options
        How the report was asked for.
    stages
        What was done, in order, with its time.
    failures
        For each stage that gave no result: why, in words for the reader.
    warned
        For each stage, what the library warned of.
    """

    model: Any
    name: str
    title: str
    table: Table
    sample: Table
    sample_rows: NDArray[np.intp]
    features: tuple[str, ...]
    target: str | None
    task: Task | None
    classes: tuple[str, ...] = ()
    scale: str = "response"
    unit: str = "prediction"
    predictions: Floats | None = None
    benchmark: "Benchmark | None" = None
    chosen: str | None = None
    out_of_fold: Floats | None = None
    out_of_fold_losses: Floats | None = None
    decomposition: "Decomposition | None" = None
    effects: Mapping[str, EffectViews] = field(default_factory=dict)
    more_effects: "tuple[Effect, ...]" = ()
    importance: "Importance | None" = None
    interactions: "Interactions | None" = None
    interaction_effects: "tuple[Effect, ...]" = ()
    profiles: "Mapping[str, Profile]" = field(default_factory=dict)
    dependence: "Association | None" = None
    agreement: "Agreement | None" = None
    shapley: "Shapley | None" = None
    condensed: "Condensed | None" = None
    performance: Performance | None = None
    choosing: "Choosing | None" = None
    learning: "LearningCurve | None" = None
    alone: "Leakage | None" = None
    drift: "Drift | None" = None
    test: Table | None = None
    options: Options = field(default_factory=Options)
    stages: tuple[Stage, ...] = ()
    failures: Mapping[str, str] = field(default_factory=dict)
    warned: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
