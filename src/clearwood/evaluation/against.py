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
from clearwood.fitted import FittedModel
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
        A fitted model, the path of a model file, or an `Other`.
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
    model = FittedModel(against)
    name = Path(against).name if isinstance(against, str | os.PathLike) else model.name
    name = name if name != own else f"the other {own}"
    rows = _rows(model, table, source)
    model = FittedModel(model, rows)
    if model.is_classifier != bool(classes):
        raise _another(name, f"{table.target!r} is {'a class' if classes else 'a number'}")
    if sorted(model.labels) != sorted(classes):
        raise _another(name, f"its classes are {', '.join(map(repr, model.labels))}")
    predicted, needs = FittedModel(model, rows, classes=classes).for_loss(rows)
    if needs == "label":
        raise _another(name, "it has no probabilities")
    return _checked(Other(name, predicted), table)


def _rows(model: FittedModel, table: Table, source: Any) -> Table:
    """Return the rows with the columns of another model."""
    schema = model.schema
    if schema is None:
        return table
    if schema.target is not None and schema.target != table.target:
        raise _another(model.name, f"its target is {schema.target!r}")
    if schema.exposure != table.exposure:
        per = "no exposure" if schema.exposure is None else f"the exposure {schema.exposure!r}"
        raise _another(model.name, f"it was fitted with {per}")
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
