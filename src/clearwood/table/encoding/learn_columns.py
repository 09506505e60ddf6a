"""What is learned about one column from training rows: levels, fills, indicators."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Bools, Floats
from clearwood.table.column import Column
from clearwood.table.encoding.columns import (
    ColumnEncoder,
    Encoded,
    LookupEncoder,
    NumberEncoder,
    OneHotEncoder,
)
from clearwood.table.encoding.weighted import Weight, lower_median, median
from clearwood.table.kinds.calendar import CALENDAR_PARTS, calendar_features

__all__ = [
    "Learned",
    "learn_codes",
    "learn_complete_numbers",
    "learn_dates",
    "learn_numbers",
    "learn_onehot",
    "learn_ranks",
    "learn_target",
    "learn_yes_no",
    "level_counts",
    "level_slots",
]

Learned = tuple[ColumnEncoder, list[Encoded]]


def level_slots(codes: NDArray[Any], n_levels: int) -> NDArray[Any]:
    """Return each code its place among the levels, unseen (``n_levels``) and missing (the last)."""
    slots = np.minimum(codes, n_levels).astype(np.intp)
    return np.where(slots < 0, n_levels + 1, slots)


def level_counts(column: Column, weight: Weight = None) -> NDArray[Any]:
    """Count the rows of each level, of unseen levels and of missing."""
    k = len(column.levels)
    return np.bincount(level_slots(column.values, k), weights=weight, minlength=k + 2)


def learn_numbers(column: Column, weight: Weight, *, impute: bool) -> Learned:
    """Pass numbers on; with imputation, gaps are filled with the median and marked."""
    known = ~column.missing
    indicator = impute and not known.all()
    fill = None
    if impute:
        middle = median(column.values[known], _of(weight, known)) if known.any() else 0.0
        fill = np.array([middle])
    encoded = [Encoded(column.name, column.name), *_indicator(column, indicator)]
    return NumberEncoder((None,), fill, indicator), encoded


def learn_complete_numbers(column: Column, middle: float, *, impute: bool) -> Learned:
    """Pass numbers on that have no gaps; later ones are filled with the median."""
    fill = np.array([middle]) if impute else None
    return NumberEncoder((None,), fill, indicator=False), [Encoded(column.name, column.name)]


def learn_dates(column: Column, weight: Weight, *, impute: bool) -> Learned:
    """Take the calendar features that vary; a missing date is filled with the median date."""
    known = ~column.missing
    dates = column.values[known]
    parts = [CALENDAR_PARTS[0]]
    if len(dates):
        _, *others = zip(CALENDAR_PARTS, calendar_features(dates), strict=True)
        parts += [name for name, values in others if np.ptp(values) > 0]
        if (dates == dates.astype("datetime64[M]")).all():
            # the first day of a month stands for the month; which day of the week it was is noise
            parts = [name for name in parts if name not in ("day of week", "day of year")]
    fill = None
    if impute:
        # the features of one date, so that they agree with each other
        middle = lower_median(dates, _of(weight, known)) if len(dates) else "2000-01-01"
        fill = np.concatenate(calendar_features(np.array([middle], "datetime64[us]"), parts))
    indicator = impute and not known.all()
    encoded = [Encoded(f"{column.name}:{part}", column.name, part) for part in parts]
    return NumberEncoder(tuple(parts), fill, indicator), [*encoded, *_indicator(column, indicator)]


def learn_yes_no(column: Column, weight: Weight, *, impute: bool, mean: bool) -> Learned:
    """Encode as 0 and 1; with imputation, gaps are the more frequent value, or the mean."""
    counts = level_counts(column, weight)[: len(column.levels)]
    fill = float(np.argmax(counts)) if len(counts) else 0.0
    if mean and not (column.values < 0).any():
        fill = _mean_code(counts)
    return _learn_order(column, impute=impute, fill=fill, quantities=0)


def learn_ranks(column: Column, weight: Weight, *, impute: bool, mean: bool) -> Learned:
    """Encode an ordered category by rank; with imputation, gaps are the median rank, or the mean.

    Where training rows have gaps, an indicator makes good what they are filled with.
    """
    known = ~column.missing
    fill = float(lower_median(column.values[known], _of(weight, known))) if known.any() else 0.0
    if mean and known.all():
        fill = _mean_code(level_counts(column, weight)[: len(column.levels)])
    return _learn_order(column, impute=impute, fill=fill, quantities=1)


def _mean_code(counts: NDArray[Any]) -> float:
    total = float(counts.sum())
    return float(counts @ np.arange(len(counts))) / total if total > 0 else 0.0


def _learn_order(column: Column, *, impute: bool, fill: float, quantities: int) -> Learned:
    """Encode each level by its rank; an unseen level has none, so it counts as missing."""
    k = len(column.levels)
    indicator = impute and bool((column.values < 0).any())
    table = np.zeros((k + 2, 1 + indicator))
    table[:k, 0] = np.arange(k)
    table[k:, 0] = fill if impute else np.nan
    if indicator:
        table[k:, 1] = 1.0
    encoded = [Encoded(column.name, column.name, None, column.levels)]
    return LookupEncoder(table, quantities), [*encoded, *_indicator(column, indicator)]


def learn_codes(column: Column, *, unseen: float, missing: float, quantities: int) -> Learned:
    """Number the levels that occur from 0, in the order of the column's levels."""
    k = len(column.levels)
    seen = np.flatnonzero(level_counts(column)[:k])
    table = np.full((k + 2, 1), unseen)
    table[seen, 0] = np.arange(len(seen))
    table[k + 1] = missing
    levels = tuple(column.levels[code] for code in seen)
    return LookupEncoder(table, quantities), [Encoded(column.name, column.name, None, levels)]


def learn_onehot(column: Column, weight: Weight, *, reference: bool, mean: bool) -> Learned:
    """Encode each level that occurs as a column of its own, and missing where it occurs.

    With ``mean``, what did not occur has the share of each level in its column.
    """
    k = len(column.levels)
    counts = level_counts(column, weight)
    seen = list(np.flatnonzero(counts[:k]))
    positions = np.full(k + 2, -1, dtype=np.int32)
    if reference and seen:
        base = np.argmax(counts[:k])
        seen.remove(base)
        positions[base] = -2
    positions[seen] = np.arange(len(seen))
    encoded = [
        Encoded(f"{column.name}={level}", column.name, level, (level,))
        for level in (column.levels[code] for code in seen)
    ]
    if counts[k + 1]:
        positions[k + 1] = len(seen)
        encoded.extend(_indicator(column, indicator=True))
    shares = None
    if mean:
        shares = np.zeros(len(encoded))
        shares[: len(seen)] = counts[seen] / max(float(counts[:k].sum()), 1e-300)
    return OneHotEncoder(positions, len(encoded), shares), encoded


def learn_target(column: Column, codes: Floats, outputs: tuple[str, ...]) -> Learned:
    """Return each level its target encoding, already computed for every slot."""
    encoded = [Encoded(f"{column.name}:{output}", column.name, output) for output in outputs]
    return LookupEncoder(codes, codes.shape[1]), encoded


def _indicator(column: Column, indicator: bool) -> Iterator[Encoded]:  # noqa: FBT001 - see above
    if indicator:
        yield Encoded(f"{column.name}:missing", column.name, "missing")


def _of(weight: Weight, rows: Bools) -> Weight:
    return None if weight is None else weight[rows]
