"""The user's own names for columns that a library has renamed."""

from dataclasses import replace
from typing import Any

import narwhals as nw

from clearwood.forest import Forest
from clearwood.table import Table

__all__ = ["as_written", "with_names_of"]


def as_written(name: str) -> str:
    """Return a name as LightGBM writes it: spaces become underscores.

    Examples
    --------
    >>> as_written("the home town")
    'the_home_town'
    """
    return name.replace(" ", "_")


def with_names_of(forest: Forest, data: Any) -> Forest:
    """Return the forest with the column names of a table.

    LightGBM writes spaces as underscores. Where exactly one column of the table can be meant, its
    name is put back, so that rules and SQL name columns that exist. Arrays have no names.
    """
    if isinstance(data, Table):
        names = list(data.names)
    else:
        frame = nw.from_native(data, eager_only=True, pass_through=True)
        names = list(frame.columns) if isinstance(frame, nw.DataFrame) else []
    if forest.encoder is not None or set(forest.feature_names) <= set(names):
        return forest
    meant: dict[str, list[str]] = {}
    for name in names:
        meant.setdefault(as_written(name), []).append(name)
    restored = tuple(
        meant[name][0] if name not in names and len(meant.get(name, ())) == 1 else name
        for name in forest.feature_names
    )
    if restored == forest.feature_names:
        return forest
    return replace(forest, feature_names=restored, columns=restored)
