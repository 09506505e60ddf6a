"""What a report is made from, validated on entry."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import InputError
from clearwood.benchmarking import Benchmark
from clearwood.evaluation import in_roles
from clearwood.explanation import Explanation, Predictor
from clearwood.fitted import as_model
from clearwood.forest import Forest
from clearwood.models import Learner
from clearwood.table import Parts, Schema, Table, Task, as_table, read_as

__all__ = ["ReportInput", "held_out_rows", "report_input"]

#: Held-out rows that are taken of a table in parts.
_MOST_TEST_ROWS = 200_000
_FEW = 3


@dataclass(frozen=True, eq=False, kw_only=True)
class ReportInput:
    """A model over its data, the comparison it comes from and held-out rows.

    Parameters
    ----------
    explanation
        The model over the rows, imported once for the whole report.
    predictor
        The model as a function of these rows.
    name, task
        What to call the model, and what is predicted.
    benchmark, chosen
        The comparison, and the name of the learner in it that the model is.
    same_rows
        Whether the benchmark's rows are the table's.
    test, test_sampled_of
        Held-out rows; and where they are a sample of rows in parts, of how many.
    """

    explanation: Explanation
    predictor: Predictor
    name: str
    task: Task | None
    benchmark: Benchmark | None
    chosen: str | None
    same_rows: bool
    test: Table | None
    test_sampled_of: int | None = None

    @property
    def model(self) -> Any:
        """The model, as it was given."""
        return self.explanation.model

    @property
    def table(self) -> Table:
        """The rows."""
        table: Table = self.explanation.data
        return table

    @property
    def features(self) -> tuple[str, ...]:
        """The columns that the model uses."""
        return self.predictor.names

    @property
    def classes(self) -> tuple[str, ...]:
        """Labels in the order of the columns of probabilities; empty for numbers."""
        return tuple(str(label) for label in self.predictor.scorer.classes)

    @property
    def is_probability(self) -> bool:
        """Whether predictions are probabilities."""
        return self.predictor.unit.is_probability

    @property
    def title(self) -> str:
        """The heading of the page, unless the user gives one."""
        target = self.table.outcome
        if target is None and isinstance(self.model, Learner):
            target = self.model.schema_.outcome
        return f"{target}: {self.name}" if target else f"Report on {self.name}"

    def predict(self, rows: Table) -> Floats:
        """Predict rows: numbers, probabilities by class, or positions of predicted classes."""
        predictor = self.predictor
        if rows is not self.table:
            predictor = self.explanation.on(rows).predictor()
        predicted = predictor.predict(np.arange(rows.n_rows))
        n_classes = len(self.classes)
        if n_classes == 2 and predicted.shape[1] == 1:
            if self.is_probability:
                return np.column_stack([1 - predicted, predicted])
            return np.asarray(predicted[:, 0] > 0, np.float64)
        if n_classes > 2 and not self.is_probability:
            return np.asarray(predicted.argmax(axis=1), np.float64)
        return np.asarray(predicted[:, 0] if predicted.shape[1] == 1 else predicted)


def report_input(
    model: Any, data: Any, benchmark: Benchmark | None = None, test: Any = None, *, n_jobs: int = 1
) -> ReportInput:
    """Check what the user gave: the model, the columns of the data, the benchmark."""
    model = as_model(model)
    rows = _read(model, data)
    if not rows.n_rows:
        raise InputError("the data has no rows", parameter="data")
    held_out = None if test is None else held_out_rows(model, test, rows)
    explanation = Explanation(model, rows, n_jobs=n_jobs)
    predictor = explanation.predictor()
    # a model that cannot predict is refused before the work begins
    predictor.fresh().predict(np.arange(min(len(predictor), _FEW)))
    table = explanation.data
    chosen, same_rows = None, False
    if benchmark is not None:
        chosen = _chosen(model, benchmark)
        same_rows = _same_rows(benchmark, rows, table)
    return ReportInput(
        explanation=explanation,
        predictor=predictor,
        name=_name(model),
        task=_task(model, table, predictor),
        benchmark=benchmark,
        chosen=chosen,
        same_rows=same_rows,
        test=held_out.sample(_MOST_TEST_ROWS) if isinstance(held_out, Parts) else held_out,
        test_sampled_of=held_out.n_rows
        if isinstance(held_out, Parts) and held_out.n_rows > _MOST_TEST_ROWS
        else None,
    )


def held_out_rows(model: Any, test: Any, rows: Table | Parts) -> Table | Parts:
    """Return held-out rows, with the target wherever they have it."""
    table = _read(model, test, like=rows)
    schema = _schema_of(model) or rows.schema
    if isinstance(table, Parts) or schema.target is None:
        return table
    return in_roles(table, schema)


def _schema_of(model: Any) -> Schema | None:
    return model.schema_ if isinstance(model, Learner) and hasattr(model, "schema_") else None


def _read(model: Any, data: Any, like: Table | Parts | None = None) -> Table | Parts:
    """Return data as a table, with the target that the model, or the other table, has."""
    schema = _schema_of(model)
    if isinstance(data, Table | Parts):
        few = data.head(1) if isinstance(data, Parts) else data
        if schema is not None and any(name not in data.names for name in schema.features):
            as_table(few, schema=schema)  # raises, naming the columns that are missing
        if isinstance(model, Learner):
            model.check_outcome(few)
        return data
    if schema is not None:
        if isinstance(data, np.ndarray | list | tuple):
            return as_table(data, schema=schema)
        return read_as(data, schema, constant=like is not None)
    if like is not None and like.target is not None:
        return read_as(data, like.schema, constant=True)
    return as_table(data)


def _chosen(model: Any, benchmark: Benchmark) -> str | None:
    """Return the learner of the benchmark that the model is: its name, with settings it allows."""
    name = getattr(model, "name", None)
    if not isinstance(name, str) or name not in benchmark.learners:
        return None
    contender = benchmark.context.contenders[name]
    compared = contender.build({}, seed=0)
    if not (isinstance(model, Learner) and isinstance(compared, Learner)):
        return name
    tuned = contender.space if benchmark.context.tuning is not None else {}
    same = all(
        model.all_settings[key] == value
        for key, value in compared.all_settings.items()
        if key not in tuned
    ) and ("select" in tuned or model.select == compared.select)
    return name if same else None


def _same_rows(benchmark: Benchmark, rows: Table | Parts, table: Table) -> bool:
    if benchmark.in_parts is not None or isinstance(rows, Parts):
        known = None if benchmark.in_parts is None else benchmark.in_parts.fingerprint
        return known == rows.fingerprint()
    own = benchmark.context.table
    return own is table or (own.n_rows == table.n_rows and own.fingerprint() == table.fingerprint())


def _name(model: Any) -> str:
    if isinstance(model, Learner):
        return model.name
    if isinstance(model, Forest):
        return model.source
    if hasattr(model, "steps"):
        return f"pipeline that ends in {type(model.steps[-1][1]).__name__}"
    name = getattr(model, "name", None) or getattr(model, "__name__", None)
    if name == "<lambda>":
        return "a function"
    return str(name) if isinstance(name, str) else type(model).__name__


def _task(model: Any, table: Table, predictor: Predictor) -> Task | None:
    classes = tuple(predictor.scorer.classes)
    if isinstance(model, Learner):
        return model.task_
    if table.task is not None and table.task.is_classification == bool(classes):
        return table.task
    if classes:
        return Task.BINARY if len(classes) == 2 else Task.MULTICLASS
    return table.task or Task.REGRESSION
