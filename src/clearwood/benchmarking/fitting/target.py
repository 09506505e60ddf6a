"""The target of a table, as losses need it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.errors import Call, InputError, words
from clearwood.losses import Loss, default_loss, find_loss
from clearwood.table import Table

__all__ = ["checked_table", "loss_for", "target_codes"]


def checked_table(data: Any) -> Table:
    """Refuse what is not a table with a target and features."""
    if not isinstance(data, Table):
        raise InputError(
            f"a benchmark needs a table with a target, not {type(data).__name__}",
            parameter="data",
            value=data,
            hint=words("files and frames become one by ", Call("read", ("data",), {"target": "…"})),
        )
    if data.target is None or data.task is None:
        raise InputError(
            "the table has no target",
            parameter="data",
            hint=words("name one: ", Call("read", ("data",), {"target": "…"})),
        )
    if not data.features:
        raise InputError(
            "the table has no features",
            parameter="data",
            hint="it needs a column besides the target.",
        )
    return data


def loss_for(table: Table, loss: str | Loss | None) -> Loss:
    """Return a loss by its name, or the one of the table's task."""
    assert table.task is not None
    if loss is None:
        return default_loss(table.task, table.y)
    return loss if isinstance(loss, Loss) else find_loss(loss, task=table.task)


def target_codes(table: Table) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Return the target as numbers, and the sorted labels that classes are positions in.

    Examples
    --------
    >>> import clearwood as cw
    >>> codes, classes = target_codes(cw.datasets.load("wine"))
    >>> int(codes.max()), len(classes)
    (2, 3)
    """
    assert table.task is not None
    if not table.task.is_classification:
        return np.asarray(table.y, dtype=np.float64), None
    classes, codes = np.unique(table.y, return_inverse=True)
    return codes, classes
