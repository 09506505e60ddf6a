"""A model on a table in parts: sums over all rows, exact, from predictions that stay on disk.

Workers predict the rows of each part; what is observed and predicted is kept in a file of finished
parts, which is read block by block. Losses, and measures that follow from means of rows, are those
of the one table within rounding. What needs rows in order (rankings, calibration, lift) is computed
from a sample instead.
"""

import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import ClearwoodWarning, InputError, Option, words
from clearwood._shared.results import Result
from clearwood.evaluation.estimates import GAIN, LOG, Scale, ends_of
from clearwood.evaluation.intervals import Interval, around, make_interval
from clearwood.evaluation.intervals import Kind as KindOfMean
from clearwood.evaluation.row_facts import RowFacts, facts_of
from clearwood.evaluation.task_measures import Measures, deviances, labels_of
from clearwood.evaluation.truth import truth_of
from clearwood.evaluation.unit_sums import MeanOfUnits, summed_by_unit
from clearwood.fitted import FittedModel
from clearwood.losses import Loss, Needs, default_loss, loss_of_predictions
from clearwood.models import model_digest
from clearwood.parallel import Ledger, Run, State, over
from clearwood.table import Parts, Role, Schema, Table, Task, row_hashes

__all__ = ["EvaluatedParts", "evaluate_parts"]

#: Columns that are read as well as the features of the model.
_BESIDE = (Role.TARGET, Role.WEIGHT, Role.EXPOSURE, Role.GROUP)


@dataclass(frozen=True, eq=False)
class EvaluatedParts(Result):
    """What an evaluation of a table in parts is exact about, and what its sample is.

    Parameters
    ----------
    n_rows, n_parts
        Rows whose target is known, and parts.
    weight
        The weight of all rows.
    n_units, is_grouped
        Independent observations: rows of positive weight, or groups.
    measures
        Those that are exact over all rows.
    risk, loss
        The mean loss over all rows with its interval, and the loss.
    n_sampled, seed
        How many rows were drawn for everything else, and what decided which.
    source, fingerprint
        Where the rows are, and a SHA-256 of what the files were like.
    run
        How the pass over the parts went.
    """

    n_rows: int
    n_parts: int
    weight: float
    n_units: int
    is_grouped: bool
    measures: Measures
    risk: Interval
    loss: Loss
    n_sampled: int
    seed: int
    source: str
    fingerprint: str
    run: Run
    _omitted: ClassVar[tuple[str, ...]] = ("measures", "risk", "loss")

    def to_json(self) -> dict[str, Any]:
        """Return the counts, and which measures are exact, as plain JSON values."""
        return {**super().to_json(), "exact": ["risk", *self.measures]}


def evaluate_parts(
    model: FittedModel,
    parts: Parts,
    *,
    threshold: float,
    confidence: float,
    n_sampled: int,
    seed: int,
    ledger: str | Path | None,
    n_jobs: int | None,
) -> tuple[EvaluatedParts, RowFacts]:
    """Predict all rows of a table in parts and add up what can be added up.

    Parameters
    ----------
    model, parts
        A fitted model, and rows with its target.
    threshold, confidence
        As for `clearwood.evaluate`.
    n_sampled, seed
        The sample that everything else is computed from.
    ledger, n_jobs
        A file for finished parts, and processes.
    """
    task, classes = model.task, model.labels
    work = _Predicting(model, _tied(parts))
    names = _read(parts, model.schema)
    identity = {
        "work": "evaluation",
        "parts": parts.fingerprint(),
        "classes": list(classes),
        "clearwood": version("clearwood"),
    }
    if ledger is not None:
        identity["model"] = model_digest(model.model)
    with _file(ledger) as file:
        run = over(
            parts.parts,
            _Reading(work, names),
            _merged,
            title=f"predicting {parts.n_rows:,} rows",
            identity=identity,
            ledger=file,
            n_jobs=n_jobs,
        )
        assert run.state is not None
        facts = RowFacts.from_json(run.state.values["facts"])
        if not facts.n_rows:
            raise InputError(
                f"no row has a known {parts.target!r}", parameter="test", value=parts.source
            )
        rows = _AllRows(file, identity, len(parts.parts), is_grouped=bool(work.tied))
        judge = _Judge(rows, task, run.state.values["needs"], len(classes), threshold)
        measured = judge.measures(confidence)
        risk = judge.risk(confidence)
    about = EvaluatedParts(
        n_rows=facts.n_rows,
        n_parts=len(parts.parts),
        weight=judge.level.weight,
        n_units=risk.n,
        is_grouped=bool(work.tied),
        measures=measured,
        risk=risk,
        loss=judge.loss,
        n_sampled=n_sampled,
        seed=seed,
        source=parts.source,
        fingerprint=parts.fingerprint(),
        run=run,
    )
    return about, facts


