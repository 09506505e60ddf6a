"""Altair's specifications made ready for the page: the title as text, the data small.

The page sets titles itself, so that they wrap, can be searched and are read aloud; it also sizes
and colours the figure to its place. What stays is the drawing and its data.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clearwood.report._blocks import Chart

__all__ = ["DIGITS", "Figure", "figure"]

#: Digits that count, of the numbers a figure carries; a screen shows three.
DIGITS = 7

# The page's own settings stand in for these.
_LEFT_OUT = {"$schema", "config", "title", "background", "padding", "usermeta"}


@dataclass(frozen=True)
class Figure:
    """A chart as the page takes it: what its title says, and what its script draws."""

    title: str
    subtitle: tuple[str, ...]
    #: ``spec`` and, where the chart brings its own, ``table``; see ``unpackSpec`` in the page's script.
    data: dict[str, Any]


def figure(chart: Chart) -> Figure:
    """Take a chart apart into words and a drawing."""
    data: dict[str, Any] = {
        "spec": {key: _compact(value) for key, value in chart.spec.items() if key not in _LEFT_OUT}
    }
    if chart.data is not None:
        data["table"] = {name: list(values) for name, values in chart.data.items()}
    return Figure(title=chart.title, subtitle=_subtitle(chart.spec.get("title")), data=data)


def _subtitle(title: Any) -> tuple[str, ...]:
    lines = title.get("subtitle", ()) if isinstance(title, Mapping) else ()
    return (lines,) if isinstance(lines, str) else tuple(str(line) for line in lines)


def _compact(value: Any) -> Any:
    """Write lists of records by column and round numbers: a page carries a hundred figures."""
    if isinstance(value, Mapping):
        return {key: _compact(item) for key, item in value.items()}
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, list | tuple):
        items = [_compact(item) for item in value]
        return _by_column(items) if _are_records(items) else items
    return value


def _are_records(items: Sequence[Any]) -> bool:
    """Say whether these are three records or more, all with the same fields."""
    return (
        len(items) > 2
        and all(isinstance(item, dict) for item in items)
        and bool(items[0])
        and all(item.keys() == items[0].keys() for item in items)
        # a list of views or layers is no data
        and not any(isinstance(value, dict | list) for item in items for value in item.values())
    )


def _by_column(records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {"by column": {name: [record[name] for record in records] for name in records[0]}}
