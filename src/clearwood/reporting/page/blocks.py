"""What a page is made of: sections of a few kinds of block, all plain data.

Sections are written from result objects; the templates turn them into HTML. Nothing here is HTML:
every text is plain and is escaped when the page is rendered, so a column's name cannot become
markup.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

__all__ = [
    "Block",
    "Caution",
    "Cell",
    "Chart",
    "Choice",
    "Facts",
    "More",
    "Note",
    "Prose",
    "Section",
    "Sheet",
    "Toggle",
    "Widget",
    "finite",
    "views",
]

#: What stands in a cell of a sheet; numbers are formatted by the page, None is an empty cell.
Cell = str | int | float | bool | None


@dataclass(frozen=True)
class Prose:
    """Paragraphs of plain text; ``lead`` sets the first one larger."""

    paragraphs: tuple[str, ...]
    lead: bool = False


@dataclass(frozen=True)
class Facts:
    """Pairs of a name and a value, shown as a short list; several lines are set as code."""

    items: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Note:
    """A statement that stands out: what it is, what it means, what to do."""

    title: str
    text: str
    tone: Literal["plain", "good", "caution"] = "plain"
    #: What the note is about, one per line; many of them are folded away.
    items: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sheet:
    """A table to read and to save as CSV.

    Rows past ``shown`` are one click away. ``bars`` names columns whose cells have a bar of the
    value's size in the background. ``mixed`` names columns of numbers in different units, each of
    which has its own decimals. Texts of a ``roomy`` table, such as intervals, keep to one or two
    lines, and the table scrolls where it is too wide.
    """

    name: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    shown: int = 20
    bars: tuple[str, ...] = ()
    mixed: tuple[str, ...] = ()
    roomy: bool = False


@dataclass(frozen=True)
class Toggle:
    """A box to tick, for layers of a figure whose names begin with a word."""

    label: str
    layer: str


@dataclass(frozen=True)
class Chart:
    """A figure: an Altair chart's specification, what it shows in words, and its data.

    ``data`` is the table below the figure, by column name; by default the page makes it from the
    specification's own data. ``toggle`` shows and hides some of its layers.
    """

    name: str
    title: str
    alt: str
    spec: Mapping[str, Any]
    data: Mapping[str, Sequence[Cell]] | None = None
    toggle: Toggle | None = None


@dataclass(frozen=True)
class Choice:
    """Several views of one thing to switch between; the first is shown."""

    name: str
    label: str
    options: tuple[tuple[str, tuple["Block", ...]], ...]


@dataclass(frozen=True)
class More:
    """Blocks that are one click away."""

    title: str
    blocks: tuple["Block", ...]


@dataclass(frozen=True)
class Widget:
    """A part of the page that our script brings to life, with the data it works on.

    ``data`` must be ready for JSON. ``text`` is what a reader without script, or on paper, gets.
    """

    name: str
    kind: Literal["rows", "tree", "files"]
    text: str
    data: Mapping[str, Any] = field(repr=False)


Block = Prose | Facts | Note | Sheet | Chart | Choice | More | Widget


@dataclass(frozen=True)
class Section:
    """A section of the page; ``name`` is its anchor."""

    name: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Caution:
    """One thing to be careful about: its meaning, and what to do about it."""

    title: str
    meaning: str
    advice: str
    #: What it is about, one per line.
    items: tuple[str, ...] = ()
    #: "high" for what makes the page's main numbers wrong: it stands at the top of the page too.
    severity: Literal["usual", "high"] = "usual"


def finite(cell: Any) -> Cell:
    """Return a cell of a table; None, which is written as a gap, for a number that is not finite.

    Examples
    --------
    >>> finite(np.float64(0.5)), finite(float("nan")), finite("yes")
    (0.5, None, 'yes')
    """
    if isinstance(cell, float | np.floating):
        return float(cell) if np.isfinite(cell) else None
    return cell  # type: ignore[no-any-return]


def views(name: str, label: str, options: Sequence[tuple[str, tuple[Block, ...]]]) -> list[Block]:
    """Return one view as it is, and several to switch between."""
    return list(options[0][1]) if len(options) == 1 else [Choice(name, label, tuple(options))]