def _tied(parts: Parts) -> tuple[str, ...]:
    if parts.keeps_identical:
        return parts.features
    return () if parts.group is None else (parts.group,)


def _read(parts: Parts, schema: Schema | None) -> tuple[str, ...]:
    """Return the columns that the model, the target and the weights need."""
    features = set(parts.features if schema is None else schema.features)
    if parts.keeps_identical:
        features |= set(parts.features)
    return tuple(n for n in parts.names if n in features or parts.role(n) in _BESIDE)


@contextmanager
def _file(ledger: str | Path | None) -> Iterator[Ledger]:
    """Open the user's ledger, or a file that is gone afterwards."""
    if ledger is not None:
        yield Ledger(ledger)
        return
    with tempfile.TemporaryDirectory(prefix="clearwood-") as folder:
        try:
            yield Ledger(Path(folder) / "predictions")
        except InputError as error:
            if error.parameter != Ledger.parameter:
                raise
            raise InputError(
                f"the predictions of all rows cannot be kept in {Path(folder).parent}",
                parameter="test",
                hint=words(
                    "set the environment variable TMPDIR to a folder on a larger disk, or name a "
                    "file on one: ",
                    Option("ledger", "FILE"),
                    ".",
                ),
            ) from error


@dataclass(frozen=True, eq=False)
class _Block:
    """Some rows: what was observed and predicted, their weights and, in groups, their units."""

    truth: Floats
    predicted: Floats
    weights: Floats
    units: NDArray[np.uint64] | None

    def counted(self) -> "_Block":
        """Return the rows with a weight above 0."""
        rows = self.weights > 0
        if rows.all():
            return self
        units = None if self.units is None else self.units[rows]
        return _Block(self.truth[rows], self.predicted[rows], self.weights[rows], units)


@dataclass(frozen=True, eq=False)
class _AllRows:
    """Reads what was observed and predicted from the file, part by part."""

    file: Ledger
    identity: Mapping[str, Any]
    n_parts: int
    is_grouped: bool

    def __iter__(self) -> Iterator[_Block]:
        with self.file.page(self.identity) as page:
            for k in range(self.n_parts):
                arrays = page.state(k).arrays
                if len(arrays["truth"]):
                    yield _Block(
                        arrays["truth"],
                        arrays["predicted"],
                        arrays.get("weights", np.ones(len(arrays["truth"]))),
                        arrays.get("units"),
                    )


@dataclass
class _Level:
    """Means that other quantities are compared with, and ends of what occurs."""

    n_rows: int = 0
    n_all: int = 0
    weight: float = 0.0
    shares: Floats | None = None
    observed: float = 0.0
    expected: float = 0.0
    least_truth: float = np.inf
    least_predicted: float = np.inf
    least_predicted_of_all: float = np.inf
    least_truth_of_all: float = np.inf


