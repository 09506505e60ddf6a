"""A model from its file, and tables read the way the model's own was."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["model_and_table", "table_for"]


def model_and_table(
    model: Path, data: Path, *, roles: Mapping[str, Any] | None = None, **read: Any
) -> tuple[Any, Any]:
    """Load a model, and read a table as `table_for` does."""
    import clearwood as cw

    fitted = cw.load(model)
    return fitted, table_for(fitted, data, roles=roles, **read)


def table_for(
    fitted: Any, data: Path, *, roles: Mapping[str, Any] | None = None, **read: Any
) -> Any:
    """Read a table the way the model's own was, with the target if it is there.

    Parameters
    ----------
    fitted
        The model; a learner knows the kinds and roles of its columns.
    data
        The table.
    roles
        What `clearwood.read` is told of the columns where the model does not know.
    read
        Of text files: delimiter, decimal, encoding.
    """
    import clearwood as cw
    from clearwood._shared.progress import progress
    from clearwood.table import read_as

    with progress(f"reading {data.name}"):
        if isinstance(fitted, cw.Learner):
            return read_as(data, fitted.schema_, **read)
        return cw.read(data, **(roles or {}), **read)
