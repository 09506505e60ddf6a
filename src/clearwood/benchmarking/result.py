"""What a benchmark found."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from clearwood._shared.errors import InputError, did_you_mean
from clearwood._shared.frames import frame
from clearwood._shared.results import Result
from clearwood.benchmarking.diagnostics.calibration import CalibrationCurve, calibration_of_target
from clearwood.benchmarking.diagnostics.choosing import Choosing, choosing, simultaneous
from clearwood.benchmarking.diagnostics.measures import Measures, measures
from clearwood.benchmarking.intervals.estimates import interval_of, losses_of
from clearwood.benchmarking.intervals.intervals import simultaneous_level
from clearwood.benchmarking.running.work import Array, Context, Outcome, Rows, Unit
from clearwood.benchmarking.text import as_html, as_text, comparison_text
from clearwood.benchmarking.tuning.archive import Archive, Curve, archive_of, curve_of
from clearwood.benchmarking.winner import Winner

if TYPE_CHECKING:
    from clearwood.benchmarking.intervals.estimates import LossesOf

__all__ = ["Benchmark", "Difference", "Method", "Standing"]

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
class Standing:
    """How one learner did.

    Parameters
    ----------
    learner
        Its name.
    loss
        What the risk is the mean of.
    risk, se, low, high
        The estimate, its standard error and its interval; NaN where every fold failed.
    difference, difference_low, difference_high
        Risk above that of the best learner, with an interval from paired differences.
    fit_seconds
        What tuning, fitting and predicting took, on average over the outer folds.
    failures
        How many fits failed.
    settings
        What tuning chose, typical of the folds: the median of numbers, the most frequent choice.
    interval
        Which interval it is: "nested", "naive", "hold-out", ...
    inflation
        How many times wider than the naive interval it is.
    folds
        How many outer folds the estimate rests on.
    """

    learner: str
    loss: str
    risk: float
    se: float
    low: float
    high: float
    difference: float
    difference_low: float
    difference_high: float
    fit_seconds: float
    failures: int
    settings: Mapping[str, Any]
    interval: str = "naive"
    inflation: float = 1.0
    folds: int = 0


@dataclass(frozen=True)
class Difference(Result):
    """The risk of one learner less that of another, from paired differences row by row.

    Parameters
    ----------
    first, second
        The learners.
    difference, se, low, high
        The estimate, its standard error and its interval; below zero the first is better.
    confidence
        The level of the interval.
    interval
        Which interval it is.
    loss
        What the risks are means of.
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
    _derived: ClassVar[tuple[str, ...]] = ("clear",)

    @property
    def clear(self) -> bool:
        """Whether the interval leaves zero out, so that one of the two is better."""
        return self.low > 0 or self.high < 0

    def __repr__(self) -> str:
        return comparison_text(self)


