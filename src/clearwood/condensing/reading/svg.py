"""A picture of a condensed tree as SVG."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path

from clearwood.condensing.reading.surrogates import drawn, surrogate_lines
from clearwood.condensing.reading.wording import Wording, too_large
from clearwood.condensing.tree.condensed_tree import CondensedTree

__all__ = ["Picture", "html", "to_svg"]

_MOST_LEAVES = 600
_ROW, _GAP, _CHARACTER, _LONGEST = 22, 46, 6.6, 44

_STYLE = """
    .cw-tree text { font: 11px sans-serif; fill: #1b1f23; }
    .cw-tree .edge { fill: none; stroke: #8a9199; }
    .cw-tree .question { fill: #f3f5f7; stroke: #8a9199; }
    .cw-tree .leaf { fill: #e3f1e5; stroke: #4f8a5b; }
    .cw-tree .open { fill: #fdf0d5; stroke: #b07d2b; stroke-dasharray: 3 2; }
    .cw-tree .side { fill: #59636e; font-size: 9px; }
    @media (prefers-color-scheme: dark) {
      .cw-tree text { fill: #e6edf3; }
      .cw-tree .question { fill: #2a3038; }
      .cw-tree .leaf { fill: #1f3a26; }
      .cw-tree .open { fill: #463714; }
      .cw-tree .side { fill: #9aa4af; }
    }"""


@dataclass(frozen=True, repr=False)
class Picture:
    """An SVG picture that notebooks show."""

    svg: str

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the picture to a file."""
        Path(path).write_text(self.svg, encoding="utf-8")
        return Path(path)

    def __repr__(self) -> str:
        return f"Picture of {len(self.svg):,} characters of SVG; save(path) writes it"


@dataclass
class _Box:
    node: int
    level: int
    text: str
    kind: str
    y: float = 0.0
    children: "tuple[_Box, ...]" = ()


def to_svg(condensed: CondensedTree, *, units: Mapping[str, str] | None = None) -> str:
    """Draw the unfolded tree, of at most 600 leaves: root on the left, yes above no.

    Parameters
    ----------
    units
        The unit of each column that has one.

    Examples
    --------
    >>> import clearwood as cw
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier().fit([[0.0], [1.0]], ["no", "yes"])
    >>> svg = to_svg(cw.condense(tree))
    >>> svg.startswith("<svg"), svg.count('class="leaf"')
    (True, 2)
    """
    title = repr(condensed)
    condensed = drawn(condensed)
    if condensed.n_leaves > _MOST_LEAVES:
        raise too_large(
            f"{condensed.n_leaves:,} leaves; pictures show up to {_MOST_LEAVES}",
            "prune the tree to data, or read its rules or the path of one row",
        )
    boxes = _boxes(condensed, Wording(condensed, units=units))
    _place(boxes)
    widths: dict[int, float] = {}
    for box in boxes:
        widths[box.level] = max(widths.get(box.level, 0), len(box.text) * _CHARACTER + 14)
    start: list[float] = [8]
    for level in range(len(widths)):
        start.append(start[-1] + widths[level] + _GAP)
    below = (1 + max(box.y for box in boxes)) * _ROW + 16
    notes = [f"If missing, {line}" for line in surrogate_lines(condensed)]
    height = below + len(notes) * _ROW
    start[-1] = max(start[-1], *(len(note) * _CHARACTER + 16 for note in notes), 0)
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="cw-tree" role="img" '
            f'viewBox="0 0 {start[-1]:.0f} {height:.0f}" width="{start[-1]:.0f}" '
            f'height="{height:.0f}">'
        ),
        f"<title>{escape(title)}</title>",
        f"<style>{_STYLE}\n  </style>",
    ]
    for box in boxes:
        for child, side in zip(box.children, ("yes", "no"), strict=False):
            parts.append(_edge(box, child, side, start, widths))
    parts += [_drawn(box, start, widths) for box in boxes]
    for row, note in enumerate(notes):
        parts.append(
            f'<text class="note" x="8" y="{below + (row + 0.5) * _ROW:.1f}">{escape(note)}</text>'
        )
    return "\n".join([*parts, "</svg>"])


def _boxes(condensed: CondensedTree, wording: Wording) -> list[_Box]:
    """Unfold the diagram, parents before children, yes before no."""
    diagram = condensed.diagram
    boxes: list[_Box] = []

    def box_of(node: int, level: int) -> _Box:
        if diagram.is_leaf[node]:
            kind = "leaf" if diagram.certified[node] else "open"
            box = _Box(node, level, _short(wording.answer(node)), kind)
        else:
            box = _Box(node, level, _short(wording.question(node)), "question")
        boxes.append(box)
        return box

    stack = [box_of(0, 0)]
    while stack:
        box = stack.pop()
        if box.kind == "question":
            left = box_of(int(diagram.left[box.node]), box.level + 1)
            right = box_of(int(diagram.right[box.node]), box.level + 1)
            box.children = (left, right)
            stack += [right, left]
    return boxes


def _place(boxes: list[_Box]) -> None:
    """Return leaves a row each, in order, and put questions in the middle of their branches."""
    order: list[_Box] = []
    stack = [boxes[0]]
    while stack:
        box = stack.pop()
        order.append(box)
        stack += reversed(box.children)
    row = 0
    for box in order:
        if not box.children:
            box.y = row
            row += 1
    for box in reversed(order):
        if box.children:
            box.y = (box.children[0].y + box.children[1].y) / 2


def _edge(box: _Box, child: _Box, side: str, start: list[float], widths: dict[int, float]) -> str:
    x1 = start[box.level] + widths[box.level]
    x2 = start[child.level]
    y1, y2 = _middle(box), _middle(child)
    bend = (x1 + x2) / 2
    return (
        f'<path class="edge" d="M{x1:.1f} {y1:.1f}C{bend:.1f} {y1:.1f} {bend:.1f} {y2:.1f} '
        f'{x2:.1f} {y2:.1f}"/><text class="side" x="{x2 - 16:.1f}" y="{y2 - 4:.1f}">{side}</text>'
    )


def _middle(box: _Box) -> float:
    return 8 + (box.y + 0.5) * _ROW


def _drawn(box: _Box, start: list[float], widths: dict[int, float]) -> str:
    x, y = start[box.level], _middle(box)
    corner = 8 if box.kind != "question" else 2
    return (
        f'<g data-node="{box.node}" data-level="{box.level}"><rect class="{box.kind}" '
        f'x="{x:.1f}" y="{y - 9:.1f}" width="{widths[box.level]:.1f}" height="18" rx="{corner}"/>'
        f'<text x="{x + 7:.1f}" y="{y + 4:.1f}">{escape(box.text)}</text></g>'
    )


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def html(condensed: CondensedTree) -> str:
    """Return the text of a tree and, for small trees, the picture."""
    line = f"<p>{escape(repr(condensed))}</p>"
    return line if condensed.n_leaves > 100 else line + to_svg(condensed)
