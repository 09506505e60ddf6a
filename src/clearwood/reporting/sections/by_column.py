"""Observed and expected means by column, as blocks of a page."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from clearwood._shared.errors import InputError
from clearwood._shared.numbers import percent
from clearwood._shared.results import Result
from clearwood.evaluation import ByColumn, Evaluation
from clearwood.reporting.page.blocks import Block, Cell, Sheet
from clearwood.reporting.page.figures import chart

__all__ = ["band_blocks", "by_columns", "misfit", "sheet_of"]


def by_columns(evaluation: Evaluation, several: Iterable[tuple[str, ...]]) -> Iterable[ByColumn]:
    """Compare observed and expected means in the bands of columns, or pairs, that have some."""
    for names in several:
        try:
            part = evaluation.by(*names)
        except InputError:  # a column without values, or a model without probabilities
            continue
        if len(part.rows) > 1:
            yield part


def misfit(part: ByColumn) -> tuple[int, float]:
    """Return how many bands are clearly off, and how far bands are off relative to chance."""
    equal = 1.0 if part.compared == "ratio" else 0.0
    half = (part.high - part.low) / 2
    known = half > 0
    off = ((part.value - equal)[known] / half[known]) ** 2
    return int(part.misses.sum()), float(np.mean(off)) if known.any() else 0.0


def band_blocks(part: ByColumn, evaluation: Evaluation, name: str = "by") -> tuple[Block, ...]:
    """Return the figure and the table of one column, or of a pair."""
    return chart(name, part.plot()), sheet_of(name, part, evaluation.table.counted_by)


def sheet_of(name: str, result: Result, weight: str = "weight") -> Sheet:
    """Return the numbers of a result whose intervals hold together."""
    columns: dict[str, Any] = result.to_frame("dict")
    rows = tuple(
        tuple(_finite(cell) for cell in line) for line in zip(*columns.values(), strict=True)
    )
    words = {"weight": weight, "misses": "clearly off"}
    headings = tuple(words.get(heading, heading.replace("_", " ")) for heading in columns)
    level = percent(result.confidence)  # type: ignore[attr-defined]
    caption = f"The numbers, with {level} intervals that hold for all lines together"
    return Sheet(name, caption, headings, rows)


def _finite(cell: Cell) -> Cell:
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell
