"""Figures of coefficients and direct effects with their intervals."""

from typing import TYPE_CHECKING, Any

from clearwood._shared.numbers import cell, interval, number, percent
from clearwood.plot.style import GREY, chart_of, cut, headed, rule

if TYPE_CHECKING:
    from clearwood.causal import DirectEffect
    from clearwood.explanation import Coefficients

__all__ = ["plot_coefficients", "plot_direct_effect"]


_NUMBERS = ("value", "low", "high")


def plot_coefficients(result: "Coefficients") -> Any:
    """Draw each coefficient, or its ratio, with its interval; the constant is left out."""
    import altair as alt

    values = result.values if result.ratios is None else result.ratios
    low = result.low if result.ratio_low is None else result.ratio_low
    high = result.high if result.ratio_high is None else result.ratio_high
    rows = [
        {"line": cut(name), "value": values[k], "low": low[k], "high": high[k]}
        for k, name in enumerate(result.names())
        if result.columns[k]
    ]
    name = result.ratio_name or "coefficient"
    title = name if result.errors is None else f"{name}, {percent(result.confidence)} interval"
    scale = (
        alt.Scale(zero=False)
        if result.ratio_name is None
        else alt.Scale(type="log", nice=False, padding=12)
    )
    y = alt.Y("line:N", sort=[row["line"] for row in rows], title=None)
    base = chart_of(rows).encode(y=y)
    bar = base.mark_bar(height=2, opacity=0.9).encode(
        x=alt.X("low:Q", title=title, scale=scale), x2=alt.X2("high:Q")
    )
    point = base.mark_point(filled=True, size=50, opacity=1.0).encode(
        x=alt.X("value:Q", title=title, scale=scale),
        tooltip=[
            alt.Tooltip("line:N"),
            *(alt.Tooltip(f"{end}:Q", format=".4g") for end in ("value", "low", "high")),
        ],
    )
    layers = [] if result.prior_low is None else [_priors(result, y, title, scale)]
    nothing = rule(0 if result.ratio_name is None else 1, "x", strokeDash=[4, 4])
    written = "; ".join(
        f"{row['line']} {number(row['value'])} ({interval(row['low'], row['high'])})"
        if result.errors is not None
        else f"{row['line']} {number(row['value'])}"
        for row in rows
    )
    meaning = "numbers: for one unit more"
    if any(result.levels):
        levels = "against the base" if result.is_base.any() else "each by itself"
        meaning += f"; levels: {levels}"
    notes = [meaning]
    # the notes of a posterior are about its numbers, and longer than a figure is wide
    notes += ["pale bars: the interval of the prior"] if layers else result.notes
    chart = alt.layer(*layers, nothing, bar, point)
    heading = f"{result.model}: {result.outcome}"
    return headed(chart, heading, notes, written, width=360, height=alt.Step(20))


def _priors(result: "Coefficients", y: Any, title: str, scale: Any) -> Any:
    """Draw the interval of each prior as a pale bar, cut off at what the posterior needs."""
    import altair as alt
    import numpy as np

    assert result.prior_low is not None
    assert result.prior_high is not None
    shown = [k for k, column in enumerate(result.columns) if column and not result.is_base[k]]
    ends = np.concatenate([result.low[shown], result.high[shown], [0.0]])
    middle, reach = (ends.max() + ends.min()) / 2, ends.max() - ends.min()
    least, most = middle - 1.5 * reach, middle + 1.5 * reach
    low, high = np.clip(result.prior_low, least, most), np.clip(result.prior_high, least, most)
    if result.ratio_name is not None:
        low, high = np.exp(low), np.exp(high)
    names = result.names()
    rows = [{"line": cut(names[k]), "low": low[k], "high": high[k]} for k in shown]
    return (
        chart_of(rows)
        .mark_bar(height=10, opacity=0.25, color=GREY)
        .encode(y=y, x=alt.X("low:Q", title=title, scale=scale), x2=alt.X2("high:Q"))
    )


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
