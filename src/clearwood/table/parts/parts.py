"""A table whose rows stay where they are."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NoReturn, Protocol, Unpack

import numpy as np

from clearwood._shared.arrays import Bools
from clearwood._shared.checks import check_whole
from clearwood._shared.draws import draw_rows
from clearwood._shared.errors import Draw, InputError, Scan, Text, bad_value, did_you_mean, words
from clearwood._shared.numbers import count
from clearwood.table.column import Column
from clearwood.table.parts.finishing import Finish
from clearwood.table.parts.rows import MadeRows, Rows
from clearwood.table.roles.request import ReadOptions, ReadRequest
from clearwood.table.schema import Schema
from clearwood.table.summary import as_html, as_text
from clearwood.table.table import Table
from clearwood.table.types import Kind, Role, Task

__all__ = ["BATCH_ROWS", "Part", "Parts", "RowFilter", "joined", "needs_rows"]

#: Rows in a batch: large enough that numpy's calls cost nothing, small beside any memory.
BATCH_ROWS = 65_536
#: Rows in a part that a function makes, or that a large file is divided into.
PART_ROWS = 1 << 20

#: What a table offers and parts do not, because it needs the values of all rows.
_NEED_ROWS = frozenset(
    {
        "X",
        "by_header",
        "column",
        "columns",
        "exposures",
        "groups",
        "row_weights",
        "select",
        "take",
        "target_column",
        "times",
        "to_dict",
        "to_frame",
        "weights",
        "y",
    }
)


def needs_rows(what: str) -> InputError:
    """Return the error for work that needs the values of all rows in memory."""
    return InputError(
        f"{what} needs all rows in memory, but this table is in parts",
        parameter="data",
        hint=words(
            "take a sample of its rows, ",
            Draw(value=200_000),
            ", or read all of them if they fit, ",
            Scan(value=False),
            ". Learners such as 'lightgbm', 'xgboost', 'glm' and 'ridge' fit in parts.",
        ),
    )


class RowFilter(Protocol):
    """Decides which rows of a table in parts are used; small, so that it can be sent to workers."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the decision depends on."""
        ...

    def __call__(self, table: Table, first: int) -> Bools:
        """Return whether each row of a batch is used; ``first`` is the number of its first row."""
        ...

    def identity(self) -> Sequence[Any]:
        """Return plain values that differ where the decision may differ."""
        ...


@dataclass(frozen=True, eq=False)
class Part:
    """Some rows of a table that is read in parts: small, so that it can be sent to a worker.

    Parameters
    ----------
    name
        The file it is in, and where in it.
    n_rows
        How many rows it has, without those whose target is missing.
    rows
        Where they are.
    finish
        How they become tables.
    incomplete
        Whether rows without a target are left out.
    only, first
        Which of the rows are used, all of them when None; and the number of the first of all rows
        in the whole table.
    """

    name: str
    n_rows: int
    rows: Rows
    finish: Finish
    incomplete: bool = False
    only: RowFilter | None = None
    first: int = 0

    def __repr__(self) -> str:
        return f"Part({self.name!r}, {self.n_rows:,} rows)"

    def batches(
        self, n_rows: int = BATCH_ROWS, *, columns: Sequence[str] | None = None
    ) -> Iterator[Table]:
        """Read the rows, at most so many at a time, with the kinds and levels of the whole table.

        Parameters
        ----------
        n_rows
            The most rows of a batch.
        columns
            Columns to read, by name; all of them when None.

        Yields
        ------
        Table
        """
        n_rows = check_whole("n_rows", n_rows, 1)
        if self.only is not None:
            yield from self._used(self.only, n_rows, columns)
            return
        finish = self.finish.select(columns)
        target = self.finish.target if self.incomplete else None
        headers = None
        if columns is not None:
            needed = [*finish.headers(), *([] if target is None else [target.header])]
            headers = list(dict.fromkeys(needed))
        for table in finish.tables(self.rows.batches(n_rows, headers), target):
            if table.n_rows:
                yield table

    def _used(self, only: RowFilter, rows: int, columns: Sequence[str] | None) -> Iterator[Table]:
        """Read the rows that are used."""
        names = list(dict.fromkeys([*(columns or self.finish.empty.names), *only.columns]))
        first = self.first
        for table in replace(self, only=None).batches(rows, columns=names):
            used = only(table, first)
            first += table.n_rows
            if used.any():
                some = table if used.all() else table.take(np.flatnonzero(used))
                yield some if columns is None else some.select(list(columns))

    def table(self, *, columns: Sequence[str] | None = None) -> Table:
        """Read all rows of the part."""
        return joined(self.batches(columns=columns), self.finish.select(columns).empty)

    def identity(self) -> Sequence[Any]:
        """Return plain values that differ where the rows may differ."""
        known = self.rows.identity()
        return known if self.only is None else [*known, self.first, *self.only.identity()]


