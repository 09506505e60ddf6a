"""The report: everything about a model on one page that works offline."""

from clearwood.report._blocks import (
    Block,
    Cell,
    Chart,
    Choice,
    Facts,
    More,
    Note,
    Prose,
    Section,
    Sheet,
    Widget,
)
from clearwood.report._report import Report

__all__ = [
    "Block",
    "Cell",
    "Chart",
    "Choice",
    "Facts",
    "More",
    "Note",
    "Prose",
    "Report",
    "Section",
    "Sheet",
    "Widget",
]