class _Judge:
    """Adds up losses, and measures that are functions of means, over blocks of rows.

    Three readings: means of what is observed and predicted; means of losses, some of which are
    relative to these; and what each unit adds to the variance, given all means. So no variance is a
    difference of large sums.
    """

    def __init__(
        self, rows: _AllRows, task: Task, needs: Needs, n_classes: int, threshold: float
    ) -> None:
        self.rows, self.task, self.needs = rows, task, needs
        self.n_classes, self.threshold = n_classes, threshold
        self.level = self._first_reading()
        level = self.level
        self.loss = loss_of_predictions(
            task,
            needs,
            np.array([level.least_truth_of_all]),
            np.array([level.least_predicted_of_all]),
        )
        self._deviance = default_loss(task, np.array([level.least_truth]))

    @property
    def _is_of_numbers(self) -> bool:
        return not self.n_classes

    @property
    def _is_binary(self) -> bool:
        return self.needs == "probability" and self.n_classes == 2

    def _first_reading(self) -> _Level:
        level = _Level()
        if not self._is_of_numbers:
            level.shares = np.zeros(self.n_classes)
        for every in self.rows:
            level.n_all += len(every.truth)
            level.least_truth_of_all = min(level.least_truth_of_all, every.truth.min())
            least = float(every.predicted.min())
            level.least_predicted_of_all = min(level.least_predicted_of_all, least)
            block = every.counted()
            if not len(block.truth):
                continue
            level.n_rows += len(block.truth)
            level.weight += float(block.weights.sum())
            level.least_truth = min(level.least_truth, float(block.truth.min()))
            level.least_predicted = min(level.least_predicted, float(block.predicted.min()))
            if level.shares is not None:
                codes = block.truth.astype(np.intp)
                level.shares += np.bincount(codes, block.weights, self.n_classes)
            y, p = self._pair(block)
            level.observed += float(block.weights @ y)
            level.expected += float(block.weights @ p)
        if not level.n_rows:
            raise InputError("every row has the weight 0", parameter="weights")
        level.observed /= level.weight
        level.expected /= level.weight
        if level.shares is not None:
            level.shares /= level.weight
        return level

    def _pair(self, block: _Block) -> tuple[Floats, Floats]:
        """Return truth and prediction of a number, or of the membership in the last class."""
        if self._is_of_numbers:
            return block.truth, block.predicted
        member = (block.truth == self.n_classes - 1).astype(np.float64)
        return member, block.predicted[:, -1] if block.predicted.ndim == 2 else block.predicted

    def _quantities(self, block: _Block) -> dict[str, Floats]:
        """Return what measures are functions of the means of."""
        y, p = block.truth, block.predicted
        level = self.level
        quantities = {"loss": self.loss.per_row(y, p)}
        if self._is_of_numbers:
            quantities |= {
                "squares": (y - p) ** 2,
                "squares of mean": (y - level.observed) ** 2,
                "absolute": np.abs(y - p),
            }
            constant: Any = level.observed
        else:
            chosen = labels_of(p, self.needs, self.threshold)
            quantities["correct"] = (chosen == y).astype(np.float64)
            constant = level.shares
        if self.needs in ("prediction", "probability") and self.task is not Task.REGRESSION:
            own, of_constant = deviances(self._deviance, y, p, constant)
            quantities |= {"deviance": own, "deviance of mean": of_constant}
        if self._is_of_numbers or self._is_binary:
            quantities["observed"], quantities["expected"] = self._pair(block)
        return quantities

    @cached_property
    def _means(self) -> dict[str, float]:
        sums: dict[str, float] = {}
        for every in self.rows:
            block = every.counted()
            for name, values in self._quantities(block).items():
                sums[name] = sums.get(name, 0.0) + float(block.weights @ values)
        return {name: total / self.level.weight for name, total in sums.items()}

    @cached_property
    def _estimates(self) -> dict[str, "_Smooth"]:
        """Return the measures as functions of means, in the order in which they are shown."""
        means = self._means
        found: dict[str, _Smooth] = {"": _mean_of("loss", means)}
        if "correct" in means:
            found["accuracy"] = _mean_of("correct", means, "probability")
        if "deviance" in means:
            found["deviance_explained"] = _gain("deviance", "deviance of mean", means)
        if self._is_of_numbers:
            found["r2"] = _gain("squares", "squares of mean", means)
            found["rmse"] = _root("squares", means)
            found["mae"] = _mean_of("absolute", means)
        if "observed" in means and self._has_ratio:
            found["observed_expected"] = _ratio("observed", "expected", means)
        return found

    @property
    def _has_ratio(self) -> bool:
        level = self.level
        never_negative = min(level.least_truth, level.least_predicted) >= 0
        return level.observed > 0 and level.expected > 0 and never_negative

    @cached_property
    def _spreads(self) -> dict[str, MeanOfUnits]:
        """Return the mean and the spread of what rows add to each estimate."""
        names = list(self._means)
        estimates = self._estimates
        slopes = np.array([[e.slopes.get(n, 0.0) for n in names] for e in estimates.values()]).T
        constants = np.array([e.slopes.get("", 0.0) for e in estimates.values()])
        n, weight_squares = 0, 0.0
        squares, fourths = np.zeros(len(estimates)), np.zeros(len(estimates))
        for totals in self._unit_totals(names):
            weights = totals[:, -1]
            n += int(np.count_nonzero(weights))
            weight_squares += float(weights @ weights)
            with np.errstate(invalid="ignore"):
                rest = totals[:, :-1] @ slopes + weights[:, None] * constants
            squares += (rest**2).sum(axis=0)
            fourths += (rest**4).sum(axis=0)
        total = self.level.weight
        return {
            name: MeanOfUnits(n, total, weight_squares, e.value, squares[k], fourths[k])
            for k, (name, e) in enumerate(estimates.items())
        }

    def _unit_totals(self, names: Sequence[str]) -> Iterator[Floats]:
        """Read the totals of units: of weight × each quantity, and of weight."""

        def pieces() -> Iterator[tuple[NDArray[np.uint64], Floats]]:
            for every in self.rows:
                block = every.counted()
                values = self._quantities(block)
                columns = [block.weights * values[name] for name in names]
                units = np.empty(0, np.uint64) if block.units is None else block.units
                yield units, np.column_stack([*columns, block.weights])

        if self.rows.is_grouped:
            yield summed_by_unit(pieces(), len(names) + 1)
        else:
            yield from (totals for _, totals in pieces())

    def risk(self, confidence: float) -> Interval:
        """Return the mean loss with its interval."""
        spread = self._spreads[""]
        return make_interval(
            spread.mean,
            float(np.sqrt(spread.variance)),
            "hold-out",
            spread.n,
            confidence,
            degrees=max(spread.n - 1, 1),
        )

    def measures(self, confidence: float) -> Measures:
        """Return the measures that are exact over all rows, each with an interval."""
        values: dict[str, float] = {}
        low: dict[str, float] = {}
        high: dict[str, float] = {}
        for name, estimate in self._estimates.items():
            if not name:
                continue
            values[name] = estimate.value
            low[name], high[name] = estimate.ends(self._spreads[name], confidence)
        if self.level.shares is not None:
            values["majority"], low["majority"], high["majority"] = (
                float(self.level.shares.max()),
                np.nan,
                np.nan,
            )
        return Measures(
            values,
            low,
            high,
            self.level.n_rows,
            self.threshold if self._is_binary else None,
            n_zero_weight=self.level.n_all - self.level.n_rows,
            confidence=confidence,
        )


