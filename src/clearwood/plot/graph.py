"""Pictures of causal graphs, as figures and as SVG for pages."""

import math
from collections.abc import Sequence
from html import escape
from itertools import pairwise
from typing import Any

from clearwood.causal import Graph
from clearwood.plot.graph_layout import HEIGHT, Box, Layout, Line, layout_of
from clearwood.plot.style import DOWN, GREY, UP, chart_of, headed

__all__ = ["graph_svg", "plot_graph"]

GIVEN = "#009E73"


def graph_svg(
    graph: Graph,
    *,
    treatment: Sequence[str] = (),
    outcome: Sequence[str] = (),
    given: Sequence[str] = (),
) -> str:
    """Draw a graph as SVG, with causes on the left, that a page can hold as it is.

    Colours are those of the page (`currentColor`), apart from treatments, outcomes and the nodes
    that are given. Names are escaped.

    Parameters
    ----------
    graph
        The graph.
    treatment, outcome, given
        Nodes to mark.

    Examples
    --------
    >>> picture = graph_svg(Graph("z -> x -> y <- z"), treatment=["x"], outcome=["y"])
    >>> picture.count("<rect"), picture.count("<path class")
    (3, 3)
    """
    layout = layout_of(graph)
    colours = _colours(graph, treatment, outcome, given)
    width, height = math.ceil(layout.width), math.ceil(layout.height)
    lines = "".join(_svg_line(line) for line in layout.lines)
    boxes = "".join(_svg_box(box, colours.get(box.name)) for box in layout.boxes)
    words = escape(_description(graph))
    return (
        f'<svg class="clearwood-graph" xmlns="http://www.w3.org/2000/svg" role="img" '
        f'viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'style="max-width:100%;height:auto" font-family="sans-serif" font-size="12" '
        f'aria-label="{words}"><g fill="none" stroke="currentColor" stroke-width="1.2" '
        f'stroke-opacity="0.65">{lines}</g>{boxes}</svg>'
    )


def _svg_box(box: Box, colour: str | None) -> str:
    """Draw a node; that of a hidden one is dashed."""
    dashed = ' stroke-dasharray="4 3"' if box.is_hidden else ""
    fill = f'fill="{colour}" fill-opacity="0.18"' if colour else 'fill="none"'
    return (
        f"<g><title>{escape(_printable(box.name))}</title>"
        f'<rect x="{box.left:.1f}" y="{box.y - HEIGHT / 2:.1f}" width="{box.width:.1f}" '
        f'height="{HEIGHT:.0f}" rx="6" {fill} stroke="{colour or "currentColor"}"{dashed}/>'
        f'<text x="{box.x:.1f}" y="{box.y + 4:.1f}" text-anchor="middle" '
        f'fill="currentColor">{escape(box.label)}</text></g>'
    )


def _svg_line(line: Line) -> str:
    """Draw an arrow as a smooth curve, with its head; both ends have one if it is dashed."""
    points = line.points
    curve = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    if line.is_shared:
        (x, y), (ex, ey) = points[1], points[2]
        curve += f"Q{2 * x - (points[0][0] + ex) / 2:.1f} {2 * y - (points[0][1] + ey) / 2:.1f} "
        curve += f"{ex:.1f} {ey:.1f}"
    else:
        for (x, y), (to_x, to_y) in pairwise(points):
            middle = (x + to_x) / 2
            curve += f"C{middle:.1f} {y:.1f} {middle:.1f} {to_y:.1f} {to_x:.1f} {to_y:.1f}"
    dashed = ' stroke-dasharray="5 4"' if line.is_shared else ""
    heads = "".join(_svg_head(*head) for head in _heads(line))
    return f'<path class="line" d="{curve}"{dashed}/>{heads}'


def _svg_head(x: float, y: float, angle: float) -> str:
    """Draw the head of an arrow that points in a direction."""
    corners = " ".join(
        f"{x - 8 * math.cos(angle + turn):.1f},{y - 8 * math.sin(angle + turn):.1f}"
        for turn in (-0.38, 0.38)
    )
    return f'<polygon points="{x:.1f},{y:.1f} {corners}" fill="currentColor" stroke="none"/>'


def _heads(line: Line) -> list[tuple[float, float, float]]:
    """Return the ends of a line that have heads, and their directions."""
    (x, y), (to_x, to_y) = line.points[0], line.points[-1]
    if not line.is_shared:
        return [(to_x, to_y, 0.0)]
    middle_x, middle_y = line.points[1]
    return [
        (x, y, math.atan2(y - middle_y, x - middle_x)),
        (to_x, to_y, math.atan2(to_y - middle_y, to_x - middle_x)),
    ]


