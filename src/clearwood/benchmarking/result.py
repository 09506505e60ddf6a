"""The result of a benchmark."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.metadata import version
from typing import Any, ClassVar, Literal

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import Call, InputError, Option, did_you_mean, unknown_choice, words
from clearwood._shared.results import Result, document
from clearwood.benchmarking.choosing import Choosing, choosing
from clearwood.benchmarking.diagnostics.identical_rows import IdenticalRows
from clearwood.benchmarking.diagnostics.two_ways import TwoWays, gain_without
from clearwood.benchmarking.fitting.work import Context, Outcome, Unit
from clearwood.benchmarking.held_out import (
    allowances_of,
    held_out_evaluation,
    held_out_level,
    held_out_rows,
    inflation_of,
    no_fold,
    outer_of,
    units_of,
    weights_of,
)
from clearwood.benchmarking.intervals.estimates import LossesOf, Risks, RowRisks, losses_of
from clearwood.benchmarking.over_parts.held_out import HeldOutParts
from clearwood.benchmarking.running.findings import Finding
from clearwood.benchmarking.selection import SelectionFrequency, selection_frequency
from clearwood.benchmarking.standings import Method, Standing
from clearwood.benchmarking.text import as_html, as_text, comparison_text
from clearwood.benchmarking.tuning.archive import Archive, TuningCurve, archive_of, curve_of
from clearwood.benchmarking.winner import Winner
from clearwood.checks import Level, Twins
from clearwood.evaluation import (
    CalibrationCurve,
    Evaluation,
    Measures,
    measures,
    simultaneous_level,
)
from clearwood.table import Task

__all__ = ["Benchmark", "Difference"]

_COLUMNS = (
    "learner",
    "loss",
    "risk",
    "se",
    "low",
    "high",
    "difference",
    "difference_low",
    "difference_high",
    "fit_seconds",
    "failures",
    "settings",
)


@dataclass(frozen=True)
class Difference(Result):
    """The risk of one learner minus that of another, from paired differences of row losses.

    Parameters
    ----------
    first, second
        The learners.
    difference, se, low, high
        The estimate, its standard error and its interval; below zero the first is better.
    confidence
        The level of the interval.
    interval
        The kind of the interval, see `Interval`.
    loss
        What the risks are means of.
    is_simultaneous
        Whether the intervals of all differences hold together: see `Benchmark.simultaneous`.
    """

    first: str
    second: str
    difference: float
    se: float
    low: float
    high: float
    confidence: float
    interval: str
    loss: str
    is_simultaneous: bool = False
    _derived: ClassVar[tuple[str, ...]] = ("clear",)

    @property
    def clear(self) -> bool:
        """Whether the interval excludes zero, so that one of the two is better."""
        return self.low > 0 or self.high < 0

    def __repr__(self) -> str:
        return comparison_text(self)


@dataclass(frozen=True, eq=False, repr=False)
class Benchmark(Result):
    """Learners compared on one table, each with its risk and interval; best first.

    The result of `clearwood.benchmark`.

    Parameters
    ----------
    standings
        One per learner, by risk; those with failures last.
    method
        How risks are estimated.
    context
        Table, loss, learners and tuning of the run.
    units
        Every fit of the plan, by key.
    outcomes
        The results of the finished ones.
    warnings
        What the reader should know, as findings; ``str`` of each is a sentence.
    seconds
        How long the call took.
    twins
        Rows with identical features; None where groups or times decide the splits.
    identical_rows
        The gain of the best learner with identical rows spread and kept together; None where
        nothing suggests that they differ (see `clearwood.checks.twins`), and for tables in parts.
    two_ways
        The gain of the best learner by rows and by repeated units, and at all times and later than
        the rows it is fitted to; empty where nothing suggests that they differ (see
        `clearwood.checks.repeated_units`, `clearwood.checks.trend`).
    reference
        The baseline, where the learners were chosen without it; None where it is among them.
    options
        What was passed to `clearwood.benchmark` beside the table.
    in_parts
        Of a table in parts: its rows, and the risks over all of those held out. The context's
        table, which measures and predictions are about, then is a sample of the held-out rows.
        None for a table in memory.

    Examples
    --------
    >>> import clearwood as cw
    >>> data = cw.datasets.load("diabetes")
    >>> bench = cw.benchmark(data, ["baseline", "ols"], tune=0, repeats=1)
    >>> bench.best().name
    'ols'
    >>> bench.compare("ols", "baseline").clear
    True
    """

    standings: tuple[Standing, ...]
    method: Method
    context: Context
    units: Mapping[str, Unit]
    outcomes: Mapping[str, Outcome]
    warnings: tuple[Finding, ...] = ()
    seconds: float = 0.0
    twins: Twins | None = None
    identical_rows: IdenticalRows | None = None
    two_ways: tuple[TwoWays, ...] = ()
    reference: Standing | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    in_parts: HeldOutParts | None = None

    @property
    def learners(self) -> tuple[str, ...]:
        """The names, best first."""
        return tuple(standing.learner for standing in self.standings)

    @property
    def loss(self) -> str:
        """What the risks are means of."""
        return self.context.loss.name

    @property
    def n_rows(self) -> int:
        """How many rows the table has."""
        return self.context.table.n_rows if self.in_parts is None else self.in_parts.n_rows

    @property
    def _risks(self) -> Risks:
        if self.in_parts is not None:
            return self.in_parts.risks
        return RowRisks(
            {name: self.losses(name) for name in self.context.contenders},
            self.method.interval,
            self.method.splits // self.method.repeats,
            self.context.table,
        )

    @property
    def complete(self) -> bool:
        """Whether every fit of the plan is done; not after Ctrl-C or at the time limit."""
        return len(self.outcomes) == len(self.units)

    @property
    def failures(self) -> dict[str, tuple[str, ...]]:
        """The errors of learners that failed, by learner, each with its split."""
        errors: dict[str, list[str]] = {}
        for key, outcome in self.outcomes.items():
            if outcome.failure:
                unit = self.units[key]
                errors.setdefault(unit.learner, []).append(f"{unit.split}: {outcome.failure}")
        return {name: tuple(texts) for name, texts in errors.items()}

    @property
    def baseline(self) -> Standing | None:
        """The result of the baseline, among the learners or beside them as the reference."""
        contenders = self.context.contenders
        among = (one for one in self.standings if contenders[one.learner].is_baseline)
        return next(among, self.reference)

    def __getitem__(self, learner: str) -> Standing:
        known = {one.learner: one for one in (*self.standings, self.reference) if one is not None}
        if learner not in known:
            raise InputError(
                f"{learner!r} is not one of the learners",
                parameter="learner",
                value=learner,
                hint=did_you_mean(str(learner), known),
            )
        return known[learner]

    def best(self, rule: Literal["one_se"] | None = None) -> Winner:
        """Return the learner to use.

        Parameters
        ----------
        rule
            None takes the smallest risk; "one_se" the simplest learner whose risk is within one
            standard error of the smallest.

        Returns
        -------
        Winner
            Its ``fit`` tunes and fits on all rows, as was done in each outer fold.
        """
        if rule not in (None, "one_se"):
            raise unknown_choice("rule", rule, ["one_se"])
        finished = [one for one in self.standings if np.isfinite(one.risk)]
        # where all have failed somewhere, the one with the fewest failures comes first
        able = [one for one in finished if not one.failures] or finished
        if not able:
            reasons = {name: texts[0] for name, texts in self.failures.items()}
            shown = "".join(f"; {name!r} in {reason}" for name, reason in [*reasons.items()][:1])
            raise InputError(
                f"every learner failed{shown}", hint="the result's failures list the errors."
            )
        chosen = able[0]
        if rule == "one_se":
            near = [one for one in able if one.risk <= chosen.risk + chosen.se]
            complexity = {name: c.complexity for name, c in self.context.contenders.items()}
            # among equally simple ones the first is the best
            chosen = min(near, key=lambda one: complexity[one.learner])
        return self.choose(chosen.learner)

    def choose(self, learner: str) -> Winner:
        """Return any of the learners, ready to be tuned and fitted as in the benchmark.

        Examples
        --------
        >>> import clearwood as cw
        >>> data = cw.datasets.load("diabetes")
        >>> bench = cw.benchmark(data, ["baseline", "ols"], tune=0, repeats=1)
        >>> model = bench.choose("baseline").fit(data)
        >>> len(set(model.predict(data)))
        1
        """
        return Winner(learner, self[learner], self.context, self.in_parts)

    def choosing(self) -> Choosing:
        """Estimate the risk of choosing the best of these learners, which removes selection bias.

        Needs the fits of the nested interval. Where these reuse settings (`Method.pairs`), the
        fold that judges was used for the settings, but not for the choice among learners.

        Examples
        --------
        >>> import clearwood as cw
        >>> data = cw.datasets.load("diabetes")
        >>> bench = cw.benchmark(data, ["baseline", "ols"], tune=0, repeats=1)
        >>> dict(bench.choosing().chosen)
        {'ols': 5}
        """
        result = choosing(self)
        if result is None:
            raise InputError(
                "choosing needs fits that leave two folds out, and there are none",
                hint=words("use ", Option("interval", "nested"), " and k-fold cross-validation."),
            )
        return result

    def without(self, *columns: str, learner: str | None = None, n_jobs: int = 1) -> TwoWays:
        """Return how much a learner gains over the baseline with and without some columns.

        Use it for columns that may not be known when predictions are made. The settings are those
        that are typical of the folds, and the same with and without the columns.

        Parameters
        ----------
        columns
            What to leave out.
        learner
            One of the learners; the best one by default.
        n_jobs
            Processes to use.

        Examples
        --------
        >>> import clearwood as cw
        >>> data = cw.datasets.load("diabetes")
        >>> bench = cw.benchmark(data, ["baseline", "ols"], tune=0, repeats=1)
        >>> bench.without("bmi", "s5")
        without bmi and s5, ols reduces the baseline's risk by 3... % instead of 4... %
        """
        if self.in_parts is not None:
            raise InputError("columns are left out of tables in memory only")
        table = self.context.table
        for name in columns:
            if name not in table.features:
                table.column(name)
                raise InputError(
                    f"column {name!r} is not a feature", parameter="columns", value=name
                )
        if not columns or len(columns) == len(table.features):
            raise InputError("name some of the features, and not all of them", parameter="columns")
        chosen = self.best().name if learner is None else self[learner].learner
        return gain_without(
            self.context, chosen, self[chosen].settings, columns, folds=5, n_jobs=n_jobs
        )

    def compare(self, first: str, second: str) -> Difference:
        """Compare the risks of two learners, with an interval for the difference.

        The interval is for two learners that were chosen beforehand. Each interval holds at its own
        level; for several to hold together, compare in `simultaneous`.
        """
        for name in (first, second):
            self[name]
        method = self.method
        judged = sum(bool(np.isfinite(one.risk)) for one in self.standings)
        level = simultaneous_level(method.confidence, judged)
        gap = self._risks.gap(first, second, level if method.is_simultaneous else method.confidence)
        if gap is None:
            raise InputError(
                f"{first!r} and {second!r} have no fold in which both succeeded",
                parameter="second",
                value=second,
            )
        return Difference(
            first,
            second,
            gap.estimate,
            gap.se,
            gap.low,
            gap.high,
            method.confidence,
            gap.kind,
            self.loss,
            method.is_simultaneous,
        )

    def simultaneous(self) -> "Benchmark":
        """Return the benchmark with wider intervals of differences, which hold all together.

        The best learner was chosen on the rows that it is compared on, and if several intervals
        hold 90 % of the time each, all of them hold together less often. Here the error level is
        divided among all pairs of learners (Bonferroni), so that all differences to the best,
        whichever that is, are covered together at the level of the benchmark. Risks keep their
        intervals.

        Examples
        --------
        >>> import clearwood as cw
        >>> data = cw.datasets.load("diabetes")
        >>> bench = cw.benchmark(data, ["baseline", "ols", "knn"], tune=0, repeats=1)
        >>> each, together = bench["knn"], bench.simultaneous()["knn"]
        >>> together.difference == each.difference
        True
        >>> together.difference_low < each.difference_low
        True
        """
        wider = replace(self, method=replace(self.method, is_simultaneous=True))
        best = self.standings[0].learner

        def widened(one: Standing) -> Standing:
            if one.learner == best or not np.isfinite(one.difference_low):
                return one
            gap = wider.compare(one.learner, best)
            return replace(one, difference_low=gap.low, difference_high=gap.high)

        return replace(wider, standings=tuple(map(widened, self.standings)))

    def losses(self, learner: str) -> LossesOf:
        """Return the losses of every row under one learner, split by split.

        Of a table in parts, those of the sample of held-out rows that is in memory.
        """
        self[learner]
        return losses_of(
            (self.units[key], outcome)
            for key, outcome in self.outcomes.items()
            if self.units[key].learner == learner
        )

    def predictions(self, learner: str, *, repeat: int = 0) -> Floats:
        """Return held-out predictions: of each row by the fit without it, NaN where there is none.

        Numbers for regression and counts; for classes what the loss needs: one column of
        probabilities a class, positions of classes, or margins.
        """
        predictions: Floats | None = None
        for unit, outcome in outer_of(self, learner):
            if unit.repeat != repeat or outcome.predictions is None:
                continue
            if predictions is None:
                shape = (self.context.table.n_rows, *outcome.predictions.shape[1:])
                predictions = np.full(shape, np.nan)
            predictions[unit.test] = outcome.predictions
        if predictions is None:
            raise no_fold(learner)
        return predictions

    def measures(self, learner: str, *, threshold: float | None = None) -> Measures:
        """Return AUC, accuracy, R², calibration and similar measures over all held-out rows.

        Their intervals are nested, as that of the risk: they allow for fits that share rows, and
        for fits with fewer rows than the table. Of a table in parts, they are over a sample of at
        most 200,000 held-out rows, with the interval of one fit.

        Parameters
        ----------
        learner
            One of the learners.
        threshold
            Of two classes, the second is predicted where its probability is above this; by default
            that of the benchmark.

        Examples
        --------
        >>> import clearwood as cw
        >>> bench = cw.benchmark(cw.datasets.load("wine"), "logistic", tune=0, repeats=1)
        >>> bench.measures("logistic")["auc"] > 0.99
        True
        """
        rows, predicted, splits = held_out_rows(self, learner)
        task = self.context.table.task
        assert task is not None
        return measures(
            task,
            self.context.codes[rows],
            predicted,
            needs=self.context.loss.needs,
            splits=splits,
            weights=weights_of(self, rows),
            groups=units_of(self, rows),
            threshold=self.method.threshold if threshold is None else threshold,
            confidence=self.method.confidence,
            inflation=inflation_of(self, learner),
            allowances=allowances_of(self, learner, threshold),
        )

    def calibration(
        self, learner: str, *, label: str | None = None, bins: int = 10
    ) -> CalibrationCurve:
        """Compare held-out predictions of a learner with what was observed.

        Parameters
        ----------
        learner
            One of the learners.
        label
            The class whose probability to compare; by default the last class of two, and of
            several the predicted class, row by row.
        bins
            How many bins of about equally many rows.
        """
        context = self.context
        if context.classes is not None and context.loss.needs != "probability":
            raise InputError(
                f"a benchmark by the {context.loss.name} loss has no probabilities to calibrate",
                parameter="learner",
                value=learner,
                hint=words("use ", Option("loss", "log"), " or ", Option("loss", "brier"), "."),
            )
        return self.evaluation(learner).calibration(label=label, bins=bins)

    def evaluation(
        self, learner: str, *, against: Any = None, threshold: float | None = None
    ) -> Evaluation:
        """Evaluate the held-out predictions of a learner: measures, lift, curves, by column.

        Intervals of measures are nested, as that of the risk; all others are as much wider than
        those of independent rows as that of the risk is.

        Parameters
        ----------
        learner
            One of the learners.
        against
            Another prediction for the double lift: another learner of the benchmark, whose held-out
            predictions are taken, a column of the table, a fitted model, or the path of its file.
        threshold
            Of two classes, the second is predicted where its probability is above this; by default
            that of the benchmark.

        Examples
        --------
        >>> import clearwood as cw
        >>> bench = cw.benchmark(cw.datasets.insurance(300), "glm", tune=0, repeats=1)
        >>> bench.evaluation("glm").by("gender").rows.sum()
        np.int64(300)
        """
        return held_out_evaluation(self, learner, against, threshold)

    @cached_property
    def levels(self) -> Mapping[str, Level]:
        """Observed / expected of the held-out rows by learner, for counts and amounts."""
        if self.context.table.task not in (Task.COUNT, Task.AMOUNT):
            return {}
        found = {
            name: held_out_level(self, name)
            for name in self.learners
            if np.isfinite(self[name].risk)
        }
        return {name: level for name, level in found.items() if level is not None}

    def selection(self, learner: str) -> SelectionFrequency:
        """Return how often a learner that selects columns chose each, over the outer folds."""
        chosen = [
            outcome.selected
            for _, outcome in outer_of(self, learner)
            if outcome.selected is not None
        ]
        if not chosen:
            raise InputError(
                f"{learner!r} selects no columns",
                parameter="learner",
                value=learner,
                hint=words(
                    "such as ", Call("learner", (repr(learner),), {"select": "anova:10"}), "."
                ),
            )
        settings = self[learner].settings
        # where tuning chose the number of columns, the typical one
        method = settings.get("select", self.context.contenders[learner].template.select)
        return selection_frequency(learner, method, self.context.table.features, chosen)

    @property
    def selecting(self) -> tuple[str, ...]:
        """The learners that select columns."""
        outer = ((name, outer_of(self, name)) for name in self.learners)
        return tuple(
            name for name, pairs in outer if any(one.selected is not None for _, one in pairs)
        )

    def fold_settings(self, learner: str) -> tuple[Mapping[str, Any], ...]:
        """Return the settings that were chosen in each outer fold; empty where nothing is tuned."""
        pairs = sorted(outer_of(self, learner), key=lambda one: (one[0].repeat, one[0].fold))
        return tuple(dict(one.settings) for _, one in pairs if one.settings and not one.failure)

    def archive(self, learner: str) -> Archive:
        """Return every configuration that tuning tried, in every outer fold."""
        return archive_of(learner, outer_of(self, learner))

    def curve(self, learner: str) -> TuningCurve:
        """Return the inner risk of the values tried, averaged over the outer folds."""
        return curve_of(learner, outer_of(self, learner), self.context.contenders[learner].space)

    def _columns(self) -> dict[str, list[Any]]:
        """Return one row per learner, best first."""
        return {name: [getattr(one, name) for one in self.standings] for name in _COLUMNS}

    def to_json(self) -> dict[str, Any]:
        """Return everything but the losses of single rows, as plain JSON values."""
        table = self.context.table
        return document(
            {
                "task": str(table.task),
                "target": table.target,
                "rows": self.n_rows,
                "features": table.features,
                "fingerprint": table.fingerprint()
                if self.in_parts is None
                else self.in_parts.fingerprint,
                "parts": self.in_parts,
                "loss": self.loss,
                "proper": self.context.loss.proper,
                "method": vars(self.method),
                "complete": self.complete,
                "learners": [
                    {**vars(one), "by_fold": self._by_fold(one.learner)} for one in self.standings
                ],
                "reference": self.reference,
                "levels": dict(self.levels),
                "selection": {name: self.selection(name).to_json() for name in self.selecting},
                "archive": {name: self.archive(name).to_json() for name in self.learners},
                "choosing": None if (chosen := choosing(self)) is None else chosen.to_json(),
                "failures": self.failures,
                "warnings": [one.to_json() for one in self.warnings],
                "twins": self.twins,
                "identical_rows": self.identical_rows,
                "two_ways": self.two_ways,
                "seconds": self.seconds,
                "versions": {
                    name: version(name) for name in ("clearwood", "scikit-learn", "numpy")
                },
                "text": repr(self),
            }
        )

    def _by_fold(self, learner: str) -> list[dict[str, Any]]:
        return [
            {
                "repeat": unit.repeat,
                "fold": unit.fold,
                "rows": len(unit.test) if self.in_parts is None else self.in_parts.n_test,
                "risk": self._risk_of(unit, outcome),
                "settings": outcome.settings,
                "seconds": outcome.seconds,
                "failure": outcome.failure,
            }
            for unit, outcome in sorted(
                outer_of(self, learner), key=lambda one: (one[0].repeat, one[0].fold)
            )
        ]

    def _risk_of(self, unit: Unit, outcome: Outcome) -> float | None:
        if outcome.losses is None:
            return None
        if self.in_parts is not None:
            return self[unit.learner].risk
        return float(np.average(outcome.losses, weights=weights_of(self, unit.test)))

    def plot(self) -> Any:
        """Draw the risks and the differences to the best, with their intervals (Altair)."""
        from clearwood.plot import plot_benchmark

        return plot_benchmark(self)

    def __repr__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self)
