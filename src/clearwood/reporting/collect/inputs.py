"""What the user gave, checked once at the door."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from clearwood._shared.errors import InputError
from clearwood.benchmarking import Benchmark
from clearwood.explanation import Explained
from clearwood.forest import Forest
from clearwood.models import Learner
from clearwood.table import Table, Task, as_table, read_as

__all__ = ["Given", "check"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Given:
    """A model and its data, fit to be explained.

    Parameters
    ----------
    model, name
        As given, and what to call it.
    table
        All rows, with the target where it is known.
    features
        The columns that the model uses.
    task, classes
        What is predicted; labels in the order of the columns of probabilities.
    benchmark, chosen
        The comparison, and which of its learners the model is.
    same_rows
        Whether the benchmark's rows are the table's.
    test
        Held-out rows.
    """

    model: Any
    name: str
    table: Table
    features: tuple[str, ...]
    task: Task | None
    classes: tuple[str, ...]
    benchmark: Benchmark | None
    chosen: str | None
    same_rows: bool
    test: Table | None


def check(model: Any, data: Any, benchmark: Any, test: Any) -> Given:
    """Refuse what no page can be made of, in the user's words.

    Raises
    ------
    InputError
        Where the model is not fitted or is none, where the data lacks a column, and where the
        benchmark is something else.
    """
    if benchmark is not None and not isinstance(benchmark, Benchmark):
        raise InputError(
            f"benchmark is a {type(benchmark).__name__}, not the result of a benchmark",
            hint="cw.report(model, data, benchmark=cw.benchmark(data)).",
        )
    table = _as_read(model, data)
    if not table.n_rows:
        raise InputError("the data has no rows")
    held_out = None if test is None else _as_read(model, test, like=table)
    # asks the model about a few rows, and so finds out what it is, whether it is fitted, and
    # whether the columns are there
    asked = Explained(model, table.head(5)).predictor()
    classes = tuple(str(label) for label in asked.scorer.classes)
    chosen, same_rows = None, False
    if benchmark is not None:
        chosen = _chosen(model, benchmark)
        same_rows = _same_rows(benchmark, table)
    return Given(
        model=model,
        name=_name(model),
        table=table,
        features=asked.names,
        task=_task(model, table, classes),
        classes=classes,
        benchmark=benchmark,
        chosen=chosen,
        same_rows=same_rows,
        test=held_out,
    )


def _as_read(model: Any, data: Any, like: Table | None = None) -> Table:
    """Give data as a table, with the target that the model, or the other table, knows."""
    if isinstance(data, Table):
        schema = model.schema_ if isinstance(model, Learner) and _is_fitted(model) else None
        absent = [] if schema is None else [n for n in schema.features if n not in data.names]
        if absent:
            as_table(data, schema=schema)  # says which columns are lacking
        return data
    if isinstance(model, Learner) and _is_fitted(model):
        if isinstance(data, np.ndarray | list | tuple):
            return as_table(data, schema=model.schema_)
        return read_as(data, model.schema_)
    if like is not None and like.target is not None:
        return read_as(data, like.schema)
    return as_table(data)


def _is_fitted(model: Learner) -> bool:
    return hasattr(model, "schema_")


def _chosen(model: Any, benchmark: Benchmark) -> str | None:
    """Give the learner of the benchmark that the model is: its name, with settings it allows."""
    name = getattr(model, "name", None)
    if not isinstance(name, str) or name not in benchmark.learners:
        return None
    contender = benchmark.context.contenders[name]
    judged = contender.build({}, seed=0)
    if not (isinstance(model, Learner) and isinstance(judged, Learner)):
        return name
    tuned = contender.space if benchmark.context.tuning is not None else {}
    same = all(
        model.all_settings[key] == value
        for key, value in judged.all_settings.items()
        if key not in tuned
    )
    return name if same else None


def _same_rows(benchmark: Benchmark, table: Table) -> bool:
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


def _task(model: Any, table: Table, classes: tuple[str, ...]) -> Task | None:
    if isinstance(model, Learner):
        return model.task_
    if table.task is not None and table.task.is_classification == bool(classes):
        return table.task
    if classes:
        return Task.BINARY if len(classes) == 2 else Task.MULTICLASS
    return table.task or Task.REGRESSION
