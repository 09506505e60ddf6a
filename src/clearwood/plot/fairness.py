"""Figures of groups of people: measures with intervals, distributions, and the parts of a gap."""

from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._shared.errors import unknown_choice
from clearwood._shared.numbers import number, percent
from clearwood.plot import style
from clearwood.plot.style import AXIS, DOWN, GREY, bars, chart_of, cut, headed, rule

if TYPE_CHECKING:
    from clearwood.fairness import Gap, GapPart, GroupMeasures

__all__ = ["plot_gap", "plot_group_quantiles", "plot_groups"]


#: Where groups are alike, by measure.
_EQUAL = {
    "ratio": 1.0,
    "relativity": 1.0,
    "impact_ratio": 1.0,
    "observed_expected": 1.0,
    "difference": 0.0,
    "smd": 0.0,
    "selection_difference": 0.0,
    "observed_less_expected": 0.0,
    "standard_deviations": 0.0,
}


#: Measures that compare with the reference.
_COMPARED = ("ratio", "difference", "smd", "selection_difference", "standard_deviations")


_ROW = 26

_WIDTH = 380


def plot_groups(groups: "GroupMeasures", measure: str | None = None) -> Any:
    """Draw a measure of every group with its interval."""
    import altair as alt

    name = groups.main_measure if measure is None else measure
    if name not in groups.values:
        raise unknown_choice("measure", name, groups.values)
    rows: list[dict[str, Any]] = [
        {
            "group": cut(label),
            "value": _known(groups.values[name][k]),
            "low": _known(groups.low[name][k]),
            "high": _known(groups.high[name][k]),
            "rows": int(groups.rows[k]),
            "standing": str(groups.standing[k]),
        }
        for k, label in enumerate(groups.names)
        if np.isfinite(groups.values[name][k])
    ]
    order = [row["group"] for row in rows]
    words = name.replace("_", " ")
    y = alt.Y("group:N", sort=order, title=groups.title, axis=alt.Axis(labelLimit=220))
    x = alt.X("value:Q", title=words, axis=alt.Axis(**AXIS), scale=alt.Scale(zero=False))
    base = chart_of(rows)
    tips = [
        "group:N",
        alt.Tooltip("value:Q", format=".4g"),
        alt.Tooltip("low:Q", format=".4g"),
        alt.Tooltip("high:Q", format=".4g"),
        alt.Tooltip("rows:Q", format=","),
        "standing:N",
    ]
    spans = base.mark_rule(color=DOWN, strokeWidth=2).encode(
        y=y, x=alt.X("low:Q", title=words), x2=alt.X2("high:Q")
    )
    points = base.mark_point(color=DOWN, filled=True, size=60, opacity=1).encode(
        y=y, x=x, tooltip=tips
    )
    layers = [spans, points]
    if name in _EQUAL:
        layers.insert(0, rule(_EQUAL[name], "x", strokeDash=[4, 3]))
    note = f"{percent(groups.confidence)} intervals"
    if name == "impact_ratio":
        note += ", which hold together; 1 for the group with the highest rate"
    elif groups.reference is not None and name in _COMPARED:
        note += f"; compared with {cut(groups.names[groups.reference])}"
    text = "; ".join(
        f"{row['group']}: {number(row['value'])}" for row in rows if row["value"] is not None
    )
    title = f"{words.capitalize()} by {groups.title}"
    figure = alt.layer(*layers)
    return headed(figure, title, [note], f"{title}. {text}", width=380, height=_height(len(rows)))


def plot_group_quantiles(groups: "GroupMeasures") -> Any:
    """Draw the quantiles of the predictions of every group: middle 50 % and 80 %, and median."""
    import altair as alt

    names = ("p10", "p25", "p50", "p75", "p90")
    rows: list[dict[str, Any]] = [
        {
            "group": cut(label),
            **{key: _known(value) for key, value in zip(names, groups.quantiles[k], strict=True)},
        }
        for k, label in enumerate(groups.names)
        if np.isfinite(groups.quantiles[k]).all()
    ]
    order = [row["group"] for row in rows]
    y = alt.Y("group:N", sort=order, title=groups.title, axis=alt.Axis(labelLimit=220))
    title = f"predicted {groups.output}"
    base = chart_of(rows)
    scale = alt.Scale(zero=False)
    wide = base.mark_rule(color=GREY, strokeWidth=2).encode(
        y=y, x=alt.X("p10:Q", title=title, axis=alt.Axis(**AXIS), scale=scale), x2=alt.X2("p90:Q")
    )
    half = base.mark_bar(color=DOWN, height=10).encode(y=y, x=alt.X("p25:Q"), x2=alt.X2("p75:Q"))
    tips = ["group:N", *(alt.Tooltip(f"{key}:Q", format=".4g") for key in names)]
    middle = base.mark_tick(color="white", thickness=2, height=10).encode(
        y=y, x=alt.X("p50:Q"), tooltip=tips
    )
    note = "median, middle 50 % and middle 80 % of rows"
    text = "; ".join(f"{row['group']}: median {number(row['p50'])}" for row in rows)
    heading = f"Predictions by {groups.title}"
    figure = alt.layer(wide, half, middle)
    return headed(
        figure, heading, [note], f"{heading}. {text}", width=380, height=_height(len(rows))
    )


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _height(n: int) -> int:
    return max(60, _ROW * n)


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
    words = ", ".join(f"{row['part']} {style.number(row['value'])}" for row in rows[:8])
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
