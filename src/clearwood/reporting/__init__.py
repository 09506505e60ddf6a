"""The report: everything about a model on one page that works offline."""

from clearwood.reporting.build import report
from clearwood.reporting.collect.findings import Performance
from clearwood.reporting.page.blocks import (
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
from clearwood.reporting.pages import audit_page, evaluation_page
from clearwood.reporting.result import Report

__all__ = [
    "Block",
    "Cell",
    "Chart",
    "Choice",
    "Facts",
    "More",
    "Note",
    "Performance",
    "Prose",
    "Report",
    "Section",
    "Sheet",
    "Widget",
    "audit_page",
    "evaluation_page",
    "report",
]
