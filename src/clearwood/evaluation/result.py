"""The evaluation of predictions: measures, curves and tables from the same rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.errors import (
    InputError,
    Text,
    bad_value,
    did_you_mean,
    unknown_choice,
)
from clearwood._shared.numbers import count, interval, number, percent
from clearwood._shared.results import Result, document
from clearwood.checks import Drift, Level
from clearwood.evaluation.against import check_positive, other_of
from clearwood.evaluation.by_column import ByColumn, by_columns
from clearwood.evaluation.calibration import CalibrationCurve, calibration_of
from clearwood.evaluation.confusion import Confusion, confusion_of
from clearwood.evaluation.curves import (
    Lorenz,
    PrecisionRecall,
    Roc,
    lorenz_curve,
    precision_recall_curve,
    roc_curve,
)
from clearwood.evaluation.estimates import Allowance, bounds
from clearwood.evaluation.intervals import Interval, Kind, holdout_interval
from clearwood.evaluation.lift import Lift, double_lift_of, lift_of
from clearwood.evaluation.link_regression import link_of
from clearwood.evaluation.over_parts import EvaluatedParts
from clearwood.evaluation.pairs import Pairs
from clearwood.evaluation.residuals import Residuals, residuals_of
from clearwood.evaluation.smooth_calibration import SmoothCalibration, smooth_calibration_of
from clearwood.evaluation.task_measures import (
    LEVEL,
    Measures,
    capped_words,
    check_threshold,
    curve_inflation,
    level_estimate,
    measures,
)
from clearwood.losses import Loss, Needs, default_loss, loss_of_predictions
from clearwood.models import Extrapolation
from clearwood.table import Table, Task

__all__ = ["PARTS", "Evaluation"]

#: What an evaluation can draw, by name.
PARTS = (
    "measures",
    "lift",
    "lorenz",
    "calibration",
    "smooth_calibration",
    "roc",
    "precision_recall",
    "confusion",
    "residuals",
)


#: Measures that are 1 if predictions are calibrated.
_OF_CALIBRATION = (LEVEL, "calibration_slope")


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Result):
    """How well predictions agree with the truth, on rows that the model was not fitted to.

    Made by `clearwood.evaluate` for new rows and by `Benchmark.evaluation` out of fold. All means,
    shares and bins are by weight: where the table has an exposure, the target is a rate and the
    weight is weight × exposure. Rows of one group count as one observation in every interval.

    Parameters
    ----------
    learner
        The name of the model.
    what
        What is predicted: "accidents per year".
    task
        The task.
    source
        "new rows" or "out of fold".
    table
        The rows.
    rows
        The position in the table of each prediction: a row has several after repeats.
    truth, predicted
        Of each prediction; classes as positions in `classes`, with a column of probabilities each.
    classes
        The labels; empty for numbers.
    needs
        What is predicted of classes: "probability", "label" or "margin"; "prediction" for numbers.
    fits
        Which fit made each prediction.
    confidence
        The level of all intervals.
    threshold
        Of two classes, the second is predicted where its probability is above this.
    inflation
        By how much standard errors are larger than those of independent rows, as fits share rows.
    allowances
        By measure, what its interval allows for where it is known of each; see `Allowance`.
    against
        The name of another prediction, for the double lift: of `others`, or a column; None without.
    others
        Predictions of other models by name, in the form of `predicted`.
    rescale
        Whether the double lift gives both predictions the observed mean, see `lift`.
    compared
        By the name of another prediction, its risk less that of the model, where a benchmark has
        it.
    drift
        How far the rows differ from those the model was fitted to; None where these are not known.
    new_levels
        Levels that the model was not fitted with, by column.
    outside
        How many rows and predictions lie outside the training range; None where that is not known.
    judged_by, judged
        The loss and the risk of the benchmark that the predictions come from, or of all rows of a
        table in parts; by default the loss of the task, and its mean.
    in_parts
        Of a table in parts: all rows, and what is exact over them. Everything else is of `table`, a
        sample of its rows. None for a table in memory.
    fitted
        Observed / expected of the training rows, where the model has it and was not rebalanced.
    notes
        Remarks for the reader.

    Examples
    --------
    >>> import clearwood as cw
    >>> data = cw.datasets.insurance(400, seed=1)
    >>> model = cw.learner("glm").fit(data)
    >>> result = cw.evaluate(model, cw.datasets.insurance(400, seed=2), training=data)
    >>> result.lift(bins=4).rows.sum()
    np.int64(400)
    """

    learner: str
    what: str
    task: Task
    source: Literal["new rows", "out of fold"]
    table: Table
    rows: Index
    truth: Floats
    predicted: Floats
    classes: tuple[str, ...] = ()
    needs: Needs = "prediction"
    fits: Index = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    confidence: float = 0.9
    threshold: float = 0.5
    inflation: float = 1.0
    allowances: Mapping[str, Allowance] = field(default_factory=dict)
    against: str | None = None
    others: Mapping[str, Floats] = field(default_factory=dict)
    rescale: bool = False
    compared: Mapping[str, Interval] = field(default_factory=dict)
    drift: Drift | None = None
    new_levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    outside: Extrapolation | None = None
    judged_by: Loss | None = None
    judged: Interval | None = None
    in_parts: EvaluatedParts | None = None
    fitted: Level | None = None
    notes: tuple[Text, ...] = ()

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(np.unique(self.rows)) if self.in_parts is None else self.in_parts.n_rows

    @property
    def n_events(self) -> int | None:
        """How many rows are of the rarer of two classes, or how much was counted in all.

        None for other targets, and for a table in parts.
        """
        if self.in_parts is not None:
            return None
        counts = np.flatnonzero(self.weights > 0)
        rows, first = np.unique(self.rows[counts], return_index=True)
        target = self.table.target
        if len(self.classes) == 2:
            truth = self.truth[counts[first]].astype(np.intp)
            return int(np.bincount(truth, minlength=2).min())
        if self.task is Task.COUNT and target is not None:
            return int(np.nansum(self.table.column(target).take(rows).values))
        return None

    @property
    def level(self) -> Level | None:
        """Observed / expected; None where a value is negative, and for several classes."""
        if self.in_parts is not None:
            measured = self.measures()
            return self._level_of(measured) if LEVEL in measured.values else None
        truth, predicted = self.truth, self.predicted
        if self.classes:
            if self.needs != "probability" or len(self.classes) != 2:
                return None
            truth, predicted = (truth == 1).astype(np.float64), predicted[:, 1]
        found = level_estimate(truth, predicted, self.weights, self.units).get(LEVEL)
        if found is None:
            return None
        pairs = Pairs(truth, predicted, self.weights, self.units, 0)
        allowance = self.allowances.get(LEVEL, Allowance(self.inflation))
        low, high = bounds(found, pairs, self.confidence, allowance)
        return Level(ratio=found.value, low=low, high=high, confidence=self.confidence)

    @property
    def level_words(self) -> Text | None:
        """What the level says about the predictions, and what mends it where it is off.

        Rebalancing is offered where the level is off for the training rows too, or out of fold.
        """
        level = self.level
        if level is None:
            return None
        if self.task not in (Task.COUNT, Task.AMOUNT) or not level.is_off:
            return level.verdict
        if self.source == "out of fold" or (self.fitted is not None and self.fitted.is_off):
            return level.advice
        if self.fitted is None:
            return level.verdict
        return f"{level.verdict}; of the training rows it is {number(self.fitted.ratio)}"

    def _level_of(self, measured: Measures) -> Level:
        low, high = measured.interval(LEVEL)
        return Level(ratio=measured[LEVEL], low=low, high=high, confidence=self.confidence)

    @property
    def miscalibrated(self) -> tuple[str, ...]:
        """How predictions are off in level or spread; empty where the intervals include 1.

        The intervals are those of the measures. That of a calibrated model excludes 1 as often as
        their level says: in one of ten evaluations at 90 %.
        """
        measured = self.measures()
        said = []
        for name in _OF_CALIBRATION:
            value = measured.values.get(name, np.nan)
            low, high = measured.low.get(name, np.nan), measured.high.get(name, np.nan)
            if not np.isfinite([value, low, high]).all() or low <= 1 <= high:
                continue
            if name == LEVEL:
                said.append(str(self.level_words))
                continue
            how = "have too little spread" if value > 1 else "are too extreme"
            said.append(
                f"the predictions {how}: {name.replace('_', ' ')} {number(value)} "
                f"({percent(self.confidence)} interval {interval(low, high)})"
            )
        return tuple(said)

    @property
    def is_weighted(self) -> bool:
        """Whether rows count by a weight or an exposure."""
        return self.table.weights is not None

    @cached_property
    def weights(self) -> Floats:
        """The weight of each prediction; those of one row share its weight."""
        times = np.bincount(self.rows, minlength=self.table.n_rows)
        own = np.ones(self.table.n_rows) if self.table.weights is None else self.table.weights
        return np.asarray((own / np.maximum(times, 1))[self.rows])

    @property
    def _copies(self) -> int:
        """Return how many predictions a row has."""
        return max(round(len(self.rows) / max(len(np.unique(self.rows)), 1)), 1)

    @property
    def units(self) -> NDArray[Any]:
        """The independent observation of each prediction: its group, or its row."""
        groups = self.table.groups
        return self.rows if groups is None else groups[self.rows]

    @cached_property
    def loss(self) -> Loss:
        """The loss that predictions are judged by."""
        if self.judged_by is not None:
            return self.judged_by
        return loss_of_predictions(self.task, self.needs, self.truth, self.predicted)

    @cached_property
    def losses(self) -> Floats:
        """The loss of each prediction."""
        return self.loss.per_row(self.truth, self.predicted)

    @property
    def capped(self) -> int:
        """How many losses would be infinite, and are capped in their mean."""
        return self.loss.capped(self.truth, self.predicted)

    def risk(self) -> Interval:
        """Return the mean loss with its interval; out of fold, that of the benchmark."""
        if self.judged is not None:
            return self.judged
        plain = holdout_interval(self.losses, self.weights, self.confidence, groups=self.units)
        half = self.inflation * (plain.high - plain.estimate)
        return Interval(
            plain.estimate,
            self.inflation * plain.se,
            plain.estimate - half,
            plain.estimate + half,
            plain.kind,
            plain.n,
            self.inflation,
            confidence=self.confidence,
        )

    @cached_property
    def _measures(self) -> Measures:
        return self._measured(self.threshold)

    def _measured(self, threshold: float) -> Measures:
        result = measures(
            self.task,
            self.truth,
            self.predicted,
            needs=self.needs,
            splits=self.fits if len(self.fits) else None,
            weights=self.weights,
            groups=self.units,
            threshold=threshold,
            confidence=self.confidence,
            inflation=self.inflation,
            allowances=self.allowances,
        )
        result = replace(result, is_weighted=self.is_weighted)
        if self.in_parts is None:
            return result
        exact = self.in_parts.measures
        if threshold != self.threshold:  # which depends on it, and predictions are not kept
            exact = exact.without("accuracy")
        return result.with_exact(exact)

    def measures(self, *, threshold: float | None = None) -> Measures:
        """Return the measures that suit the task, each with an interval.

        Parameters
        ----------
        threshold
            Of two classes, the second is predicted where its probability is above this; by default
            that of the evaluation.
        """
        if threshold is None or threshold == self.threshold:
            return self._measures
        return self._measured(threshold)

    def lift(
        self,
        *,
        bins: int | Sequence[float] = 10,
        against: Any = None,
        rescale: bool | None = None,
        label: str | None = None,
    ) -> Lift:
        """Return observed and predicted means in bins of about equal weight.

        Parameters
        ----------
        bins
            How many bins; or the values between bins, such as the cut points of grades.
        against
            Another prediction of the same quantity (per unit of exposure, where there is one): the
            name of a column, such as the current premium, or another fitted model. The result is a
            double lift, in bins of the ratio of the two. Its `advantage` is the difference of their
            mean losses: of one class of several, of the log loss of that class; out of fold, that
            of the benchmark.
        rescale
            Whether both predictions get the observed mean first, so that only how they differ
            between rows is compared: numbers are multiplied by a factor, probabilities have a
            constant added to their log-odds. By default that of the evaluation, False: they are
            compared as they are.
        label
            The class whose probability is meant; by default the last.
        """
        pairs, what, kind = self._pairs(label)
        options: dict[str, Any] = {
            "kind": kind,
            "bins": bins,
            "confidence": self.confidence,
            "inflation": self.inflation,
            "copies": self._copies,
            **self._about(what),
        }
        if against is None:
            return lift_of(pairs, **options)
        name, values = self._other(against, label)
        self._check_positive(pairs)
        is_whole = len(self.classes) <= 2 and self.loss.needs in ("prediction", "probability")
        return double_lift_of(
            pairs,
            values[self.weights > 0],
            loss=self.loss if is_whole else default_loss(Task.BINARY),
            rescale=self.rescale if rescale is None else rescale,
            compared=self.compared.get(name) if is_whole else None,
            against=name,
            **options,
        )

    def _other(self, against: Any, label: str | None) -> tuple[str, Floats]:
        """Return the name of another prediction, and its values, checked."""
        if not isinstance(against, str):
            other = other_of(against, self.table, self.classes, own=self.learner)
            return self._positive(other.name, other.predicted[self.rows], label)
        if against in self.others:
            return self._positive(against, self.others[against], label)
        column = self.table.column(against)
        if column.is_coded or column.values.dtype.kind != "f":
            expected = f"it must be a column of numbers, not {column.kind}"
            raise bad_value("against", against, expected)
        values = np.asarray(column.values, dtype=np.float64)[self.rows]
        return self._positive(against, values, label)

    def _positive(self, name: str, values: Floats, label: str | None) -> tuple[str, Floats]:
        """Return another prediction, refusing one that has no ratio to the model's."""
        own = values[:, self._place(label)] if values.ndim == 2 else values
        check_positive(name, own, self.rows, is_share=bool(self.classes))
        return name, own

    def _check_positive(self, pairs: Pairs) -> None:
        if self.classes and self.needs != "probability":
            raise self._no_probabilities()
        if (pairs.predicted <= 0).any() or not (pairs.weights * pairs.truth).sum() > 0:
            raise InputError(
                "a double lift needs positive predictions and a positive mean of the target",
                parameter="against",
                hint="it compares two predictions by their ratio.",
            )

    def lorenz(self, *, label: str | None = None) -> Lorenz:
        """Return the Lorenz curve of the target, rows in the order of the prediction."""
        pairs, what, _ = self._pairs(label)
        if (pairs.truth < 0).any() or not (pairs.weights * pairs.truth).sum() > 0:
            raise InputError(
                f"{what!r} has negative values or no positive one, so it has no Lorenz curve",
                parameter="target",
            )
        is_class = bool(self.classes)
        extra = self._allowance("gini_normalised" if is_class else "gini", label)
        return lorenz_curve(
            pairs, self._fits, self.confidence, extra, is_class=is_class, **self._about(what)
        )

    def roc(self, *, label: str | None = None) -> Roc:
        """Return the receiver operating characteristic of a class against the rest."""
        pairs, what = self._of_class(label)
        extra = self._allowance("auc", label)
        return roc_curve(pairs, self._fits, self.confidence, extra, **self._about(what))

    def precision_recall(self, *, label: str | None = None) -> PrecisionRecall:
        """Return precision against recall of a class."""
        pairs, what = self._of_class(label)
        extra = self._allowance("average_precision", label)
        return precision_recall_curve(
            pairs, self._fits, self.confidence, extra, **self._about(what)
        )

    def confusion(self, *, threshold: float | None = None) -> Confusion:
        """Return how often each class is predicted where each is true.

        Parameters
        ----------
        threshold
            Of two classes, the second is predicted where its probability is above this; by default
            that of the evaluation.
        """
        self._check_classes("confusion")
        at = self.threshold if threshold is None else threshold
        check_threshold(at)
        is_binary = len(self.classes) == 2
        if self.needs == "probability":
            chosen = self.predicted[:, 1] > at if is_binary else self.predicted.argmax(axis=1)
        else:
            chosen = self.predicted > 0 if self.needs == "margin" else self.predicted
        known = np.flatnonzero(self.weights > 0)
        result = confusion_of(
            self.truth[known],
            np.asarray(chosen, dtype=np.intp)[known],
            self.weights[known],
            np.unique(self.units[known], return_inverse=True)[1],
            classes=self.classes,
            threshold=at if is_binary and self.needs == "probability" else None,
            confidence=self.confidence,
            inflation=self.inflation,
            **self._about(self.what),
        )
        # one accuracy, with one interval
        measured = self.measures(threshold=at)
        return result.with_rate("accuracy", measured["accuracy"], *measured.interval("accuracy"))

    def calibration(self, *, bins: int = 10, label: str | None = None) -> CalibrationCurve:
        """Return observed means in bins of the prediction, with the calibration line."""
        if self.classes and self.needs != "probability":
            raise self._no_probabilities()
        result = calibration_of(
            self.truth,
            self.predicted,
            classes=self.classes or None,
            target=self.what,
            label=label,
            bins=bins,
            confidence=self.confidence,
            learner=self.learner,
            weights=self.weights,
            groups=self.units,
            inflation=self.inflation,
            allowances=self.allowances,
        )
        return replace(result, is_weighted=self.is_weighted)

    def smooth_calibration(self, *, label: str | None = None) -> SmoothCalibration:
        """Return what is observed as a smooth curve of the prediction, with a band."""
        pairs, what, kind = self._pairs(label)
        link = "logit" if kind == "probability" else link_of(self.task, pairs.predicted)
        result = smooth_calibration_of(
            pairs.truth,
            pairs.predicted,
            link=link,
            confidence=self.confidence,
            weights=pairs.weights,
            groups=pairs.units,
            inflation=curve_inflation(lambda name: self._allowance(name, label)),
            learner=self.learner,
            what=what,
        )
        return replace(result, is_weighted=self.is_weighted)

    def residuals(self) -> Residuals:
        """Return quantiles of the residuals of predicted numbers."""
        if self.classes:
            raise InputError(f"{self.what!r} is a class, and classes have no residuals")
        result = residuals_of(
            self.truth,
            self.predicted,
            learner=self.learner,
            what=self.what,
            weights=self.weights,
        )
        return replace(result, is_weighted=self.is_weighted)

    def by(self, *columns: str, label: str | None = None) -> ByColumn:
        """Return observed against expected in the bands of a column, or of a pair of columns.

        Parameters
        ----------
        *columns
            One or two columns of the table, features or not. Numbers are in at most ten bands of
            about equal weight, five of each in a pair; missing values are a band.
        label
            The class whose probability is meant; by default the last.
        """
        if not 1 <= len(columns) <= 2:
            raise bad_value("columns", columns, "name one column, or two")
        if len(set(columns)) < len(columns):
            raise bad_value("columns", columns, "name two different columns")
        pairs, what, _ = self._pairs(label, keep_zero=True)
        taken = [self.table.column(name).take(self.rows) for name in columns]
        is_ratio = bool((pairs.truth >= 0).all() and (pairs.predicted >= 0).all())
        known = np.flatnonzero(pairs.weights > 0)
        pairs = Pairs(
            pairs.truth[known],
            pairs.predicted[known],
            pairs.weights[known],
            np.unique(pairs.units[known], return_inverse=True)[1].astype(np.intp),
            0,
        )
        return by_columns(
            pairs,
            self.losses[known],
            [column.take(known) for column in taken],
            compared="ratio" if is_ratio else "difference",
            confidence=self.confidence,
            inflation=self.inflation,
            copies=self._copies,
            are_events=self.task.is_classification or self.task is Task.COUNT,
            **self._about(what),
        )

    @property
    def _fits(self) -> Index:
        fits = self.fits if len(self.fits) else np.zeros(len(self.rows), dtype=np.intp)
        return np.asarray(fits[self.weights > 0], dtype=np.intp)

    def _allowance(self, measure: str, label: str | None) -> Allowance:
        """Return what an interval allows for; measures are of the last class of two."""
        is_measured = not self.classes or (
            len(self.classes) == 2 and label in (None, self.classes[-1])
        )
        general = Allowance(self.inflation)
        return self.allowances.get(measure, general) if is_measured else general

    def _about(self, what: str) -> dict[str, Any]:
        return {"learner": self.learner, "what": what, "is_weighted": self.is_weighted}

    def _pairs(
        self, label: str | None = None, *, keep_zero: bool = False
    ) -> tuple[Pairs, str, Kind]:
        """Return truth and predictions of a number, or of the membership in a class."""
        truth, predicted, what, kind = self.truth, self.predicted, self.what, "number"
        if self.classes:
            place = self._place(label)
            if self.needs == "label":
                raise self._no_probabilities()
            truth = (truth == place).astype(np.float64)
            predicted = predicted[:, place] if predicted.ndim == 2 else predicted
            what, kind = f"P({self.what} = {self.classes[place]})", "probability"
        elif label is not None:
            raise InputError(
                f"{self.what!r} is a number and has no class {label!r}",
                parameter="label",
                value=label,
            )
        if keep_zero:
            units = np.unique(self.units, return_inverse=True)[1].astype(np.intp)
            return Pairs(truth, predicted, self.weights, units, 0), what, kind  # type: ignore[return-value]
        return Pairs.of(truth, predicted, self.weights, self.units), what, kind  # type: ignore[return-value]

    def _of_class(self, label: str | None) -> tuple[Pairs, str]:
        self._check_classes("a curve of thresholds")
        pairs, what, _ = self._pairs(label)
        if len(np.unique(pairs.truth)) < 2:
            raise InputError(
                f"the rows have one class only, so {what} cannot be ranked",
                parameter="target",
                hint="use rows with both members and non-members of the class.",
            )
        return pairs, what

    def _place(self, label: str | None) -> int:
        if label is None:
            return len(self.classes) - 1
        if str(label) not in self.classes:
            raise InputError(
                f"{self.what!r} has no class {label!r}",
                parameter="label",
                value=label,
                hint=did_you_mean(str(label), self.classes),
            )
        return self.classes.index(str(label))

    def _check_classes(self, thing: str) -> None:
        if not self.classes:
            raise InputError(f"{thing} needs classes, and {self.what!r} is a number")

    def _no_probabilities(self) -> InputError:
        return InputError(
            f"{self.learner!r} predicts classes without probabilities",
            parameter="model",
            hint="use a learner that has them, such as 'logistic' or 'gbm'.",
        )

    def parts(self) -> dict[str, Result]:
        """Return every part that the predictions have, by name; those they lack are left out."""
        parts: dict[str, Result] = {}
        for name in PARTS:
            try:
                parts[name] = getattr(self, name)()
            except InputError:
                continue
        if self.against is not None:
            parts["double_lift"] = self.lift(against=self.against)
        return parts

    def _columns(self) -> dict[str, Any]:
        return dict(self.measures().to_frame("dict"))

    def to_json(self) -> dict[str, Any]:
        """Return all parts as plain JSON values, and observed against expected by feature."""
        of_all = self.in_parts
        return document(
            {
                "learner": self.learner,
                "target": self.what,
                "task": str(self.task),
                "source": self.source,
                "rows": self.n_rows,
                "events": self.n_events,
                "miscalibrated": self.miscalibrated,
                "weight": float(self.weights.sum()) if of_all is None else of_all.weight,
                "confidence": self.confidence,
                "loss": self.loss.name,
                "risk": self.risk(),
                "capped": self.capped,
                "inflation": self.inflation,
                **self.parts(),
                "by_column": {
                    name: _as_dict(self.by(name))
                    for name in self.table.features
                    if self.has_numbers
                },
                "drift": None if self.drift is None else self.drift.to_json(),
                "new_levels": self.new_levels,
                "outside": None if self.outside is None else self.outside.to_json(),
                **({} if of_all is None else {"in_parts": of_all.to_json()}),
                "notes": [str(note) for note in self.notes],
            }
        )

    @property
    def has_numbers(self) -> bool:
        """Whether predictions are numbers or probabilities, not classes alone."""
        return not self.classes or self.needs != "label"

    def plot(self, part: str = "lift", **options: Any) -> Any:
        """Draw a part (Altair).

        Parameters
        ----------
        part
            One of `PARTS` but "measures".
        **options
            Those of the part's method, such as ``against="premium"`` of the lift.
        """
        if part not in PARTS[1:]:
            raise unknown_choice("part", part, PARTS[1:])
        return getattr(self, part)(**options).plot()

    def __repr__(self) -> str:
        risk = self.risk()
        weighted = ", weighted" if self.is_weighted else ""
        parts = "" if self.in_parts is None else f" in {count(self.in_parts.n_parts, 'part')}"
        events = "" if self.n_events is None else f" with {count(self.n_events, 'event')}"
        head = (
            f"Evaluation of {self.learner!r}, {self.what}: {count(self.n_rows, 'row')}{parts}"
            f"{events}, {self.source}{weighted}"
        )
        mean = (
            f"  {self.loss.risk_title} {number(risk.estimate, 4)} "
            f"({interval(risk.low, risk.high, 4)}, {percent(self.confidence)})"
        )
        mean += f"; {capped_words(self.capped)}" if self.capped else ""
        lines = [head, mean]
        lines += [f"  {said}" for said in self.miscalibrated]
        lines += self.measures().lines
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return self.measures()._repr_html_()


def _as_dict(result: Result) -> dict[str, Any]:
    return dict(result.to_frame("dict"))
