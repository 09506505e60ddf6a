"""`clearwood.evaluate`: a fitted model on rows whose target is known."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats
from clearwood._shared.checks import check_confidence
from clearwood._shared.errors import Call, InputError, Text, words
from clearwood._shared.numbers import count
from clearwood.checks import Drift, drift
from clearwood.evaluation.against import other_of
from clearwood.evaluation.predicting import classes_of, predicted_by, task_of
from clearwood.evaluation.result import Evaluation
from clearwood.evaluation.task_measures import check_threshold
from clearwood.evaluation.truth import truth_of
from clearwood.models import load
from clearwood.table import Role, Schema, Table, as_table, read_as

__all__ = ["evaluate"]

#: With fewer rows an evaluation is refused, and with fewer than these it has a remark.
_FEWEST_ROWS, _FEW_ROWS = 5, 100


def evaluate(
    model: Any,
    test: Any,
    data: Any = None,
    *,
    against: Any = None,
    threshold: float = 0.5,
    confidence: float = 0.9,
    name: str | None = None,
) -> Evaluation:
    """Evaluate a fitted model on rows that it was not fitted to.

    Parameters
    ----------
    model
        A fitted `Learner`, the path of a model file, or anything with ``predict`` or
        ``predict_proba`` that takes a data frame of the features.
    test
        Rows with the target: a table, a data frame or a path. Weight, exposure and group are those
        of the rows the model was fitted to, where it is a `Learner`.
    data
        The rows that the model was fitted to, to state how far the new ones differ from them.
    against
        Another prediction of the same quantity, that the model is compared with in a double lift: a
        column of the new rows, such as the current premium per unit of exposure, another fitted
        model, or the path of its file.
    threshold
        Of two classes, the second is predicted where its probability is above this.
    confidence
        The level of all intervals.
    name
        What the model is called; by default the name of the learner.

    Returns
    -------
    Evaluation

    Raises
    ------
    InputError
        If the rows have no target or lack a column of the model, are too few, or if the other
        prediction is missing or not positive somewhere.

    Examples
    --------
    >>> import clearwood as cw
    >>> data = cw.datasets.load("breast_cancer")
    >>> model = cw.learner("logistic").fit(data.take(slice(0, 300)))
    >>> result = cw.evaluate(model, data.take(slice(300, None)))
    >>> result.measures().interval("auc")[0] > 0.95
    True
    """
    check_threshold(threshold)
    check_confidence(confidence)
    if isinstance(model, str | os.PathLike):
        model = load(model)
    schema = getattr(model, "schema_", None)
    column = against if isinstance(against, str) and not _is_file(against, test) else None
    table = _with_target(test, schema, column, data)
    task = task_of(model, table)
    classes = classes_of(model, task, table)
    predicted, needs = predicted_by(model, table, task)
    called = name or getattr(model, "name", None) or type(model).__name__
    other = None
    if against is not None and column is None:
        source = None if isinstance(test, Table) else test
        other = other_of(against, table, classes, own=called, source=source)
    truth, known = truth_of(table, classes)
    notes = list(_left_out(table, known, classes))
    rows = np.flatnonzero(known)
    if len(rows) < _FEWEST_ROWS:
        raise InputError(
            f"{count(len(rows), 'row')} with a known {table.target!r} "
            f"{'is' if len(rows) == 1 else 'are'} too few; an evaluation needs {_FEWEST_ROWS} or "
            "more",
            parameter="test",
            value=len(rows),
        )
    levels = _new_levels(table, schema)
    shifted = None if data is None else _shift(data, table, schema)
    notes += _remarks(table, truth[rows], predicted[rows], classes, levels, shifted)
    result = Evaluation(
        learner=called,
        what=str(table.outcome),
        task=task,
        source="new rows",
        table=table,
        rows=rows,
        truth=truth[rows],
        predicted=predicted[rows],
        classes=tuple(classes),
        needs=needs,
        confidence=confidence,
        threshold=threshold,
        against=column if other is None else other.name,
        others={} if other is None else {other.name: other.predicted[rows]},
        drift=shifted,
        new_levels=levels,
        notes=tuple(notes),
    )
    if result.against is not None:
        result.lift(against=result.against)  # refuses what cannot be compared with
    return result


def _is_file(against: str, test: Any) -> bool:
    """Return whether a name is that of a model file; a column of that name comes first."""
    names = test.names if isinstance(test, Table) else getattr(test, "columns", ())
    return against not in list(names) and Path(against).is_file()


def _with_target(test: Any, schema: Schema | None, against: str | None, data: Any) -> Table:
    """Return the new rows as a table with the target that the model predicts."""
    table = _read(test, schema, against, data)
    if table.target is None:
        named = None if schema is None else schema.target
        raise InputError(
            "the rows to evaluate have no target"
            if named is None
            else f"the rows to evaluate lack the target {named!r}",
            parameter="test",
            hint=words(
                "predictions can only be compared with what was observed; name the target: ",
                Call("read", ("data",), {"target": "…"}),
            )
            if named is None
            else "predictions can only be compared with what was observed.",
        )
    if against is not None:
        table.column(against)  # refuses one that is not there
    return table


def _read(test: Any, schema: Schema | None, against: str | None, data: Any) -> Table:
    keep = () if against is None else (against,)
    if isinstance(test, Table):
        return test if schema is None or schema.target is None else _in_roles(test, schema)
    if schema is not None:
        return read_as(test, schema, keep=keep, constant=True)
    if isinstance(data, Table) and data.target is not None:
        return read_as(test, data.schema, keep=keep, constant=True)
    return as_table(test)


def _in_roles(test: Table, schema: Schema) -> Table:
    """Return a table whose target and exposure are those of the model."""
    if test.target is None and schema.target in test.names:
        beside = (Role.TARGET, Role.EXPOSURE, Role.WEIGHT, Role.GROUP)
        roles = {
            c.name: c.role for c in schema.columns if c.role in beside and c.name in test.names
        }
        test = replace(test, roles={**test.roles, **roles}, task=schema.task)
    for role in ("target", "exposure"):
        own, wanted = getattr(test, role), getattr(schema, role)
        same = wanted is None if own is None else schema.name_of(own) == wanted
        if test.target is not None and not same:
            raise InputError(
                f"the rows to evaluate have {_named(role, own)}, and the model was fitted with "
                f"{_named(role, wanted)}",
                parameter="test",
                value=own,
                hint="what is observed and what is predicted must be the same quantity.",
            )
    return test


def _named(role: str, name: str | None) -> str:
    return f"no {role}" if name is None else f"the {role} {name!r}"


def _left_out(table: Table, known: NDArray[Any], classes: Sequence[str]) -> list[Text]:
    """Say which rows do not count: no target, or a class that the model does not know."""
    notes: list[Text] = []
    if table.dropped:
        notes.append(f"{count(table.dropped, 'row')} without {table.target!r} left out")
    if classes and not known.all():
        missing = table.target_column.missing
        column = table.target_column
        labels = {str(label) for label in column.labels()[~known & ~missing]}
        if labels:
            shown = ", ".join(map(repr, sorted(labels)[:3]))
            notes.append(
                f"{count(int((~known).sum()), 'row')} left out, with classes that the model "
                f"does not predict: {shown}"
            )
    return notes


def _new_levels(table: Table, schema: Schema | None) -> dict[str, tuple[str, ...]]:
    """Return the levels of each feature that the model was not fitted with."""
    if schema is None:
        return {}
    levels = {}
    for name in schema.features:
        if name not in table.names or not schema[name].levels:
            continue
        column = table.column(name)
        if column.is_coded:
            used = {column.levels[code] for code in np.unique(column.values) if code >= 0}
            new = sorted(used - set(schema[name].levels))
            if new:
                levels[name] = tuple(new)
    return levels


def _shift(data: Any, table: Table, schema: Schema | None) -> Drift:
    """Compare the distributions of the columns with those the model was fitted to."""
    first = data
    if not isinstance(data, Table):
        first = as_table(data) if schema is None else read_as(data, schema)
    names = [name for name in first.features if name in table.names]
    return drift(first, table, columns=names, names=("rows of the fit", "new rows"))


def _remarks(
    table: Table,
    truth: Floats,
    predicted: Floats,
    classes: Sequence[str],
    levels: dict[str, tuple[str, ...]],
    shifted: Drift | None,
) -> list[Text]:
    """Return what the reader should know about the rows."""
    notes: list[Text] = []
    if len(truth) < _FEW_ROWS:
        notes.append(f"{count(len(truth), 'row')} are few: intervals are wide and approximate")
    if classes and len(np.unique(truth)) < 2:
        label = classes[int(truth[0])]
        notes.append(f"all rows have the class {label!r}, so nothing can be said about the ranking")
    flat = predicted.reshape(len(predicted), -1)
    if (flat == flat[0]).all():
        notes.append("all predictions are equal, so calibration has no slope and no curve")
    for name, new in levels.items():
        shown = ", ".join(map(repr, new[:3])) + (", …" if len(new) > 3 else "")
        rows = int(np.isin(table.column(name).labels().astype(object), list(new)).sum())
        notes.append(
            f"{count(rows, 'row')} have levels of {name!r} that the model was not fitted "
            f"with: {shown}"
        )
    if shifted is not None and shifted.differing:
        most = ", ".join(repr(entry.column) for entry in shifted.differing[:4])
        notes.append(
            f"{count(len(shifted.differing), 'column')} "
            f"{'differs' if len(shifted.differing) == 1 else 'differ'} from the rows of the fit, "
            f"most of all {most}: the measures are those of another population"
        )
    return notes
