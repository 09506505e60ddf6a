"""Gaps in simulated tables."""

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from clearwood._shared.errors import bad_value
from clearwood.table import Table

__all__ = ["with_gaps"]


def with_gaps(
    table: Table, share: float, seed: np.random.SeedSequence, names: Collection[str]
) -> Table:
    """Return the table with a share of the cells of some columns missing, at random."""
    if not 0 <= share < 1:
        raise bad_value("missing", share, "it must be a share from 0 to below 1")
    if not share:
        return table
    rng = np.random.default_rng(seed)
    columns = []
    for column in table.columns:
        if column.name in names:
            gaps = rng.random(len(column)) < share
            gap = -1 if column.is_coded else np.nan
            values = np.where(gaps, gap, column.values).astype(column.values.dtype)
            columns.append(replace(column, values=values))
        else:
            columns.append(column)
    return replace(table, columns=tuple(columns))
