"""Figures of effects: curves and steps over the data's density, bars by level, heat maps."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._shared.errors import InputError, did_you_mean
from clearwood.plot.density import density
from clearwood.plot.heat_map import MISSING, heat_map, near_shares, plain
from clearwood.plot.style import (
    AXIS,
    DOWN,
    GREY,
    OUTPUTS,
    UP,
    cut,
    diverging,
    level_step,
    number,
    records,
    titled,
)

if TYPE_CHECKING:
    from clearwood.explanation import Effect

__all__ = ["plot_effect"]

_WIDTH, _HEIGHT = 420, 240
# Standard errors of the 95% band of what is estimated.
_NORMAL = 1.96


def plot_effect(effect: "Effect", *, output: str | None = None) -> Any:
    """Draw the effect of one column, or of two.

    Parameters
    ----------
    effect
        What a decomposition gave.
    output
        The output to draw, where there are several; all of them for one column, the last for two.

    Returns
    -------
    altair.TopLevelMixin
        A chart.
    """
    effect = _of_output(effect, output)
    if len(effect.columns) == 2:
        return _heat_map(effect)
    return _curve(effect) if effect.is_ordered[0] else _levels(effect)


def _of_output(effect: "Effect", output: str | None) -> "Effect":
    names = effect.about.outputs
    if output is not None and str(output) not in names:
        raise InputError(f"there is no output {output!r}", hint=did_you_mean(str(output), names))
    if len(names) == 1 or (output is None and len(effect.columns) == 1 and len(names) != 2):
        return effect
    # two outputs are two classes, and what one gains the other loses
    k = len(names) - 1 if output is None else names.index(str(output))
    return replace(
        effect,
        values=effect.values[..., k],
        standard_errors=None if effect.standard_errors is None else effect.standard_errors[..., k],
        baseline=np.reshape(effect.baseline, -1)[k],
        about=replace(effect.about, outputs=(names[k],)),
    )


def _axis_title(effect: "Effect") -> str:
    quantity = "effect on" if effect.quantity == "effect" else "mean"
    outputs = effect.about.outputs
    of = "" if outputs == ("prediction",) or len(outputs) > 1 else f" of {outputs[0]}"
    return f"{quantity} {effect.about.unit}{of}"


def _table(effect: "Effect") -> list[dict[str, Any]]:
    """Give one record per value and output."""
    outputs = effect.about.outputs
    shape = (len(effect.grid[0]), len(outputs))
    values = effect.values.reshape(shape)
    errors = effect.standard_errors
    half = np.zeros(shape) if errors is None else _NORMAL * errors.reshape(shape)
    return [
        {
            "x": plain(x),
            "effect": float(values[i, k]),
            "lower": float(values[i, k] - half[i, k]),
            "upper": float(values[i, k] + half[i, k]),
            "output": name,
            "share": float(effect.shares[i]),
        }
        for i, x in enumerate(effect.grid[0])
        for k, name in enumerate(outputs)
    ]


def _colour(effect: "Effect") -> Any:
    import altair as alt

    if len(effect.about.outputs) == 1:
        return alt.value(DOWN)
    return alt.Color("output:N", title="output", scale=alt.Scale(range=OUTPUTS))


def _curve(effect: "Effect") -> Any:
    """Draw steps or a line over the density of the data; a missing value stands apart."""
    import altair as alt

    rows = _table(effect)
    name = effect.columns[0]
    kind = "T" if effect.grid[0].dtype.kind == "M" else "Q"
    present = [row for row in rows if row["x"] is not None]
    y = alt.Y("effect:Q", title=_axis_title(effect), scale=alt.Scale(zero=False))
    x = alt.X(
        f"x:{kind}",
        title=None,
        axis=alt.Axis(labels=False, ticks=False, grid=False),
        scale=alt.Scale(zero=False, nice=False),
    )
    tooltip = [
        alt.Tooltip(f"x:{kind}", title=name),
        alt.Tooltip("effect:Q", format=".4g"),
        alt.Tooltip("share:Q", format=".1%", title="share of rows"),
    ]
    base = alt.Chart(records(present)).encode(x=x, y=y, tooltip=tooltip)
    shape: Any = "step" if effect.is_step else "linear"
    line = base.mark_line(interpolate=shape, strokeWidth=2).encode(color=_colour(effect))
    layers = [*_reference(effect), line]
    if effect.standard_errors is not None:
        area = alt.Chart(records(present)).mark_area(opacity=0.2, interpolate=shape)
        y_low = alt.Y("lower:Q", title=_axis_title(effect), scale=alt.Scale(zero=False))
        layers.insert(0, area.encode(x=x, y=y_low, y2="upper:Q", color=_colour(effect)))
    main = alt.layer(*layers).properties(width=_WIDTH, height=_HEIGHT)
    figure = alt.vconcat(main, density(effect.columns[0], effect.grid[0], effect.shares), spacing=4)
    absent = [row for row in rows if row["x"] is None]
    if absent:
        figure = alt.hconcat(figure, _missing(effect, absent)).resolve_scale(y="shared")
    notes = (
        ["band: 95%, for the rows that were drawn"] if effect.standard_errors is not None else []
    )
    return titled(figure, effect.title, effect.about, notes).properties(description=_words(effect))


def _reference(effect: "Effect") -> list[Any]:
    """Draw where the effect is none, or where the mean prediction is."""
    import altair as alt

    if np.ndim(effect.baseline) and np.size(effect.baseline) > 1 and effect.quantity != "effect":
        return []
    at = 0.0 if effect.quantity == "effect" else float(np.reshape(effect.baseline, -1)[0])
    rule = alt.Chart(records([{"at": at}])).mark_rule(color=GREY, strokeDash=[4, 4])
    return [rule.encode(y=alt.Y("at:Q"))]


def _missing(effect: "Effect", rows: list[dict[str, Any]]) -> Any:
    import altair as alt

    marked = [{**row, "x": MISSING} for row in rows]
    return (
        alt.Chart(records(marked))
        .mark_point(filled=True, size=80, shape="diamond", opacity=1)
        .encode(
            x=alt.X("x:N", title=None, axis=alt.Axis(labelAngle=0)),
            y=alt.Y(
                "effect:Q",
                title=None,
                axis=alt.Axis(labels=False, ticks=False),
                scale=alt.Scale(zero=False),
            ),
            color=_colour(effect),
            tooltip=[
                alt.Tooltip("effect:Q", format=".4g"),
                alt.Tooltip("share:Q", format=".1%", title="share of rows"),
            ],
        )
        .properties(width=50, height=_HEIGHT)
    )


def _levels(effect: "Effect") -> Any:
    """Draw a bar for each level, with how many rows have it."""
    import altair as alt

    rows = _table(effect)
    for row in rows:
        row["level"] = MISSING if row["x"] is None else cut(str(row["x"]))
        row["rows"] = f"{row['share']:.0%} of rows" if row["share"] >= 0.005 else "< 1% of rows"
        row["sign"] = "raises" if row["effect"] > 0 else "lowers"
    order = list(dict.fromkeys(row["level"] for row in rows))
    several = len(effect.about.outputs) > 1
    y = alt.Y("level:N", sort=order, title=effect.columns[0])
    tooltip = [
        alt.Tooltip("level:N", title=effect.columns[0]),
        alt.Tooltip("effect:Q", format=".4g"),
        alt.Tooltip("share:Q", format=".1%", title="share of rows"),
    ]
    x = alt.X("effect:Q", title=_axis_title(effect), axis=alt.Axis(**AXIS))
    base = alt.Chart(records(rows)).encode(y=y, tooltip=tooltip)
    if effect.quantity == "effect":
        bars = base.mark_bar(height={"band": 0.7}).encode(x=x)
    else:
        x = alt.X("effect:Q", title=_axis_title(effect), scale=alt.Scale(zero=False))
        bars = base.mark_point(filled=True, size=90, opacity=1).encode(x=x)
    if several:
        bars = bars.encode(color=_colour(effect), yOffset="output:N")
    elif effect.quantity == "effect":
        signs = alt.Scale(domain=["raises", "lowers"], range=[UP, DOWN])
        bars = bars.encode(color=alt.Color("sign:N", title="prediction", scale=signs, legend=None))
    else:
        bars = bars.encode(color=alt.value(DOWN))
    sizes = (
        alt.Chart(
            records(rows[:: len(effect.about.outputs)]),
            view=alt.ViewBackground(stroke=None),
        )
        .mark_text(align="left", color=GREY, fontSize=10)
        .encode(
            y=alt.Y("level:N", sort=order, title=None, axis=None), x=alt.value(0), text="rows:N"
        )
        .properties(width=80)
    )
    step = level_step(len(effect.about.outputs))
    figure = alt.hconcat(
        bars.properties(width=_WIDTH - 80, height=step), sizes.properties(height=step), spacing=6
    ).resolve_scale(y="shared")
    return titled(figure, effect.title, effect.about).properties(description=_words(effect))


def _heat_map(effect: "Effect") -> Any:
    """Draw two columns against each other; cells where no rows are stay pale."""
    import altair as alt

    chart = heat_map(
        columns=effect.columns,
        grid=effect.grid,
        is_ordered=effect.is_ordered,
        values=effect.values,
        shares=effect.shares,
        dotted=np.zeros(effect.shares.shape, bool),
        colour=diverging(effect.values)
        if effect.quantity == "effect"
        else alt.Scale(scheme="viridis"),
        title=_axis_title(effect).rsplit(" ", 1),
    )
    notes = []
    if (near_shares(effect.shares, effect.is_ordered) == 0).any():
        notes.append("pale: no rows near")
    if _has_missing(effect):
        notes.append("missing values are not shown")
    return titled(chart, effect.title, effect.about, notes).properties(description=_words(effect))


def _has_missing(effect: "Effect") -> bool:
    return any(
        plain(values[-1]) is None
        for values, ordered in zip(effect.grid, effect.is_ordered, strict=True)
        if ordered
    )


def _words(effect: "Effect") -> str:
    """Say what the figure shows, for those who cannot see it."""
    low, high = float(effect.values.min()), float(effect.values.max())
    return f"{effect.title}: from {number(low)} to {number(high)}; {effect.about}"
