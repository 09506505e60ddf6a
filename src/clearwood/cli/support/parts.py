"""Tables in parts on the command line; clusters and ledgers."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearwood._shared.errors import InputError, MissingExtraError
from clearwood.cli.support.console import print_message, written

if TYPE_CHECKING:
    from clearwood.table import Parts, Schema, Table

__all__ = ["Workers", "naming_kept", "scan_table"]


def scan_table(
    data: Path,
    schema: "Schema | None" = None,
    *,
    draw_rows: int | None = None,
    seed: int = 0,
    **options: Any,
) -> "Parts | Table":
    """Scan a table, with the roles of a schema as far as the data has the columns.

    With ``draw_rows`` it is a table of the rows that were drawn.
    """
    import clearwood as cw
    from clearwood.table import scan_as

    parts = cw.scan(data, **options) if schema is None else scan_as(data, schema, **options)
    return parts if draw_rows is None else parts.sample(draw_rows, seed=seed)


@contextmanager
def naming_kept(file: Path | None, option: str, what: str) -> Iterator[None]:
    """Say after Ctrl-C where finished work is, or how it could have been kept.

    Parameters
    ----------
    file
        Where it is kept, if it is.
    option
        The option that names the file.
    what
        What is kept: "finished parts".
    """
    try:
        yield
    except KeyboardInterrupt:
        if file is None:
            kept = f"with {option} FILE, {what} are kept and the same command continues."
            print_message("hint", kept, style="bold cyan")
        elif file.exists():
            kept = f"{what} are in {file}; the same command continues from there."
            print_message("hint", kept, style="bold cyan")
        raise


@contextmanager
def _naming_folder(folder: Path) -> Iterator[None]:
    """Say after Ctrl-C that a folder has files already, if it has new ones."""
    before = _files(folder)
    try:
        yield
    except KeyboardInterrupt:
        if _files(folder) - before:
            written.append(folder)
        raise


def _files(folder: Path) -> set[tuple[str, int]]:
    try:
        return {(file.name, file.stat().st_mtime_ns) for file in folder.iterdir()}
    except OSError:
        return set()


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
    def ready(self, to: Path | None = None) -> Iterator[None]:
        """Send work to the cluster, if there is one; after Ctrl-C, say what is kept.

        Parameters
        ----------
        to
            The folder for files of all parts, if there is one.
        """
        with ExitStack() as stack:
            if to is not None:
                stack.enter_context(_naming_folder(to))
            if to is not None or self.ledger is not None:
                stack.enter_context(naming_kept(self.ledger, "--ledger", "finished parts"))
            stack.enter_context(self._cluster())
            yield

    @contextmanager
    def _cluster(self) -> Iterator[None]:
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
                    hint="leave the rows where they are with --scan.",
                )