@dataclass(frozen=True)
class Method:
    """How a benchmark was made.

    Parameters
    ----------
    plan
        The resampling plan, in words.
    splits, repeats
        How many outer splits there are, over how many repeats.
    interval
        Which interval was asked for.
    confidence
        Its level.
    tuning
        How settings were chosen, in words.
    pairs
        How the settings of the fits that leave two folds out were chosen: "tuned", "reused",
        "defaults", or "none" where there are no such fits.
    seed
        Fixes every random choice.
    simultaneous
        Whether the intervals of all differences hold together: see `Benchmark.simultaneous`.
    """

    plan: str
    splits: int
    repeats: int
    interval: str
    confidence: float
    tuning: str
    pairs: Literal["tuned", "reused", "defaults", "none"]
    seed: int
    simultaneous: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class Benchmark:
    """Learners compared on one table, each with an honest risk; best first.

    Made by `clearwood.benchmark`.

    Parameters
    ----------
    standings
        One per learner, by risk; those with failures last.
    method
        How it was made.
    context
        Table, loss, learners and tuning of the run.
    units
        Every unit of work of the plan, by key.
    outcomes
        What the finished ones gave.
    warnings
        What the reader should know.
    seconds
        By the clock, for this call.

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
    warnings: tuple[str, ...] = ()
    seconds: float = 0.0
    failures: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def learners(self) -> tuple[str, ...]:
        """The names, best first."""
        return tuple(standing.learner for standing in self.standings)

    @property
    def loss(self) -> str:
        """What the risks are means of."""
        return self.context.loss.name

    @property
    def complete(self) -> bool:
        """Whether every fit of the plan was done; not so after Ctrl-C or a spent budget."""
        return len(self.outcomes) == len(self.units)

    def __getitem__(self, learner: str) -> Standing:
        return self.standings[self._place(learner)]

    def _place(self, learner: str) -> int:
        if learner not in self.learners:
            raise InputError(
                f"{learner!r} was not compared", hint=did_you_mean(str(learner), self.learners)
            )
        return self.learners.index(learner)

    def best(self, rule: Literal["one_se"] | None = None) -> Winner:
        """The learner to use.

        Parameters
        ----------
        rule
            None takes the smallest risk; "one_se" the simplest learner whose risk is within one
            standard error of the smallest.

        Returns
        -------
        Winner
            Its ``fit`` tunes on all rows, as each outer fold did, and fits.
        """
        if rule not in (None, "one_se"):
            raise InputError(f"there is no rule {rule!r}", hint="None or 'one_se'.")
        finished = [one for one in self.standings if np.isfinite(one.risk)]
        # where all have failed somewhere, the one that did so least comes first
        able = [one for one in finished if not one.failures] or finished
        if not able:
            raise InputError(
                "every learner failed", hint="bench.failures tells what went wrong in each."
            )
        chosen = able[0]
        if rule == "one_se":
            near = [one for one in able if one.risk <= chosen.risk + chosen.se]
            complexity = {name: c.complexity for name, c in self.context.contenders.items()}
            # among equally simple ones the first is the best
            chosen = min(near, key=lambda one: complexity[one.learner])
        return self.choose(chosen.learner)

    def choose(self, learner: str) -> Winner:
        """Any of the learners, ready to be tuned and fitted as the benchmark judged it.

        Examples
        --------
        >>> import clearwood as cw
        >>> data = cw.datasets.load("diabetes")
        >>> bench = cw.benchmark(data, ["baseline", "ols"], tune=0, repeats=1)
        >>> model = bench.choose("baseline").fit(data)
        >>> len(set(model.predict(data)))
        1
        """
        return Winner(
            name=learner,
            standing=self[learner],
            contender=self.context.contenders[learner],
            loss=self.context.loss,
            tuning=self.context.tuning,
            seed=self.context.seed,
        )

    def choosing(self) -> Choosing:
        """The risk of choosing the best of these learners, and by how much the winner looks better.

        Needs the fits of the nested interval. Where these reuse settings (`Method.pairs`), the
        fold that judges has had a say in the settings, though not in the choice among learners.

        Examples
        --------
        >>> import clearwood as cw
        >>> data = cw.datasets.load("diabetes")
        >>> bench = cw.benchmark(data, ["baseline", "ols"], tune=0, repeats=1)
        >>> dict(bench.choosing().chosen)
        {'ols': 5}
        """
        return choosing(self)

    def compare(self, first: str, second: str) -> Difference:
        """By how much the risk of one learner is above that of another, with an interval.

        The interval is for two learners that were named before looking. Of several, each holds its
        level alone; for all to hold together, compare in `simultaneous`.
        """
        for name in (first, second):
            self._place(name)
        method = self.method
        judged = sum(bool(np.isfinite(one.risk)) for one in self.standings)
        level = simultaneous_level(method.confidence, judged)
        found = interval_of(
            self.losses(first) - self.losses(second),
            kind=method.interval,
            confidence=level if method.simultaneous else method.confidence,
            folds=method.splits // method.repeats,
            context=self.context,
        )
        if found is None:
            raise InputError(f"no fold of both {first!r} and {second!r} has succeeded")
        return Difference(
            first,
            second,
            found.estimate,
            found.se,
            found.low,
            found.high,
            method.confidence,
            f"simultaneous {found.kind}" if method.simultaneous else found.kind,
            self.loss,
        )

    def simultaneous(self) -> "Benchmark":
        """The same, with wider intervals of differences: all of them hold together.

        The best learner has been chosen by the rows that compare it, and where several intervals
        hold 90 % of the time each, all of them do so less often. Here what may be missed is shared
        among all pairs of learners (Bonferroni), so that every difference, to whichever turned out
        best, is covered at the level of the benchmark or more often. Risks keep their intervals.

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
        return simultaneous(self)

    def losses(self, learner: str) -> "LossesOf":
        """The losses of every row under one learner, split by split."""
        self._place(learner)
        return losses_of(
            (self.units[key], outcome)
            for key, outcome in self.outcomes.items()
            if self.units[key].learner == learner
        )

    def predictions(self, learner: str, *, repeat: int = 0) -> Array:
        """Predictions of each row by the fit that had not seen it, NaN where there is none.

        Numbers for regression and counts; for classes what the loss needs: one column of
        probabilities a class, positions of classes, or margins.
        """
        self._place(learner)
        found: Array | None = None
        for key, outcome in self.outcomes.items():
            unit = self.units[key]
            if unit.learner != learner or unit.purpose != "outer" or unit.repeat != repeat:
                continue
            if outcome.predictions is None:
                continue
            if found is None:
                shape = (self.context.table.n_rows, *outcome.predictions.shape[1:])
                found = np.full(shape, np.nan)
            found[unit.test] = outcome.predictions
        if found is None:
            raise InputError(f"no fold of {learner!r} has succeeded")
        return found

    def measures(self, learner: str) -> Measures:
        """AUC, accuracy, R2, calibration and the like, over all rows tested.

        Examples
        --------
        >>> import clearwood as cw
        >>> bench = cw.benchmark(cw.datasets.load("wine"), "logistic", tune=0, repeats=1)
        >>> bench.measures("logistic")["auc"] > 0.99
        True
        """
        rows, predicted, splits = self._tested(learner)
        task = self.context.table.task
        assert task is not None
        return measures(
            task,
            self.context.codes[rows],
            predicted,
            needs=self.context.loss.needs,
            splits=splits,
        )

    def calibration(
        self, learner: str, *, label: str | None = None, bins: int = 10
    ) -> CalibrationCurve:
        """What was observed where a learner predicted about the same, on rows it had not seen.

        Parameters
        ----------
        learner
            One of those compared.
        label
            Whose probability to look at; by default the last class of two, and of several the
            class that is predicted, row by row.
        bins
            How many bins of about equally many rows.
        """
        rows, predicted, _ = self._tested(learner)
        context = self.context
        if context.classes is not None and context.loss.needs != "probability":
            raise InputError(
                f"the {context.loss.name} loss has kept no probabilities to calibrate",
                hint="compare with loss='log' or 'brier'.",
            )
        return calibration_of_target(
            context.codes[rows],
            predicted,
            context.classes,
            target=str(context.table.target),
            label=label,
            bins=bins,
            confidence=self.method.confidence,
            learner=learner,
        )

    def _tested(self, learner: str) -> tuple[Rows, Array, Rows]:
        """Rows tested, what was predicted for them, and the number of the fit that did."""
        self._place(learner)
        found = [
            (unit.test, outcome.predictions)
            for unit, outcome in self._outer(learner)
            if outcome.predictions is not None
        ]
        if not found:
            raise InputError(f"no fold of {learner!r} has succeeded")
        rows, predicted = zip(*found, strict=True)
        fits = np.repeat(np.arange(len(rows)), [len(part) for part in rows])
        return np.concatenate(rows), np.concatenate(predicted), fits

    def archive(self, learner: str) -> Archive:
        """Every configuration that tuning tried, in every outer fold."""
        self._place(learner)
        return archive_of(learner, self._outer(learner))

    def curve(self, learner: str) -> Curve:
        """Inner risk against the values tried, averaged over the outer folds."""
        self._place(learner)
        return curve_of(learner, self._outer(learner), self.context.contenders[learner].space)

    def _outer(self, learner: str) -> list[tuple[Unit, Outcome]]:
        return [
            (self.units[key], outcome)
            for key, outcome in self.outcomes.items()
            if self.units[key].learner == learner and self.units[key].purpose == "outer"
        ]

    def to_frame(self, library: str | None = None) -> Any:
        """Give one row a learner, best first, as a data frame.

        Parameters
        ----------
        library
            "pandas", "polars", "pyarrow" or "dict"; the first installed when left out.
        """
        rows = [vars(standing) for standing in self.standings]
        columns = {name: [row[name] for row in rows] for name in _COLUMNS}
        columns["settings"] = [dict(settings) for settings in columns["settings"]]
        return frame(columns, library)

    def to_json(self) -> dict[str, Any]:
        """Give everything but the losses of single rows as plain JSON values."""
        from clearwood.benchmarking.document import document

        return document(self)

    def plot(self) -> Any:
        """Draw the risks and the differences to the best, with their intervals (Altair)."""
        from clearwood.plot import plot_benchmark

        return plot_benchmark(self)

    def __repr__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self)
