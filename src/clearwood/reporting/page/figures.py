"""The library's figures as blocks, and made ready for the page: title as text, data small.

The page sets titles itself, so that they wrap, can be searched and are read aloud; it also sizes
and colours the figure to its place. What stays is the drawing and its data.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clearwood.explanation import Effect
from clearwood.reporting.page.blocks import Chart, Toggle

__all__ = ["DIGITS", "Figure", "chart", "figure", "of_outputs"]

#: Digits that count, of the numbers a figure carries; a screen shows three.
DIGITS = 7

# The page's own settings stand in for these.
_LEFT_OUT = {"$schema", "config", "title", "background", "padding", "usermeta"}


def chart(
    name: str, drawn: Any, *, title: str | None = None, toggle: Toggle | None = None
) -> Chart:
    """Return a block from an Altair figure, with its own or another title, and its description.

    A toggle is kept where the figure has layers for it.
    """
    # its parts were put together by our own code, so that checking them again only takes time
    spec = drawn.to_dict(validate=False)
    own = spec.get("title", "")
    words = own if isinstance(own, str) else str(own.get("text", ""))
    return Chart(
        name=name,
        title=title or words,
        alt=str(spec.get("description", words)),
        spec=spec,
        toggle=toggle if toggle is not None and _has_layer(spec, toggle.layer) else None,
    )


def _has_layer(spec: Any, layer: str) -> bool:
    """Return whether a specification has a layer whose name begins with a word."""
    if isinstance(spec, Mapping):
        if str(spec.get("name", "")).startswith(layer):
            return True
        parts = (spec.get(key, ()) for key in ("layer", "hconcat", "vconcat"))
        return any(_has_layer(part, layer) for several in parts for part in several)
    return False


def of_outputs(effect: Effect, outputs: Sequence[str]) -> Effect:
    """Return an effect on some of its outputs."""
    if len(effect.outputs) <= 1 or tuple(outputs) == effect.outputs:
        return effect
    kept = [effect.outputs.index(name) for name in outputs]

    def taken(values: Any) -> Any:
        if values is None:
            return None
        picked = values[..., kept]
        return picked[..., 0] if len(kept) == 1 else picked

    return replace(
        effect,
        values=taken(effect.values),
        low=taken(effect.low),
        high=taken(effect.high),
        standard_errors=taken(effect.standard_errors),
        curves=taken(effect.curves),
        baseline=taken(np.asarray(effect.baseline)),
        about=replace(effect.about, outputs=tuple(outputs)),
    )


@dataclass(frozen=True)
class Figure:
    """A chart as the page takes it: what its title says, and what its script draws."""

    title: str
    subtitle: tuple[str, ...]
    #: ``spec`` and, where the chart brings its own, ``table``; read by the page's ``charts.js``.
    data: dict[str, Any]


def figure(block: Chart) -> Figure:
    """Take a chart apart into words and a drawing."""
    data: dict[str, Any] = {
        "spec": {
            key: _small(key, value) for key, value in block.spec.items() if key not in _LEFT_OUT
        }
    }
    if block.data is not None:
        data["table"] = {name: list(values) for name, values in block.data.items()}
    return Figure(title=block.title, subtitle=_subtitle(block.spec.get("title")), data=data)


def _subtitle(title: Any) -> tuple[str, ...]:
    lines = title.get("subtitle", ()) if isinstance(title, Mapping) else ()
    return (lines,) if isinstance(lines, str) else tuple(str(line) for line in lines)


def _compact(value: Any) -> Any:
    """Make the data within a specification small: a page carries a hundred figures."""
    if isinstance(value, list | tuple):
        return [_compact(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    return {key: _small(key, item) for key, item in value.items()}


def _small(key: str, value: Any) -> Any:
    if key == "datasets":
        return {name: _by_column(records) for name, records in value.items()}
    if key == "values" and isinstance(value, list | tuple):
        return _by_column(value)
    return _compact(value)


def _by_column(records: Sequence[Any]) -> Any:
    """Write records that have the same fields by column, so that no name is written twice."""
    first = records[0] if records else None
    if (
        not isinstance(first, Mapping)
        or not first
        or any(record.keys() != first.keys() for record in records)
    ):
        return list(records)
    return {"by column": {name: [_rounded(record[name]) for record in records] for name in first}}


def _rounded(value: Any) -> Any:
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value
