"""The target of a table, as losses need it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.errors import InputError
from clearwood.table import Table

__all__ = ["checked_table", "target_codes"]


def checked_table(data: Any) -> Table:
    """Refuse what is no table with a target."""
    if not isinstance(data, Table):
        raise InputError(
            f"a benchmark needs a table with a target, not {type(data).__name__}",
            hint='make one: cw.read(data, target="...") takes files and frames.',
        )
    if data.target is None or data.task is None:
        raise InputError("the table has no target", hint="name one: cw.read(..., target=...).")
    if not data.features:
        raise InputError("the table has no features", hint="give it a column besides the target.")
    return data


def target_codes(table: Table) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """The target as numbers, classes as positions in the sorted labels, which come with it.

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
