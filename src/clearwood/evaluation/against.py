"""Another prediction of the same quantity, that a model is compared with."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.errors import InputError, bad_value
from clearwood._shared.numbers import count
from clearwood.evaluation.predicting import classes_of, predicted_by, task_of
from clearwood.models import load
from clearwood.table import Table, read_as

__all__ = ["Other", "check_positive", "other_of"]


@dataclass(frozen=True, eq=False)
class Other:
    """Another prediction of every row.

    Parameters
    ----------
    name
        What it is called.
    predicted
        Of each row of the table; of classes, one column of probabilities a class, in the order of
        the model's classes.
    """

    name: str
    predicted: Floats


def other_of(
    against: Any, table: Table, classes: Sequence[str], *, own: str, source: Any = None
) -> Other:
    """Return the predictions of another model for the rows of a table.

    Parameters
    ----------
    against
        A model with ``predict`` or ``predict_proba``, the path of a model file, or an `Other`.
    table
        The rows, with a target.
    classes
        The labels of the model that is evaluated; empty for numbers.
    own
        The name of that model.
    source
        What the table was read from, or the same rows as a table with the columns of the other
        model: it may use columns that the table left out.

    Raises
    ------
    InputError
        If the other model predicts something else, or has no probabilities.
    """
    if isinstance(against, Other):
        return _checked(against, table)
    name = None
    if isinstance(against, str | os.PathLike):
        name = Path(against).name
        against = load(against)
    name = name or getattr(against, "name", None) or type(against).__name__
    name = str(name) if str(name) != own else f"the other {own}"
    rows = _rows(against, table, source)
    task = task_of(against, rows)
    target = table.target
    if task.is_classification != bool(classes):
        raise _another(name, f"{target!r} is {'a class' if classes else 'a number'}")
    predicted, needs = predicted_by(against, rows, task)
    if needs == "label":
        raise _another(name, "it has no probabilities")
    if classes:
        labels = classes_of(against, task, rows)
        if sorted(labels) != sorted(classes):
            raise _another(name, f"its classes are {', '.join(map(repr, labels))}")
        predicted = predicted[:, [list(labels).index(label) for label in classes]]
    return _checked(Other(name, predicted), table)


def _rows(model: Any, table: Table, source: Any) -> Table:
    """Return the rows with the columns of another model."""
    schema = getattr(model, "schema_", None)
    if schema is None:
        return table
    if schema.target is not None and schema.target != table.target:
        raise _another(str(getattr(model, "name", "model")), f"its target is {schema.target!r}")
    if schema.exposure != table.exposure:
        per = "no exposure" if schema.exposure is None else f"the exposure {schema.exposure!r}"
        raise _another(str(getattr(model, "name", "model")), f"it was fitted with {per}")
    if source is None or isinstance(source, Table):
        return table if source is None else source
    return read_as(source, schema, constant=True)


def _checked(other: Other, table: Table) -> Other:
    if len(other.predicted) != table.n_rows:
        raise bad_value(
            "against",
            other.name,
            f"it has {count(len(other.predicted), 'prediction')} for {count(table.n_rows, 'row')}",
        )
    return Other(other.name, np.asarray(other.predicted, dtype=np.float64))


def _another(name: str, why: str) -> InputError:
    return InputError(
        f"{name!r} predicts another quantity: {why}",
        parameter="against",
        value=name,
        hint="both predictions must be of the same target, in the same unit.",
    )


def check_positive(name: str, predicted: Floats, rows: Index, *, is_share: bool = False) -> None:
    """Refuse another prediction that is missing, not positive or, of a class, above 1 somewhere."""
    n_rows = len(np.unique(rows))
    for is_bad, word, hint in (
        (~np.isfinite(predicted), "missing", "leave these rows out: every row needs both."),
        (predicted <= 0, "not positive", "a double lift compares two predictions by their ratio."),
        (predicted > (1 if is_share else np.inf), "above 1", "it must be a probability."),
    ):
        bad = len(np.unique(rows[is_bad]))
        if bad:
            raise InputError(
                f"the prediction {name!r} is {word} in {count(bad, 'row')} of {n_rows:,}",
                parameter="against",
                value=name,
                hint=hint,
            )
