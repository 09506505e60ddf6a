"""Figures of gaps between groups: a bar for each part."""

from typing import TYPE_CHECKING, Any

from clearwood._shared.numbers import percent
from clearwood.plot.style import AXIS, DOWN, bars, chart_of, cut, headed, number, rule

if TYPE_CHECKING:
    from clearwood.fairness import Gap, GapPart

__all__ = ["plot_gap"]

_WIDTH = 380


def plot_gap(gap: "Gap", *, group: str | None = None, most: int = 20) -> Any:
    """Draw a bar for each part of the gap between a group and the reference.

    Parameters
    ----------
    gap
        The gap.
    group
        The group; by default the first that is not the reference.
    most
        How many columns, the largest parts first.
    """
    import altair as alt

    others = [label for label in gap.groups if label != gap.reference]
    label = others[0] if group is None else group
    total, *rest = gap[label]
    ordered = sorted(rest, key=lambda part: -abs(part.difference))[:most]
    rows = [_row(gap, part) for part in (total, *ordered)]
    measure = "ratio" if gap.has_ratios else "difference"
    start = 1.0 if gap.has_ratios else 0.0
    for row in rows:
        row["from"] = start
    chart = bars(rows, "part", "value", measure, color=DOWN, opacity=0.75).encode(
        # bars begin at a ratio of 1, so that nothing is to be seen near 0
        x=alt.X("value:Q", title=measure, axis=alt.Axis(**AXIS), scale=alt.Scale(zero=False)),
        x2=alt.X2("from:Q"),
    )
    layers = [chart, rule(start, "x")]
    notes = []
    if gap.n_refits:
        notes.append(f"{percent(gap.confidence)} intervals from {gap.n_refits} refits")
        whiskers = chart_of(rows).mark_rule(color="black", strokeWidth=1.5)
        names = [row["part"] for row in rows]
        layers.append(
            whiskers.encode(y=alt.Y("part:N", sort=names), x=alt.X("low:Q"), x2=alt.X2("high:Q"))
        )
    title = f"{label} against {gap.reference}"
    words = ", ".join(f"{row['part']} {number(row['value'])}" for row in rows[:8])
    return headed(
        alt.layer(*layers),
        f"Gap: {title}",
        notes,
        f"Parts of the gap, {title}, each a {measure}: {words}",
        width=_WIDTH,
        height=alt.Step(20),
    )


def _row(gap: "Gap", part: "GapPart") -> dict[str, Any]:
    """Return a part as ratio or difference, with its interval."""
    name = cut(part.name, 40)
    if gap.has_ratios:
        return {
            "part": name,
            "value": part.ratio,
            "low": part.ratio_low,
            "high": part.ratio_high,
        }
    return {"part": name, "value": part.difference, "low": part.low, "high": part.high}
