"""Figure of coefficients: each with its interval, as ratios where there is a log or logit link."""

from typing import TYPE_CHECKING, Any

from clearwood._shared.frames import plain
from clearwood._shared.numbers import interval, number, percent
from clearwood.plot.style import chart_of, cut, headed, rule

if TYPE_CHECKING:
    from clearwood.explanation import Coefficients

__all__ = ["plot_coefficients"]

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
    data = plain(rows)
    name = result.ratio_name or "coefficient"
    title = name if result.errors is None else f"{name}, {percent(result.confidence)} interval"
    scale = (
        alt.Scale(zero=False)
        if result.ratio_name is None
        else alt.Scale(type="log", nice=False, padding=12)
    )
    y = alt.Y("line:N", sort=[row["line"] for row in rows], title=None)
    base = chart_of(data).encode(y=y)
    bar = base.mark_bar(height=2, opacity=0.9).encode(
        x=alt.X("low:Q", title=title, scale=scale), x2="high:Q"
    )
    point = base.mark_point(filled=True, size=50, opacity=1.0).encode(
        x=alt.X("value:Q", title=title, scale=scale),
        tooltip=[
            "line:N",
            *(alt.Tooltip(f"{end}:Q", format=".4g") for end in ("value", "low", "high")),
        ],
    )
    nothing = rule(0 if result.ratio_name is None else 1, "x", strokeDash=[4, 4])
    written = "; ".join(
        f"{row['line']} {number(row['value'])} ({interval(row['low'], row['high'])})"
        if result.errors is not None
        else f"{row['line']} {number(row['value'])}"
        for row in rows
    )
    notes = ["numbers: for one unit more; levels: against the base", *result.notes]
    chart = nothing + bar + point
    heading = f"{result.model}: {result.outcome}"
    return headed(chart, heading, notes, written, width=360, height=alt.Step(20))
