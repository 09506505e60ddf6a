"""Observed and expected means by column, as blocks of a page."""

from typing import Any

from clearwood._shared.numbers import percent
from clearwood._shared.results import Result
from clearwood.evaluation import ByColumn, Evaluation
from clearwood.reporting.page.blocks import Block, Sheet, finite
from clearwood.reporting.page.figures import chart

__all__ = ["band_blocks", "sheet_of"]


def band_blocks(part: ByColumn, evaluation: Evaluation, name: str = "by") -> tuple[Block, ...]:
    """Return the figure and the table of one column, or of a pair."""
    return chart(name, part.plot()), sheet_of(name, part, evaluation.table.counted_by)


def sheet_of(name: str, result: Result, weight: str = "weight") -> Sheet:
    """Return the numbers of a result whose intervals hold together."""
    columns: dict[str, Any] = result.to_frame("dict")
    rows = tuple(
        tuple(finite(cell) for cell in line) for line in zip(*columns.values(), strict=True)
    )
    words = {"weight": weight, "misses": "clearly off"}
    headings = tuple(words.get(heading, heading.replace("_", " ")) for heading in columns)
    level = percent(result.confidence)  # type: ignore[attr-defined]
    caption = f"The numbers, with {level} intervals that hold for all lines together"
    return Sheet(name, caption, headings, rows)