@dataclass(frozen=True)
class _Smooth:
    """A smooth function of means over rows, to first order about them.

    Parameters
    ----------
    value
        Its value.
    slopes
        What each quantity of a row adds to its influence, by name; "" is for one.
    scale
        Where its error is about normal; None for a mean.
    kind
        What a mean is taken of.
    """

    value: float
    slopes: Mapping[str, float]
    scale: Scale | None = None
    kind: KindOfMean = "number"

    def ends(self, spread: MeanOfUnits, confidence: float) -> tuple[float, float]:
        """Return the ends of its interval."""
        if self.scale is not None:
            return ends_of(self.value, self.scale, spread, confidence)
        low, high = around(spread, self.kind, confidence)
        return (max(low, 0.0), min(high, 1.0)) if self.kind == "probability" else (low, high)


def _mean_of(name: str, means: Mapping[str, float], kind: KindOfMean = "number") -> _Smooth:
    return _Smooth(means[name], {name: 1.0, "": -means[name]}, kind=kind)


def _gain(losses: str, of_constant: str, means: Mapping[str, float]) -> _Smooth:
    """Return one minus the ratio of two mean losses."""
    least = means[of_constant]
    if not least > 0:
        return _Smooth(np.nan, {}, GAIN)
    ratio = means[losses] / least
    return _Smooth(1 - ratio, {of_constant: ratio / least, losses: -1 / least}, GAIN)


def _root(squares: str, means: Mapping[str, float]) -> _Smooth:
    root = float(np.sqrt(means[squares]))
    if not root > 0:
        return _Smooth(root, {}, LOG)
    return _Smooth(root, {squares: 1 / (2 * root), "": -root / 2}, LOG)


def _ratio(observed: str, expected: str, means: Mapping[str, float]) -> _Smooth:
    ratio = means[observed] / means[expected]
    return _Smooth(ratio, {observed: 1 / means[expected], expected: -ratio / means[expected]}, LOG)


# In a worker


@dataclass(frozen=True, eq=False)
class _Predicting:
    """Predicts a batch of rows."""

    model: FittedModel
    tied: tuple[str, ...]

    def __call__(self, batch: Table) -> tuple[dict[str, NDArray[Any]], RowFacts, Needs]:
        with warnings.catch_warnings():
            # of new levels, which the result lists, in every batch that has them
            warnings.simplefilter("ignore", ClearwoodWarning)
            predicted, needs = self.model.for_loss(batch)
        truth, known = truth_of(batch, self.model.labels)
        facts = facts_of(batch, truth, known, predicted, self.model)
        arrays: dict[str, NDArray[Any]] = {"truth": truth[known], "predicted": predicted[known]}
        if batch.weights is not None:
            arrays["weights"] = batch.weights[known]
        if self.tied:
            arrays["units"] = row_hashes([batch.column(name) for name in self.tied])[known]
        return arrays, facts, needs


@dataclass(frozen=True, eq=False)
class _Reading:
    """Predicts the rows of a part, batch by batch."""

    predicting: _Predicting
    columns: tuple[str, ...]

    def __call__(self, part: Any) -> State:
        pieces: list[dict[str, NDArray[Any]]] = []
        facts, needs = RowFacts(), None
        for batch in part.batches(columns=self.columns):
            arrays, more, needs = self.predicting(batch)
            pieces.append(arrays)
            facts += more
        if not pieces:
            pieces = [{"truth": np.empty(0), "predicted": np.empty(0)}]
        arrays = {name: np.concatenate([one[name] for one in pieces]) for name in pieces[0]}
        return State({"facts": asdict(facts), "needs": needs}, arrays)


def _merged(one: State, other: State) -> State:
    facts = RowFacts.from_json(one.values["facts"]) + RowFacts.from_json(other.values["facts"])
    needs = one.values["needs"] or other.values["needs"]
    return State({"facts": asdict(facts), "needs": needs})
