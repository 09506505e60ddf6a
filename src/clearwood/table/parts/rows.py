"""Where the rows of a part are: in a file, in a frame, or in a function that makes them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from clearwood._shared.errors import InputError
from clearwood.table.reading.frames import from_memory
from clearwood.table.reading.raw import Raw

__all__ = ["MadeRows", "ParquetRows", "Rows"]


class Rows(Protocol):
    """Rows that can be read again and again, in batches; small, without open handles."""

    def batches(self, rows: int, columns: Sequence[str] | None) -> Iterator[list[Raw]]:
        """Read some columns, all of them where None, at most so many rows at a time."""

    def identity(self) -> Sequence[Any]:
        """Return plain values that differ where the rows may differ."""


@dataclass(frozen=True)
class ParquetRows:
    """Some row groups of a Parquet file.

    Parameters
    ----------
    path
        Where the file is.
    groups
        The row groups, by number.
    stamp
        Size and time of modification when the file was listed.
    """

    path: str
    groups: tuple[int, ...]
    stamp: tuple[int, float] = (0, 0.0)

    def batches(self, rows: int, columns: Sequence[str] | None) -> Iterator[list[Raw]]:
        """Read the row groups one after the other."""
        import pyarrow.parquet as pq

        with pq.ParquetFile(self.path) as file:
            batches = file.iter_batches(
                rows, row_groups=list(self.groups), columns=columns, use_threads=False
            )
            for batch in batches:
                yield arrow_columns(batch)

    def identity(self) -> Sequence[Any]:
        """Return the path, what the file was like, and the row groups."""
        return [self.path, list(self.stamp), list(self.groups)]


@dataclass(frozen=True)
class MadeRows:
    """Rows from ``start`` to ``stop`` that a function makes.

    Parameters
    ----------
    function
        Makes a frame, an array or a dict of columns from the number of its first row and the number
        after its last.
    start, stop
        The rows of the part.
    """

    function: Callable[[int, int], Any]
    start: int
    stop: int

    def batches(self, rows: int, columns: Sequence[str] | None) -> Iterator[list[Raw]]:
        """Make the rows, a batch at a time."""
        for start in range(self.start, self.stop, rows):
            stop = min(start + rows, self.stop)
            raws = from_memory(self.function(start, stop))
            if any(len(raw.values) != stop - start for raw in raws):
                found = next(len(r.values) for r in raws if len(r.values) != stop - start)
                raise InputError(
                    f"the function made {found:,} rows where rows {start:,} to {stop:,} were to be "
                    "made",
                    parameter="function",
                    hint="function(start, stop) gives stop - start rows.",
                )
            yield raws if columns is None else [raw for raw in raws if raw.name in set(columns)]

    def identity(self) -> Sequence[Any]:
        """Return the name of the function and the rows."""
        name = getattr(self.function, "__qualname__", type(self.function).__qualname__)
        return [f"{self.function.__module__}.{name}", self.start, self.stop]


def arrow_columns(batch: Any) -> list[Raw]:
    """Return the columns of a batch of an Arrow file; its dictionaries are strings."""
    import pyarrow as pa

    from clearwood.table.reading.frames import from_frame

    if not batch.num_columns:
        return []
    raws = from_frame(pa.Table.from_batches([batch]))
    return [
        Raw(raw.name, "string", raw.values, raw.levels) if raw.form == "category" else raw
        for raw in raws
    ]
