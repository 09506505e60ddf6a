"""The rows of an audit: predictions next to the truth, with weights and what the rows are."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.errors import InputError, Option, words
from clearwood._shared.numbers import count
from clearwood.benchmarking import Benchmark
from clearwood.evaluation import Evaluation, evaluate
from clearwood.fairness.groups.reading import read_with
from clearwood.fitted import FittedModel
from clearwood.losses import Loss
from clearwood.table import Schema, Table, Task, as_table

__all__ = ["Audited", "Source", "audited_rows", "model_rows"]

#: Where the rows come from: whether errors on them are those on new rows.
Source = Literal["training rows", "new rows", "out of fold"]


@dataclass(frozen=True, eq=False)
class Audited:
    """Predictions of rows, each output with what was observed.

    Parameters
    ----------
    model
        The fitted model; None where there are predictions only.
    learner
        Its name.
    table
        The rows.
    training
        The rows that the model was fitted to; None where only test rows are given.
    source
        What the rows are to the model.
    rows
        The position in the table of each prediction.
    outputs
        What is predicted: one number, or the probabilities of classes.
    predicted
        One column for each output.
    truth
        As `predicted`: numbers, or whether the row is in the class; None without a target.
    losses
        The loss of each prediction; None without a target.
    loss
        Which loss it is.
    classes
        All classes of the model.
    weights, units
        Of each prediction: its weight, and the independent observation it belongs to.
    fits
        Which fit made each prediction.
    inflation
        By how much standard errors are larger than those of independent rows.
    total
        What the predictions of two classes add up to: 1 for probabilities, 0 for other scores.
    """

    model: Any
    learner: str
    what: str
    task: Task
    table: Table
    training: Table | None
    source: Source
    rows: Index
    outputs: tuple[str, ...]
    predicted: Floats
    truth: Floats | None
    losses: Floats | None
    loss: Loss | None
    classes: tuple[str, ...]
    weights: Floats
    units: Index
    fits: Index
    inflation: float = 1.0
    notes: tuple[str, ...] = ()
    total: float = 1.0

    def of_class(self, label: str | None) -> "Audited":
        """Return the rows with one of two classes as what is predicted; of others all stay."""
        if label is None or len(self.classes) != 2 or self.outputs == (label,):
            return self
        return replace(
            self,
            outputs=(label,),
            predicted=self.total - self.predicted,
            truth=None if self.truth is None else 1 - self.truth,
        )

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(np.unique(self.rows))

    @property
    def is_weighted(self) -> bool:
        """Whether rows count by a weight or an exposure."""
        return self.table.weights is not None


def audited_rows(
    model: Any,
    data: Any,
    protected: Any,
    *,
    test: Any = None,
    learner: str | None = None,
) -> Audited:
    """Return predictions and truth of the rows that an audit is about.

    Parameters
    ----------
    model
        A fitted model, the path of a model file, or a `Benchmark`, whose predictions are out of
        fold.
    data
        The rows that the model was fitted to; for a benchmark None, or its table with more columns.
    protected
        The protected columns, which are read too where the model does not use them.
    test
        Rows that the model was not fitted to: then the audit is about these.
    learner
        Of a benchmark, the learner; by default the best.
    """
    names = [protected] if isinstance(protected, str) else list(protected or ())
    if isinstance(model, Benchmark):
        return _out_of_fold(model, data, test, learner)
    if learner is not None:
        raise InputError(
            "a learner is chosen from a benchmark, and this is a model",
            parameter="learner",
            value=learner,
        )
    view = FittedModel(model)
    schema = view.schema
    if test is None and data is None:
        raise InputError("there are no rows to audit", parameter="data")
    table = read_with(data if test is None else test, schema, names)
    source: Source = "training rows" if test is None else "new rows"
    if table.target is None and (schema is None or schema.target not in table.names):
        audited = _without_target(FittedModel(view, table), table, source)
    else:
        audited = _of_evaluation(evaluate(view, table), source, view.given)
    if test is None:
        return audited
    training, notes = _training(data, schema, names)
    return replace(audited, training=training, notes=(*audited.notes, *notes))


def _training(
    data: Any, schema: Schema | None, names: Sequence[str]
) -> tuple[Table | None, tuple[str, ...]]:
    """Read the training rows as well as test rows, or note why they cannot be used."""
    try:
        return (None if data is None else read_with(data, schema, names)), ()
    except InputError as error:
        return None, (f"the training rows cannot be used: {str(error).rstrip('.')}",)


def model_rows(audited: Audited) -> Audited:
    """Return what the model of a benchmark predicts itself for the rows that its folds predict.

    The class that is looked at is the same.
    """
    own = _of_evaluation(evaluate(audited.model, audited.table), "training rows", audited.model)
    return own.of_class(audited.outputs[0])


def _out_of_fold(bench: Benchmark, data: Any, test: Any, learner: str | None) -> Audited:
    """Return the held-out predictions of a benchmark."""
    if test is not None:
        raise InputError(
            "a benchmark has held-out predictions of its own rows",
            parameter="test",
            hint=words("fit the learner and audit the model, or leave out ", Option("test"), "."),
        )
    name = bench.best().name if learner is None else learner
    evaluation = bench.evaluation(name)
    table = bench.context.table
    if data is not None:
        other = data if isinstance(data, Table) else as_table(data)
        if other.n_rows != table.n_rows:
            raise InputError(
                f"the data have {count(other.n_rows, 'row')}, and the benchmark {table.n_rows:,}",
                parameter="data",
                value=other.n_rows,
                hint="give the table that was benchmarked, or none.",
            )
        added = tuple(column for column in other.columns if column.name not in table.names)
        ignored = {column.name: other.role(column.name) for column in added}
        table = replace(table, columns=(*table.columns, *added), roles={**table.roles, **ignored})
        evaluation = replace(evaluation, table=table)
    return _of_evaluation(evaluation, "out of fold", bench.choose(name))


def _of_evaluation(evaluation: Evaluation, source: Source, model: Any) -> Audited:
    """Return the rows of an evaluation, with each class as an output."""
    known = np.flatnonzero(evaluation.weights > 0)
    truth, predicted = evaluation.truth[known], evaluation.predicted[known]
    outputs: tuple[str, ...] = (evaluation.what,)
    total = 1.0
    if not evaluation.classes:
        predicted, observed = predicted.reshape(-1, 1), truth.reshape(-1, 1)
    else:
        if evaluation.needs == "label":  # the predicted class as a probability of 0 or 1
            predicted = np.eye(len(evaluation.classes))[predicted.astype(np.intp)]
        elif predicted.ndim == 1:
            predicted, total = np.column_stack([-predicted, predicted]), 0.0
        shown = list(range(len(evaluation.classes)))
        shown = shown[-1:] if len(shown) == 2 else shown
        outputs = tuple(evaluation.classes[k] for k in shown)
        predicted = predicted[:, shown]
        observed = np.column_stack([truth == k for k in shown]).astype(np.float64)
    fits = evaluation.fits if len(evaluation.fits) else np.zeros(len(evaluation.rows), np.intp)
    return Audited(
        model=model,
        learner=evaluation.learner,
        what=evaluation.what,
        task=evaluation.task,
        table=evaluation.table,
        training=evaluation.table,
        source=source,
        rows=evaluation.rows[known],
        outputs=outputs,
        predicted=predicted,
        truth=observed,
        losses=evaluation.losses[known],
        loss=evaluation.loss,
        classes=evaluation.classes,
        weights=evaluation.weights[known],
        units=_codes(evaluation.units[known]),
        fits=np.asarray(fits[known], dtype=np.intp),
        inflation=evaluation.inflation,
        notes=tuple(str(note) for note in evaluation.notes),
        total=total,
    )


def _without_target(model: FittedModel, table: Table, source: Source) -> Audited:
    """Return predictions of rows whose target is not known."""
    schema = model.schema
    classes = model.labels
    what = (None if schema is None else schema.outcome) or "the prediction"
    if model.is_classifier:
        predicted = model.predict(table, scale="response")
        shown = [len(classes) - 1] if len(classes) == 2 else list(range(len(classes)))
        predicted, outputs = predicted[:, shown], tuple(classes[k] for k in shown)
    else:
        predicted, outputs = model.for_loss(table)[0][:, None], (what,)
    own = np.ones(table.n_rows) if table.weights is None else table.weights
    rows = np.flatnonzero(own > 0)
    return Audited(
        model=model.given,
        learner=model.name,
        what=what,
        task=model.task,
        table=table,
        training=table,
        source=source,
        rows=rows,
        outputs=outputs,
        predicted=predicted[rows],
        truth=None,
        losses=None,
        loss=None,
        classes=classes,
        weights=own[rows],
        units=rows if table.groups is None else _codes(table.groups[rows]),
        fits=np.zeros(len(rows), dtype=np.intp),
    )


def _codes(values: NDArray[Any]) -> Index:
    """Number the units without gaps."""
    return np.unique(values, return_inverse=True)[1].astype(np.intp)
