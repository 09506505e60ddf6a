"""The target of a table as the model's predictions are compared with it."""

from collections.abc import Sequence

import numpy as np

from clearwood._shared.arrays import Bools, Floats
from clearwood._shared.errors import InputError
from clearwood.table import Table

__all__ = ["truth_of"]


def truth_of(table: Table, classes: Sequence[str]) -> tuple[Floats, Bools]:
    """Return the target, classes as positions in the model's, and which rows have a known one.

    Parameters
    ----------
    table
        A table with a target.
    classes
        The labels that the model predicts; empty where it predicts a number.

    Examples
    --------
    >>> import clearwood as cw
    >>> data = cw.read({"x": range(6), "y": list("abcaab")}, target="y")
    >>> truth_of(data, ["b", "a"])
    (array([ 1.,  0., -1.,  1.,  1.,  0.]), array([ True,  True, False,  True,  True,  True]))
    """
    column = table.target_column
    if not classes:
        if column.is_coded:
            raise InputError(
                f"the target {table.target!r} is a class and the model predicts a number",
                parameter="target",
                value=table.target,
            )
        values = column.values.astype(np.float64)
        return values, np.isfinite(values)
    place = {label: k for k, label in enumerate(classes)}
    codes = np.array(
        [-1 if label is None else place.get(_text(label), -1) for label in column.labels()]
    )
    return codes.astype(np.float64), codes >= 0


def _text(label: object) -> str:
    """Write a label as classes are written; a whole number without its decimals."""
    if isinstance(label, float | np.floating) and float(label).is_integer():
        return str(int(label))
    return str(label)
