"""Figure of the trajectory of a box: its mean as it shrinks."""

from typing import TYPE_CHECKING, Any

from clearwood._shared.frames import plain
from clearwood._shared.numbers import number, share_of
from clearwood.plot.style import AXIS, DOWN, GREY, PERCENT_AXIS, chart_of, headed, rule

if TYPE_CHECKING:
    from clearwood.models import BoxList

__all__ = ["plot_boxes"]

_FOUND, _OTHER = "rows that found the box", "other rows"


def plot_boxes(result: "BoxList") -> Any:
    """Draw the mean in the first box against its support, and the chosen boxes as points."""
    import altair as alt

    points = [
        {"support": support, "mean": mean, "rows": name}
        for support, found, other in plain(result.trajectory)
        for name, mean in ((_FOUND, found), (_OTHER, other))
        if mean is not None
    ]
    share = f"share of {result.counted_by} in the box"
    x = alt.X("support:Q", title=share, axis=alt.Axis(**PERCENT_AXIS))
    y = alt.Y("mean:Q", title="mean in the box", axis=alt.Axis(**AXIS), scale=alt.Scale(zero=False))
    colour = alt.Color(
        "rows:N", scale=alt.Scale(domain=[_FOUND, _OTHER], range=[GREY, DOWN]), title=None
    )
    lines = chart_of(points).mark_line(point={"size": 14}).encode(x=x, y=y, color=colour)
    chosen = [
        {"support": row.support, "mean": row.mean, "box": f"box {k + 1}: {row.rule}"}
        for k, row in enumerate(result.rows)
    ]
    marks = (
        chart_of(chosen)
        .mark_point(filled=True, size=110, color=DOWN, opacity=1)
        .encode(x=x, y=y, tooltip=[alt.Tooltip("box:N"), alt.Tooltip("mean:Q", format=".4g")])
    )
    written = "; ".join(
        f"box {k + 1}, {share_of(row.support, result.counted_by)}, mean {number(row.mean)}"
        for k, row in enumerate(result.rows)
    )
    return headed(
        alt.layer(rule(result.mean, "y", strokeDash=[4, 4]), lines, marks),
        f"Boxes of {result.direction} mean",
        ["lines: the first box as it shrinks; dots: boxes, by rows held out; dashed: outside"],
        written or "no box differs from the rest",
        width=400,
        height=260,
    )
