"""What all results share: a data frame, plain JSON values, a small table in a notebook."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from html import escape
from typing import Any, ClassVar

from clearwood._shared.frames import frame, plain

__all__ = ["Result", "TableResult", "document", "html_table"]

#: Letters of a cell that a printed table shows.
_WIDEST_CELL = 24


class Result:
    """A result that can be had as a data frame, as JSON and in a notebook.

    Subclasses are frozen dataclasses. By default JSON has every field, the frame is one row of
    them, and a notebook shows the text; a subclass overrides what it shows better.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Square(Result):
    ...     side: float
    ...     _derived = ("area",)
    ...
    ...     @property
    ...     def area(self):
    ...         return self.side**2
    >>> Square(3.0).to_json()
    {'side': 3.0, 'area': 9.0}
    >>> Square(float("nan")).to_frame("dict")
    {'side': [None], 'area': [None]}
    """

    #: Properties that JSON has beside the fields.
    _derived: ClassVar[tuple[str, ...]] = ()
    #: Fields too long for JSON.
    _omitted: ClassVar[tuple[str, ...]] = ()

    def _columns(self) -> Mapping[str, Any]:
        """Return the columns of the frame."""
        return {name: [value] for name, value in self.to_json().items()}

    def to_frame(self, library: str | None = None) -> Any:
        """Return a data frame.

        Parameters
        ----------
        library
            "pandas", "polars", "pyarrow" or "dict"; the first that is installed when None.
        """
        return frame(self._columns(), library)

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values; what is not a finite number becomes None."""
        names = [field.name for field in fields(self)]  # type: ignore[arg-type]
        shown = [
            name
            for name in (*names, *self._derived)
            if name not in self._omitted and not name.startswith("_")
        ]
        return document({name: getattr(self, name) for name in shown})

    def _repr_html_(self) -> str:
        return f'<pre class="clearwood-result">{escape(repr(self))}</pre>'


class TableResult(Result):
    """A result that is read as one table, with a headline above it and notes below it.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True, repr=False)
    ... class Shares(TableResult):
    ...     shares: dict[str, str]
    ...     notes = ("estimated",)
    ...
    ...     def _headline(self):
    ...         return "Shares of columns"
    ...
    ...     def _cells(self):
    ...         return ["column", "share"], [list(pair) for pair in self.shares.items()]
    >>> Shares({"age": "60 %", "bmi": "7 %"})
    Shares of columns
    <BLANKLINE>
    column  share
    age      60 %
    bmi       7 %
    note: estimated
    """

    @property
    def notes(self) -> tuple[str, ...]:
        """What the reader should know."""
        return ()

    def _headline(self) -> str:
        """Return what the table shows, in one line."""
        raise NotImplementedError

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        """Return the headings, and the rows as they are written."""
        raise NotImplementedError

    def _above(self) -> Sequence[str]:
        """Return lines between the headline and the table."""
        return ()

    def __repr__(self) -> str:
        headings, rows = self._cells()
        cut = [
            [cell if len(cell) <= _WIDEST_CELL else f"{cell[: _WIDEST_CELL - 1]}…" for cell in row]
            for row in rows
        ]
        widths = [max(map(len, cells)) for cells in zip(headings, *cut, strict=True)]
        table = [
            "  ".join(
                f"{cell:>{width}}" if k else f"{cell:<{width}}"
                for k, (cell, width) in enumerate(zip(cells, widths, strict=True))
            )
            for cells in (headings, *cut)
        ]
        notes = (f"note: {note}" for note in self.notes)
        return "\n".join([self._headline(), *self._above(), "", *table, *notes])

    def _repr_html_(self) -> str:
        headings, rows = self._cells()
        return html_table(self._headline(), headings, rows, [*self._above(), *self.notes])


def document(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return named values as plain JSON values.

    Examples
    --------
    >>> document({"columns": ("age", "bmi"), "share": float("inf")})
    {'columns': ['age', 'bmi'], 'share': None}
    """
    return {str(name): plain(value) for name, value in values.items()}


def html_table(
    caption: str, headings: Sequence[str], rows: Sequence[Sequence[str]], notes: Sequence[str] = ()
) -> str:
    """Write a small table for a notebook; every name and value is escaped."""
    head = "".join(f'<th scope="col">{escape(heading)}</th>' for heading in headings)
    body = "".join(
        f'<tr><th scope="row">{escape(row[0])}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in row[1:])
        + "</tr>"
        for row in rows
    )
    listed = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return (
        f"<div><p>{escape(caption)}</p><table><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>" + (f"<ul>{listed}</ul>" if listed else "") + "</div>"
    )
