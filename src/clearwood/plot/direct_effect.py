"""Figure of a direct effect: each contrast with its band."""

from typing import TYPE_CHECKING, Any

from clearwood._shared.numbers import cell, interval, number, percent
from clearwood.plot.style import chart_of, cut, headed, rule

if TYPE_CHECKING:
    from clearwood.causal import DirectEffect

__all__ = ["plot_direct_effect"]


def plot_direct_effect(result: "DirectEffect") -> Any:
    """Draw by how much each value moves the mean from that at the reference, with its band."""
    import altair as alt

    frame = result.to_frame("dict")
    n_outputs = len(result.outputs)
    rows = []
    for k, place in enumerate(zip(*result.at.values(), strict=True)):
        shown = ", ".join(cell(v) for v in place)
        for j, output in enumerate(result.outputs):
            at = k * n_outputs + j
            line = cut(f"{shown}: {output}" if n_outputs > 1 else shown)
            ends = {end: frame[end][at] for end in ("effect", "low", "high")}
            rows.append({"line": line, **ends})
    title = f"{result.about.quantity}, difference"
    if result.has_band.any():
        title += f"; {percent(result.confidence)} band"
    y = alt.Y("line:N", sort=[row["line"] for row in rows], title=None)
    base = chart_of(rows).encode(y=y)
    scale = alt.Scale(zero=True)
    bar = base.mark_bar(height=2, opacity=0.9).encode(
        x=alt.X("low:Q", title=title, scale=scale), x2=alt.X2("high:Q")
    )
    point = base.mark_point(filled=True, size=50, opacity=1.0).encode(
        x=alt.X("effect:Q", title=title, scale=scale),
        tooltip=[
            alt.Tooltip("line:N"),
            *(alt.Tooltip(f"{end}:Q", format=".4g") for end in ("effect", "low", "high")),
        ],
    )
    written = "; ".join(
        f"{row['line']} {number(row['effect'])}"
        + ("" if row["low"] is None else f" ({interval(row['low'], row['high'])})")
        for row in rows
    )
    chart = rule(0, "x", strokeDash=[4, 4]) + bar + point
    return headed(chart, result.title, result.statements, written, width=360, height=alt.Step(20))
