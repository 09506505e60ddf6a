"""Tables in parts on the command line: folders, patterns and addresses; clusters and ledgers."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from clearwood._shared.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from clearwood.table import Parts, Schema

__all__ = ["Workers", "is_in_parts", "read_parts", "source_of"]

#: Roles that a schema may have and new data may lack, by the option of `clearwood.read`.
_ROLES = ("target", "weight", "exposure")


def source_of(data: Path) -> str:
    """Return what the user typed: a path keeps one of the slashes of an address only.

    Examples
    --------
    >>> source_of(Path("s3://bucket/folder")), source_of(Path("rows.csv"))
    ('s3://bucket/folder', 'rows.csv')
    """
    return re.sub(r"^([A-Za-z][A-Za-z0-9+]+):/(?!/)", r"\1://", str(data))


def is_in_parts(data: Path) -> bool:
    """Whether data is a folder, a pattern or an address, and so read in parts.

    Examples
    --------
    >>> is_in_parts(Path("rows.csv")), is_in_parts(Path("gs://bucket/*.parquet"))
    (False, True)
    """
    text = source_of(data)
    if "://" in text or data.is_dir():
        return True
    return not data.exists() and any(sign in text for sign in "*?[")


def read_parts(data: Path, schema: "Schema | None" = None, **options: Any) -> "Parts":
    """Read a table in parts, with the roles of a schema as far as the data has the columns."""
    import clearwood as cw
    from clearwood._shared.progress import progress
    from clearwood.table import Role

    roles: dict[str, Any] = {}
    if schema is not None:
        by_role = {column.role: column.name for column in schema.columns}
        roles = {name: by_role[Role(name)] for name in _ROLES if Role(name) in by_role}
    with progress(f"reading {data.name}"):
        while True:
            try:
                parts: Any = cw.read(source_of(data), parts=True, **roles, **options)
            except InputError as error:
                if error.parameter not in roles:
                    raise
                del roles[error.parameter]  # rows to predict need not have a target
            else:
                return cast("Parts", parts)


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
            client = connect(self.scheduler, timeout="10s")
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
