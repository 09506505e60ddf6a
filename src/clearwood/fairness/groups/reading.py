"""Rows that are read as those of a model, with protected columns that the model does not use."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from clearwood._shared.errors import ClearwoodWarning, InputError
from clearwood.table import Role, Schema, Table, as_table, read, read_as

__all__ = ["ReadRows", "read_both", "read_rows", "read_with"]


def read_with(source: Any, schema: Schema | None, columns: Sequence[str], **reading: Any) -> Table:
    """Read rows as the model's, together with protected columns that the model does not use.

    Parameters
    ----------
    source
        A table, a data frame or a path.
    schema
        The columns of the model; None for models of other libraries.
    columns
        The protected columns.
    **reading
        How cells of text files are written, as for `clearwood.read`.
    """
    if isinstance(source, Table):
        return source
    if schema is None:
        return as_table(source) if not reading else read(source, **reading)
    used = {c.name for c in schema.columns if c.role is not Role.IGNORED}
    more = [name for name in columns if schema.name_of(name) not in used]
    if not more:
        return read_as(source, schema, constant=True, **reading)
    with warnings.catch_warnings():
        # that the model does not use the protected columns is not news
        warnings.simplefilter("ignore", ClearwoodWarning)
        return _read_both(source, schema, more, reading)


def _read_both(
    source: Any, schema: Schema, more: Sequence[str], reading: Mapping[str, Any]
) -> Table:
    """Read the model's columns and others as well."""
    table = read_as(source, schema, constant=True, **reading)
    has_target = table.target is not None
    roles: dict[str, Any] = {
        "target": schema.target,
        "task": schema.task,
        "exposure": schema.exposure,
    }
    whole = read(source, **(roles if has_target else {}), **reading)
    added = [whole.column(name) for name in more]
    if whole.n_rows != table.n_rows:
        raise InputError(
            f"the column {more[0]!r} has {whole.n_rows:,} rows, and those of the model "
            f"{table.n_rows:,}",
            parameter="protected",
            value=more[0],
        )
    roles_of = {**table.roles, **{column.name: Role.IGNORED for column in added}}
    return replace(table, columns=(*table.columns, *added), roles=roles_of)


def read_rows(model: Any, data: Any, protected: Any = None) -> Table:
    """Return the data as a table: the model's columns with their roles, and protected ones."""
    names = (protected,) if isinstance(protected, str) else tuple(protected or ())
    return read_with(data, getattr(model, "schema_", None), names)


@dataclass(frozen=True, eq=False)
class ReadRows:
    """The rows that models are fitted to, and those that predictions are measured on.

    Parameters
    ----------
    training
        The rows of every fit; None where they are not given.
    measured
        The rows whose predictions are compared: the test rows, or those of the fit without any.
    """

    training: Table | None
    measured: Table

    @property
    def has_test(self) -> bool:
        """Whether other rows are measured than those of the fit."""
        return self.measured is not self.training

    def of_fits(self) -> Table:
        """Return the rows that models are fitted to, or refuse where they are not known."""
        if self.training is None:
            raise InputError(
                "models are fitted again to the training rows, and there are only test rows",
                parameter="data",
                hint="give the rows that the model was fitted to as well.",
            )
        return self.training


def read_both(model: Any, data: Any, test: Any, protected: Any = None) -> ReadRows:
    """Read the training rows, and the test rows where there are any."""
    training = None if data is None else read_rows(model, data, protected)
    if test is not None:
        return ReadRows(training, read_rows(model, test, protected))
    if training is None:
        raise InputError("there are no rows to compare", parameter="data")
    return ReadRows(training, training)