def plot_graph(
    graph: Graph,
    *,
    treatment: Sequence[str] = (),
    outcome: Sequence[str] = (),
    given: Sequence[str] = (),
) -> Any:
    """Draw a graph as an Altair figure, with causes on the left.

    Examples
    --------
    >>> plot_graph(Graph("z -> x -> y <- z")).to_dict()["title"]["text"]
    '3 nodes, 3 arrows'
    """
    import altair as alt

    layout = layout_of(graph)
    colours = _colours(graph, treatment, outcome, given)
    across = alt.Scale(domain=[0, layout.width], nice=False, zero=False)
    down = alt.Scale(domain=[layout.height, 0], nice=False, zero=False)
    x, y = alt.X("x:Q", scale=across, axis=None), alt.Y("y:Q", scale=down, axis=None)
    chart = _lines(layout, x, y)
    boxes = [
        {
            "x": box.left,
            "y": box.y - HEIGHT / 2,
            "x2": box.right,
            "y2": box.y + HEIGHT / 2,
            "middle": box.x,
            "centre": box.y,
            "name": box.name,
            "label": box.label,
            "colour": colours.get(box.name, GREY),
            "fill": 0.18 if box.name in colours else 0.0,
        }
        for box in layout.boxes
    ]
    for is_hidden in (False, True):
        some = [
            row for row, box in zip(boxes, layout.boxes, strict=True) if box.is_hidden is is_hidden
        ]
        if not some:
            continue
        mark = {"strokeDash": [4, 3]} if is_hidden else {}
        chart += (
            chart_of(some)
            .mark_rect(cornerRadius=6, **mark)
            .encode(
                x=x,
                x2=alt.X2("x2:Q"),
                y=y,
                y2=alt.Y2("y2:Q"),
                stroke=alt.Stroke("colour:N", scale=None),
                fill=alt.Fill("colour:N", scale=None),
                fillOpacity=alt.FillOpacity("fill:Q", scale=None),
                tooltip=alt.Tooltip("name:N"),
            )
        )
    chart += (
        chart_of([{k: row[k] for k in ("middle", "centre", "label")} for row in boxes])
        .mark_text(fontSize=12)
        .encode(
            x=alt.X("middle:Q", scale=across, axis=None),
            y=alt.Y("centre:Q", scale=down, axis=None),
            text=alt.Text("label:N"),
        )
    )
    hidden = len(graph.hidden_causes)
    arrows = len(graph.edges) - 2 * hidden
    title = f"{len(layout.boxes)} nodes, {arrows} arrow{'' if arrows == 1 else 's'}"
    notes = ["dashed: hidden"] if graph.hidden else []
    return headed(
        chart,
        title,
        notes,
        _description(graph),
        width=layout.width,
        height=layout.height,
    ).configure_view(stroke=None)


def _lines(layout: Layout, x: Any, y: Any) -> Any:
    """Draw the arrows and their heads."""
    import altair as alt

    chart = alt.layer()
    for is_shared in (False, True):
        rows = [
            {"x": px, "y": py, "line": k, "order": order}
            for k, line in enumerate(layout.lines)
            if line.is_shared is is_shared
            for order, (px, py) in enumerate(_arc(line) if is_shared else line.points)
        ]
        if rows:
            mark = {"strokeDash": [5, 4]} if is_shared else {}
            chart += (
                chart_of(rows)
                .mark_line(color=GREY, strokeWidth=1.2, interpolate="monotone", **mark)
                .encode(x=x, y=y, detail=alt.Detail("line:N"), order=alt.Order("order:Q"))
            )
    heads = [
        {
            "x": px - 4 * math.cos(turn),
            "y": py - 4 * math.sin(turn),
            "angle": 90 + math.degrees(turn),
        }
        for line in layout.lines
        for px, py, turn in _heads(line)
    ]
    if heads:
        chart += (
            chart_of(heads)
            .mark_point(shape="triangle", filled=True, size=60, color=GREY, opacity=1)
            .encode(x=x, y=y, angle=alt.Angle("angle:Q", scale=None))
        )
    return chart


def _arc(line: Line) -> list[tuple[float, float]]:
    """Return points on the arc of a dashed line, which its middle point is on."""
    (x, y), (middle_x, middle_y), (to_x, to_y) = line.points
    arc = []
    for step in range(13):
        t = step / 12
        bend = 2 * t * (1 - t)  # of the control point, which lies beyond the middle
        arc.append(
            (
                (1 - t) ** 2 * x + bend * (2 * middle_x - (x + to_x) / 2) + t**2 * to_x,
                (1 - t) ** 2 * y + bend * (2 * middle_y - (y + to_y) / 2) + t**2 * to_y,
            )
        )
    return arc


def _colours(
    graph: Graph, treatment: Sequence[str], outcome: Sequence[str], given: Sequence[str]
) -> dict[str, str]:
    """Return the colours of marked nodes; by default those that the text marks."""
    marked = {
        GIVEN: given or graph.adjusted,
        DOWN: treatment or graph.exposure,
        UP: outcome or graph.outcome,
    }
    return {name: colour for colour, names in marked.items() for name in names}


def _description(graph: Graph) -> str:
    """Return the arrows of a graph in words, for those who do not see it."""
    shown = "; ".join(graph.to_text().splitlines()[:40])
    return _printable(f"Causal graph of {len(graph.nodes)} nodes: {shown}")


def _printable(text: str) -> str:
    """Return a text without signs that a page must not hold."""
    return "".join(letter if letter.isprintable() or letter == " " else "\ufffd" for letter in text)
