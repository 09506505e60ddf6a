"""The table every model, benchmark and explanation starts from."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import InputError, Option, Text, did_you_mean, words
from clearwood.table.column import Column
from clearwood.table.identical import IDENTICAL_ROWS, identical_rows
from clearwood.table.schema import ColumnSchema, Schema
from clearwood.table.summary import as_html, as_text
from clearwood.table.types import Kind, Role, Task

__all__ = ["Table"]


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Named columns with their kinds and roles.

    Read by `clearwood.read`. Indexing by rows returns a smaller table, by a name a column.

    Parameters
    ----------
    columns
        All columns, in the order of the source.
    roles
        What columns are used for; those not named are features.
    task
        What is predicted; None where no target is named.
    dropped
        Rows left out because the target was missing.
    notes
        Remarks about the data: identifiers, constant columns, text left out.
    source
        What it was read from.
    keeps_identical
        Whether rows with identical features are one group (``group="identical rows"``).
    monotone
        Columns with which predictions of the target rise ("up") or fall ("down"); every learner
        that is fitted to the table keeps to it.
    options
        What was passed to `clearwood.read` beside the source; None for a part of a table.

    Examples
    --------
    >>> import clearwood as cw
    >>> data = cw.datasets.load("diabetes")
    >>> data.n_rows, data.target, str(data.task)
    (442, 'target', 'regression')
    """

    columns: tuple[Column, ...]
    roles: Mapping[str, Role] = field(default_factory=dict)
    task: Task | None = None
    dropped: int = 0
    notes: tuple[Text, ...] = ()
    source: str = ""
    keeps_identical: bool = False
    monotone: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Any] | None = None

    def __len__(self) -> int:
        return self.n_rows

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return self.column(key)
        # scikit-learn's splitters index arrays with [rows, ...]
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:
            key = key[0]
        return self.take(key)

    @property
    def n_rows(self) -> int:
        """How many rows it has."""
        return len(self.columns[0]) if self.columns else 0

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns; scikit-learn's splitters count rows with it."""
        return self.n_rows, len(self.columns)

    @property
    def names(self) -> tuple[str, ...]:
        """All column names in order."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def _by_name(self) -> dict[str, Column]:
        by_header = {column.header: column for column in self.columns if column.header}
        return by_header | {column.name: column for column in self.columns}

    def column(self, name: str) -> Column:
        """Return one column, by its name or its header; the error offers the nearest names."""
        try:
            return self._by_name[name]
        except KeyError:
            raise InputError(
                f"there is no column {name!r}",
                parameter="column",
                value=name,
                hint=did_you_mean(str(name), self.names),
            ) from None

    def role(self, name: str) -> Role:
        """Return what a column is used for."""
        return self.roles.get(self.column(name).name, Role.FEATURE)

    def _with_role(self, role: Role) -> Column | None:
        return next((c for c in self.columns if self.roles.get(c.name) is role), None)

    @property
    def features(self) -> tuple[str, ...]:
        """The columns a model may see, protected ones included."""
        return self.schema.features

    @property
    def protected(self) -> tuple[str, ...]:
        """The features that audits report on separately."""
        return tuple(c.name for c in self.columns if self.roles.get(c.name) is Role.PROTECTED)

    @property
    def target(self) -> str | None:
        """The name of the column to predict."""
        return self.schema.target

    @property
    def n_features(self) -> int:
        """How many columns a model may see."""
        return len(self.features)

    @cached_property
    def missing(self) -> dict[str, int]:
        """How many values each column lacks."""
        return {column.name: column.n_missing for column in self.columns}

    @property
    def kinds(self) -> dict[str, Kind]:
        """What each column holds."""
        return {column.name: column.kind for column in self.columns}

    @property
    def levels(self) -> dict[str, tuple[str, ...]]:
        """The levels of each coded column."""
        return {column.name: column.levels for column in self.columns if column.is_coded}

    @cached_property
    def schema(self) -> Schema:
        """The table without its rows."""
        columns = (
            ColumnSchema(
                c.name,
                c.kind,
                self.roles.get(c.name, Role.FEATURE),
                c.levels,
                c.header,
                c.unit,
                c.description,
                c.decimal,
                self.monotone.get(c.name, ""),
                _label_type(c, self.roles.get(c.name)),
                c.missing_codes,
            )
            for c in self.columns
        )
        return Schema(tuple(columns), self.task, self.keeps_identical)

    @property
    def X(self) -> "Table":  # noqa: N802 - the field's name for features
        """The features, without target, weights and the like."""
        return self.select(self.features)

    @property
    def y(self) -> NDArray[Any]:
        """The target: numbers for regression and counts, labels as written for classes.

        Where an exposure is named, it is the rate: the target divided by the exposure.
        """
        return self._typed_values(self.target_column)

    @property
    def target_column(self) -> Column:
        """The column that is predicted; with an exposure, the rate per unit of it."""
        column = self._with_role(Role.TARGET)
        if column is None:
            raise InputError(
                "the table has no target",
                parameter="target",
                hint=words("name the column to predict: ", Option("target", "COLUMN"), "."),
            )
        if self.exposures is None:
            return column
        return replace(
            column, kind=Kind.NUMBER, values=np.asarray(column.values / self.exposures), decimal=""
        )

    @staticmethod
    def _typed_values(column: Column) -> NDArray[Any]:
        if column.is_coded:
            labels: NDArray[Any] = column.typed_levels()[column.values]
            return labels
        return column.values

    @property
    def weights(self) -> Floats | None:
        """How much each row counts: its weight times its exposure; None where all count the same.

        A rate observed over twice the exposure has half the variance, so exposure is a weight in
        every fit, risk and mean.
        """
        weights, exposures = self.row_weights, self.exposures
        if weights is None or exposures is None:
            return exposures if weights is None else weights
        return weights * exposures

    @property
    def row_weights(self) -> Floats | None:
        """The weights that a column names, without the exposure."""
        column = self._with_role(Role.WEIGHT)
        return None if column is None else np.asarray(column.values, dtype=np.float64)

    @property
    def exposure(self) -> str | None:
        """The name of the column that the target is divided by."""
        return self.schema.exposure

    @property
    def exposures(self) -> Floats | None:
        """The exposure of each row, where an exposure column is named."""
        column = self._with_role(Role.EXPOSURE)
        return None if column is None else np.asarray(column.values, dtype=np.float64)

    @property
    def outcome(self) -> str | None:
        """What a prediction is of: the target, with an exposure as a rate: "claims per year"."""
        return self.schema.outcome

    @property
    def counted_by(self) -> str:
        """What rows count by: "rows", "weight", "exposure" or "exposure times weight"."""
        return self.schema.counted_by

    @property
    def group(self) -> str | None:
        """What ties rows together: the name of a column, "identical rows", or None."""
        column = self._with_role(Role.GROUP)
        if column is not None:
            return column.name
        return IDENTICAL_ROWS if self.keeps_identical else None

    @cached_property
    def groups(self) -> NDArray[Any] | None:
        """The group of each row (the same person, firm, ...), where rows are tied together."""
        if self.keeps_identical:
            return identical_rows(self.column(name) for name in self.features)
        column = self._with_role(Role.GROUP)
        return None if column is None else column.values

    @property
    def times(self) -> NDArray[Any] | None:
        """What orders rows in time, where a time column is named."""
        column = self._with_role(Role.TIME)
        return None if column is None else column.values

    def select(self, names: tuple[str, ...] | list[str]) -> "Table":
        """Return a table of some columns, in the order named."""
        columns = tuple(self.column(name) for name in names)
        roles = {c.name: self.roles[c.name] for c in columns if c.name in self.roles}
        task = self.task if Role.TARGET in roles.values() else None
        return replace(self, columns=columns, roles=roles, task=task, options=None)

    def by_header(self) -> "Table":
        """Return the table under the names in the data, for models of other libraries."""
        if not any(column.header for column in self.columns):
            return self
        columns = tuple(replace(c, name=c.header or c.name, header="") for c in self.columns)
        roles = {self.column(name).header or name: role for name, role in self.roles.items()}
        ways = {self.column(name).header or name: way for name, way in self.monotone.items()}
        return replace(self, columns=columns, roles=roles, monotone=ways)

    def take(self, rows: Any) -> "Table":
        """Return a table of some rows, by position, mask or slice."""
        rows = rows if isinstance(rows, slice) else np.atleast_1d(np.asarray(rows))
        columns = tuple(column.take(rows) for column in self.columns)
        taken = replace(self, columns=columns, options=None)
        taken.__dict__["schema"] = self.schema  # the same, whichever rows are taken
        return taken

    def without_zero_weights(self) -> "Table":
        """Return the rows that count: those with a weight above 0."""
        weights = self.weights
        return self if weights is None or weights.all() else self.take(weights > 0)

    def head(self, n: int = 5) -> "Table":
        """Return the first n rows."""
        return self.take(slice(0, n))

    def kind(self, name: str) -> Kind:
        """Return what a column holds."""
        return self.column(name).kind

    def to_frame(self, library: str | None = None) -> Any:
        """Return a data frame, of pandas, polars or Arrow, whichever is installed first.

        Parameters
        ----------
        library
            "pandas", "polars" or "pyarrow" to choose; "dict" for a dict of lists, which is also
            what comes where none of them is installed.
        """
        from clearwood.table.export import to_frame

        return to_frame(self, library)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return each column as a list of plain values, None for missing.

        Examples
        --------
        >>> import clearwood as cw
        >>> cw.read({"town": ["Chur", None, "Bern", "Chur"]}).to_dict()
        {'town': ['Chur', None, 'Bern', 'Chur']}
        """
        from clearwood.table.export import to_dict

        return to_dict(self)

    def to_json(self) -> dict[str, Any]:
        """Return the schema, counts, notes and values as plain JSON values."""
        from clearwood.table.export import to_json

        return to_json(self)

    def fingerprint(self) -> str:
        """Return a SHA-256 of names and values, whatever their order, kinds and roles."""
        from clearwood.table.export import fingerprint

        return fingerprint(self)

    def __repr__(self) -> str:
        return as_text(self, self.columns, n_zero_weight=self._zero_weights)

    def _repr_html_(self) -> str:
        return as_html(self, self.columns, n_zero_weight=self._zero_weights)

    @property
    def _zero_weights(self) -> int:
        return 0 if self.row_weights is None else int(np.count_nonzero(self.row_weights == 0))


def _label_type(column: Column, role: Role | None) -> str:
    """Return what the labels of a target of classes are, where they are numbers."""
    is_target = role is Role.TARGET and column.kind in (Kind.CATEGORY, Kind.ORDERED)
    return column.label_type if is_target and column.label_type in ("integer", "number") else ""
