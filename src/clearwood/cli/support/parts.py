"""Tables in parts on the command line: folders, patterns and addresses; clusters and ledgers."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearwood._shared.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from clearwood.table import Parts, Schema, Table

__all__ = ["Workers", "is_in_parts", "read_parts"]


def is_in_parts(data: Path) -> bool:
    """Whether data is a folder, a pattern or an address, and so read in parts."""
    from clearwood.table import has_parts

    return has_parts(data)


def read_parts(data: Path, schema: "Schema | None" = None, **options: Any) -> "Parts | Table":
    """Read a table in parts, with the roles of a schema as far as the data has the columns.

    With ``draw_rows`` it is a table of the rows that were drawn.
    """
    import clearwood as cw
    from clearwood._shared.progress import progress
    from clearwood.table import read_parts_as

    draw_rows, seed = options.pop("draw_rows", None), options.pop("seed", 0)
    with progress(f"reading {data.name}"):
        parts: Parts = (
            cw.read(data, parts=True, **options)
            if schema is None
            else read_parts_as(data, schema, **options)
        )
        return parts if draw_rows is None else parts.sample(draw_rows, seed=seed)


@dataclass(frozen=True, kw_only=True)
class Workers:
    """Who works on a table in parts.

    Folders and addresses
    ---------------------
    scheduler : ADDRESS
        The address of a Dask scheduler, such as tcp://10.0.0.1:8786: its workers read the parts.
    ledger : FILE
        Keep finished parts in this file; the same command continues from there after a stop.
    """

    scheduler: str | None = None
    ledger: Path | None = None

    @contextmanager
    def ready(self) -> Iterator[None]:
        """Send work to the cluster, if there is one."""
        if self.scheduler is None:
            yield
            return
        try:
            from distributed import Client
        except ImportError as error:
            raise MissingExtraError("a Dask cluster", extra="dask") from error
        import joblib

        try:
            connect: Any = Client
            client = connect(self.scheduler)  # waits as long as Dask is set to
        except (OSError, TimeoutError, ValueError) as error:
            raise InputError(
                f"there is no Dask scheduler at {self.scheduler!r}: {error}",
                parameter="scheduler",
                value=self.scheduler,
                hint="start one with `dask scheduler`, and workers with `dask worker ADDRESS`.",
            ) from error
        with client, joblib.parallel_config(backend="dask"):
            yield

    def refuse(self) -> None:
        """Refuse options that are for tables in parts only."""
        for name, value in (("scheduler", self.scheduler), ("ledger", self.ledger)):
            if value is not None:
                raise InputError(
                    f"--{name} is for a table in parts",
                    parameter=name,
                    value=str(value),
                    hint="give a folder, a pattern or an address as DATA.",
                )
