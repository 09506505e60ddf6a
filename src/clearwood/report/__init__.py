"""The report: everything about a model on one page that works offline.

The package is called as the function it is named after: ``clearwood.report(model, data)``.
"""

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
from clearwood.report._build import report
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
    "report",
]