@dataclass(frozen=True, eq=False, repr=False)
class Parts:
    """A table whose rows stay where they are, in files or in a function that makes them.

    Made by `clearwood.scan`. Kinds, levels and roles are known from one reading of all rows; their
    values are read again, batch by batch, when they are needed.

    Parameters
    ----------
    parts
        The rows, part by part.
    empty
        The table without rows: columns, roles, task.
    missing
        How many values each column lacks.
    shown
        A few values of each column, among them the least and the greatest.
    dropped, notes, source, options
        As for `Table`.

    Examples
    --------
    >>> import numpy as np
    >>> from clearwood.table import Parts
    >>> def rows(start, stop):
    ...     x = np.arange(start, stop) % 1000 / 7
    ...     return {"x": x, "y": 2 * x + 0.5}
    >>> data = Parts.of(rows, 200_000, target="y")
    >>> data.n_rows, data.features, len(data.parts)
    (200000, ('x',), 1)
    >>> data.head(2).y
    array([0.5       , 0.78571429])
    >>> sum(batch.n_rows for batch in data.batches())
    200000
    """

    parts: tuple[Part, ...]
    empty: Table
    missing: Mapping[str, int] = field(default_factory=dict)
    shown: tuple[Column, ...] = ()
    dropped: int = 0
    notes: tuple[Text, ...] = ()
    source: str = ""
    options: Mapping[str, Any] | None = None

    @classmethod
    def of(
        cls,
        function: Callable[[int, int], Any],
        n_rows: int,
        *,
        part_rows: int = PART_ROWS,
        **options: Unpack[ReadOptions],
    ) -> "Parts":
        """Make a table of rows that a function makes when they are needed.

        Parameters
        ----------
        function
            Makes the rows from number ``start`` to before ``stop``: a data frame, an array or a
            dict of columns. It must give the same rows whenever it is called, also if they are
            asked for in other pieces. To send parts to other processes it must be possible to
            pickle it.
        n_rows
            How many rows there are.
        part_rows
            Rows in a part.
        **options
            As for `clearwood.scan`: target, weight, kinds, ...

        Returns
        -------
        Parts
        """
        from clearwood.table.parts.survey import survey

        n_rows = check_whole("n_rows", n_rows, 1)
        part_rows = check_whole("part_rows", part_rows, 1)
        if not callable(function):
            raise bad_value("function", function, "it must be a function of start and stop")
        named = []
        for start in range(0, n_rows, part_rows):
            rows = MadeRows(function, start, min(start + part_rows, n_rows))
            named.append((f"rows {rows.start:,} to {rows.stop:,}", rows))
        parts = survey(named, ReadRequest.of(**options), "a function")
        return replace(parts, options=options)

    def __len__(self) -> int:
        return self.n_rows

    def __getattr__(self, name: str) -> NoReturn:
        if name in _NEED_ROWS:
            raise needs_rows(name)
        raise AttributeError(f"'Parts' object has no attribute {name!r}")

    def __getitem__(self, key: Any) -> NoReturn:
        raise needs_rows(f"data[{key!r}]")

    def __iter__(self) -> NoReturn:
        raise needs_rows("iterating over columns")

    @cached_property
    def n_rows(self) -> int:
        """How many rows it has."""
        return sum(part.n_rows for part in self.parts)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.n_rows, len(self.names)

    @property
    def schema(self) -> Schema:
        """The table without its rows."""
        return self.empty.schema

    @property
    def names(self) -> tuple[str, ...]:
        """All column names in order."""
        return self.empty.names

    @property
    def roles(self) -> Mapping[str, Role]:
        """What columns are used for; those not named are features."""
        return self.empty.roles

    def role(self, name: str) -> Role:
        """Return what a column is used for."""
        return self.empty.role(name)

    def kind(self, name: str) -> Kind:
        """Return what a column holds."""
        return self.empty.kind(name)

    @property
    def task(self) -> Task | None:
        """What is predicted; None where no target is named."""
        return self.empty.task

    @property
    def features(self) -> tuple[str, ...]:
        """The columns a model may see, protected ones included."""
        return self.empty.features

    @property
    def n_features(self) -> int:
        """How many columns a model may see."""
        return len(self.features)

    @property
    def protected(self) -> tuple[str, ...]:
        """The features that audits report on separately."""
        return self.empty.protected

    @property
    def target(self) -> str | None:
        """The name of the column to predict."""
        return self.empty.target

    @property
    def outcome(self) -> str | None:
        """What a prediction is of: the target, with an exposure as a rate: "claims per year"."""
        return self.empty.outcome

    @property
    def exposure(self) -> str | None:
        """The name of the column that the target is divided by."""
        return self.empty.exposure

    @property
    def group(self) -> str | None:
        """What ties rows together: the name of a column, "identical rows", or None."""
        return self.empty.group

    @property
    def keeps_identical(self) -> bool:
        """Whether rows with identical features are one group."""
        return self.empty.keeps_identical

    @property
    def monotone(self) -> Mapping[str, str]:
        """Columns with which predictions of the target rise ("up") or fall ("down")."""
        return self.empty.monotone

    @property
    def kinds(self) -> dict[str, Kind]:
        """What each column holds."""
        return self.empty.kinds

    @property
    def levels(self) -> dict[str, tuple[str, ...]]:
        """The levels of each coded column."""
        return self.empty.levels

    def batches(
        self, n_rows: int = BATCH_ROWS, *, columns: Sequence[str] | None = None
    ) -> Iterator[Table]:
        """Read all rows, at most so many at a time.

        Parameters
        ----------
        n_rows
            The most rows of a batch.
        columns
            Columns to read, by name; all of them when None.

        Yields
        ------
        Table
        """
        for part in self.parts:
            yield from part.batches(n_rows, columns=columns)

    def head(self, n: int = 5) -> Table:
        """Return the first n rows as a table."""
        return self._rows_at(np.arange(min(n, self.n_rows)))

    def sample(self, n: int, *, seed: int = 0) -> Table:
        """Return rows drawn at random without replacement, in their order; all if there are fewer.

        Parameters
        ----------
        n
            How many rows.
        seed
            Decides which; the rows do not depend on parts and batches.

        Returns
        -------
        Table
        """
        return self._rows_at(draw_rows(self.n_rows, check_whole("n", n, 1), seed=seed))

    def _rows_at(self, wanted: Any) -> Table:
        """Read some rows, by rising position; parts that have none of them are not read."""
        taken: list[Table] = []
        start = 0
        for part in self.parts:
            stop = start + part.n_rows
            first, last = np.searchsorted(wanted, [start, stop])
            if first < last:
                taken += _picked(part, wanted[first:last] - start)
            start = stop
        return joined(taken, self.empty)

    def only(self, used: RowFilter, n_rows: Sequence[int]) -> "Parts":
        """Return the table of some of its rows, which stay where they are.

        Parameters
        ----------
        used
            Decides which rows.
        n_rows
            How many of them each part has.

        Returns
        -------
        Parts
            ``missing``, ``shown`` and the levels are still those of all rows.
        """
        firsts = np.cumsum([0, *(part.n_rows for part in self.parts)]).tolist()
        parts = tuple(
            replace(part, only=used, first=first, n_rows=int(n))
            for part, first, n in zip(self.parts, firsts, n_rows, strict=False)
        )
        return replace(self, parts=parts, dropped=0)

    def to_table(self) -> Table:
        """Read all rows into memory."""
        table = joined(self.batches(), self.empty)
        return replace(table, dropped=self.dropped, notes=self.notes)

    def fingerprint(self) -> str:
        """Return a SHA-256 of where the rows are, what the files were like, and the schema.

        It does not read the rows: it differs where a file has another size, time or name.
        """
        known = [part.identity() for part in self.parts]
        text = json.dumps([known, self.schema.to_json()], default=str)
        return hashlib.sha256(text.encode()).hexdigest()

    def to_json(self) -> dict[str, Any]:
        """Return the schema, counts, notes and parts as plain JSON values, without the rows."""
        return {
            **self.schema.to_json(),
            "rows": self.n_rows,
            "dropped": self.dropped,
            "missing": dict(self.missing),
            "notes": [str(note) for note in self.notes],
            "source": self.source,
            "parts": [{"name": part.name, "rows": part.n_rows} for part in self.parts],
        }

    def check_column(self, name: str) -> str:
        """Return what a column is called, by its name or its header; refuse unknown ones."""
        if name not in self.names:
            column = self.empty.schema.name_of(name)
            if column not in self.names:
                raise InputError(
                    f"there is no column {name!r}",
                    parameter="column",
                    value=name,
                    hint=did_you_mean(str(name), self.names),
                )
            return column
        return name

    def __repr__(self) -> str:
        return as_text(self, self.shown, held=self._held)

    def _repr_html_(self) -> str:
        return as_html(self, self.shown, held=self._held)

    @property
    def _held(self) -> str:
        return f"in {count(len(self.parts), 'part')}"


def _picked(part: Part, wanted: Any) -> Iterator[Table]:
    start = 0
    for table in part.batches():
        stop = start + table.n_rows
        first, last = np.searchsorted(wanted, [start, stop])
        if first < last:
            yield table.take(wanted[first:last] - start)
        if last == len(wanted):
            return
        start = stop


def joined(tables: Any, empty: Table) -> Table:
    """Return the rows of tables with the same schema as one table."""
    tables = list(tables)
    if not tables:
        return replace(empty, options=None)
    columns = tuple(
        replace(column, values=np.concatenate([table.columns[i].values for table in tables]))
        for i, column in enumerate(empty.columns)
    )
    table = replace(empty, columns=columns, options=None)
    table.__dict__["schema"] = empty.schema
    return table
