"""Figures of effects: curves with bands over the density of the data, levels, heat maps."""

from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._shared.errors import unknown_choice
from clearwood._shared.frames import plain
from clearwood._shared.numbers import percent
from clearwood.plot.density import density
from clearwood.plot.heat_map import MISSING, heat_map, near_shares
from clearwood.plot.observed import Means, means_beside
from clearwood.plot.style import (
    AXIS,
    DOWN,
    GREY,
    OUTPUTS,
    UP,
    chart_of,
    cut,
    diverging,
    headed,
    level_step,
    number,
    rule,
)

if TYPE_CHECKING:
    from clearwood.evaluation import ByColumn
    from clearwood.explanation import Effect

__all__ = ["plot_effect"]

_WIDTH, _HEIGHT = 420, 240


def plot_effect(
    effect: "Effect",
    *,
    output: str | None = None,
    most_curves: int = 100,
    observed: "ByColumn | None" = None,
) -> Any:
    """Draw the effect of one column, or of two.

    Parameters
    ----------
    effect
        The effect.
    output
        The output to draw, where there are several; all of them for one column, the last for two
        and of two classes.
    most_curves
        How many individual curves are drawn, evenly over the rows.
    observed
        Observed and predicted means by the same column (`Evaluation.by`), drawn as further lines
        where the effect is of one output and on the scale of the prediction.
    """
    if output is not None and str(output) not in effect.outputs:
        raise unknown_choice("output", output, effect.outputs)
    if output is None and effect.kind == "component" and len(effect.outputs) == 2:
        output = effect.outputs[1]  # of two classes, what one gains the other loses
    if len(effect.columns) == 2:
        return _heat_map(effect, output)
    means = means_beside(effect, observed, _extent(effect))
    if not effect.is_ordered[0]:
        return _levels(effect, output, means)
    return _curve(effect, output, most_curves, means)


def _rows(effect: "Effect", output: str | None) -> list[dict[str, Any]]:
    """Return one record per grid value and output."""
    shape = (len(effect.grid[0]), len(effect.outputs))
    parts = {"value": effect.values, "low": effect.low, "high": effect.high}
    return [
        {
            "x": plain(x),
            **{
                part: None if values is None else plain(float(values.reshape(shape)[i, k]))
                for part, values in parts.items()
            },
            "output": name,
            "share": float(effect.shares[i]),
            "outside": float(effect.outside[i]),
        }
        for i, x in enumerate(effect.grid[0])
        for k, name in enumerate(effect.outputs)
        if output is None or name == str(output)
    ]


def _axis_title(effect: "Effect") -> str:
    if effect.kind == "component":
        return f"effect on {effect.about.quantity}{_of_output(effect)}"
    quantity = effect.about.quantity
    unit = f"slope of the {quantity}" if effect.derivative else quantity
    return f"{unit}, centred" if effect.centred else unit


def _of_output(effect: "Effect") -> str:
    outputs = effect.outputs
    return "" if outputs == ("prediction",) or len(outputs) > 1 else f" of {outputs[0]}"


def _colour(effect: "Effect", output: str | None) -> Any:
    import altair as alt

    if len(effect.outputs) == 1 or output is not None:
        return alt.ColorValue(DOWN)
    scale = alt.Scale(domain=list(effect.outputs), range=OUTPUTS)
    return alt.Color("output:N", title="output", scale=scale)


def _scale(effect: "Effect", means: Means | None) -> Any:
    """Return one scale for the curve and the mark of missing values, which stand side by side."""
    import altair as alt

    domain = _extent(effect) if means is None else means.domain
    return alt.Scale(domain=domain, nice=True, zero=False)


def _extent(effect: "Effect") -> list[float]:
    """Return the range of the axis: curves of single rows are cut where they are extreme."""
    shown = [effect.values, effect.low, effect.high]
    if effect.curves is not None:
        shown += [np.nanquantile(effect.curves, [0.005, 0.995])]
    known = np.concatenate([np.ravel(part) for part in shown if part is not None])
    return [float(np.nanmin(known)), float(np.nanmax(known))]


def _curve(effect: "Effect", output: str | None, most_curves: int, means: Means | None) -> Any:
    import altair as alt

    rows = _rows(effect, output)
    name = effect.columns[0]
    kind = "T" if effect.grid[0].dtype.kind == "M" else "Q"
    present = [row for row in rows if row["x"] is not None]
    x = alt.X(
        f"x:{kind}",
        title=None,
        axis=alt.Axis(labels=False, ticks=False, grid=False),
        scale=alt.Scale(zero=False, nice=False),
    )
    y = alt.Y("value:Q", title=_axis_title(effect), scale=_scale(effect, means))
    base = chart_of(present).encode(x=x)
    colour = _colour(effect, output)
    shape: Any = "step" if effect.is_step else "linear"
    layers = [*_individual(effect, x, most_curves), *_reference(effect, "y")]
    if effect.low is not None:
        area = base.mark_area(opacity=0.2, interpolate=shape)
        layers.append(area.encode(y=alt.Y("low:Q"), y2=alt.Y2("high:Q"), color=colour))
    tooltip = _tooltip(f"x:{kind}", name)
    for dotted, part in _stretches(effect, present):
        dashes = {"strokeDash": [2, 3]} if dotted else {}
        line = chart_of(part).mark_line(interpolate=shape, strokeWidth=2, **dashes)
        layers.append(line.encode(x=x, y=y, color=colour, tooltip=tooltip))
    if means is not None:
        layers += means.lines(x, _axis_title(effect))
    main = alt.layer(*layers).properties(width=_WIDTH, height=_HEIGHT)
    figure: Any = alt.vconcat(
        main, density(effect.columns[0], effect.grid[0], effect.shares), spacing=4
    )
    absent = [row for row in rows if row["x"] is None]
    if absent:
        figure = alt.hconcat(figure, _missing(effect, absent, colour, means))
    return _titled(figure, effect, means=means)


def _stretches(
    effect: "Effect", present: list[dict[str, Any]]
) -> list[tuple[bool, list[dict[str, Any]]]]:
    """Cut the line into stretches that extrapolate and those that do not.

    A segment is dotted if either end extrapolates; neighbours share an end, so the line is whole.
    """
    marked = effect.extrapolates
    n_outputs = max(1, len({row["output"] for row in present}))
    n_points = len(present) // n_outputs
    pieces: list[tuple[bool, list[dict[str, Any]]]] = []
    first = 0
    dotted = [bool(marked[i] or marked[i + 1]) for i in range(n_points - 1)]
    for i in range(1, n_points):
        if i == n_points - 1 or dotted[i] != dotted[i - 1]:
            pieces.append((dotted[i - 1], present[first * n_outputs : (i + 1) * n_outputs]))
            first = i
    return pieces or [(False, present)]


def _individual(effect: "Effect", x: Any, most: int) -> list[Any]:
    import altair as alt

    if effect.curves is None:
        return []
    n_rows = len(effect.curves)
    chosen = np.unique(np.linspace(0, n_rows - 1, min(most, n_rows)).round().astype(np.intp))
    values = effect.curves.reshape(n_rows, len(effect.grid[0]), -1)[..., -1]
    rows = [
        {"x": plain(at), "value": plain(float(values[i, j])), "row": int(i)}
        for i in chosen
        for j, at in enumerate(effect.grid[0])
        if plain(at) is not None
    ]
    shape: Any = "step" if effect.is_step else "linear"
    line = chart_of(rows).mark_line(
        interpolate=shape, strokeWidth=0.6, opacity=0.35, color=GREY, clip=True
    )
    return [line.encode(x=x, y=alt.Y("value:Q"), detail=alt.Detail("row:N"))]


def _tooltip(field: str, column: str) -> list[Any]:
    import altair as alt

    return [
        alt.Tooltip(field, title=column),
        alt.Tooltip("value:Q", format=".4g"),
        alt.Tooltip("share:Q", format=".1%", title="share of the data"),
        alt.Tooltip("outside:Q", format=".0%", title="outside the data"),
    ]


def _reference(effect: "Effect", along: str) -> list[Any]:
    """Draw where the effect is none, or where the mean prediction is."""
    is_relative = effect.derivative or effect.centred
    if not is_relative and np.size(effect.baseline) > 1:
        return []
    at = 0.0 if is_relative else float(np.reshape(effect.baseline, -1)[0])
    return [rule(at, along, strokeDash=[6, 4])]


def _missing(effect: "Effect", rows: list[dict[str, Any]], colour: Any, means: Means | None) -> Any:
    import altair as alt

    marked = [{**row, "x": MISSING} for row in rows]
    base = chart_of(marked).encode(
        x=alt.X("x:N", title=None, axis=alt.Axis(labelAngle=0)), color=colour
    )
    hidden = alt.Axis(labels=False, ticks=False)
    y = alt.Y("value:Q", title=None, axis=hidden, scale=_scale(effect, means))
    points = base.mark_point(filled=True, size=80, shape="diamond", opacity=1).encode(y=y)
    layers = [points]
    if effect.low is not None:
        layers.insert(
            0,
            base.mark_rule(strokeWidth=3, opacity=0.4).encode(
                y=alt.Y("low:Q"), y2=alt.Y2("high:Q")
            ),
        )
    if means is not None:
        layers += means.missing()
    return alt.layer(*layers).properties(width=50, height=_HEIGHT)


def _levels(effect: "Effect", output: str | None, means: Means | None) -> Any:
    """Draw a point for each level with its band; hollow where it extrapolates."""
    import altair as alt

    rows = _rows(effect, output)
    for row in rows:
        row["level"] = MISSING if row["x"] is None else cut(str(row["x"]))
        row["where"] = "extrapolates" if row["outside"] > 0.2 else "within the data"
        row["rows"] = f"{percent(row['share'], 2)} of the data"
        row["sign"] = "raises" if (row["value"] or 0) > 0 else "lowers"
    order = list(dict.fromkeys(row["level"] for row in rows))
    colour = _colour(effect, output)
    several = len({row["output"] for row in rows}) > 1
    base = chart_of(rows).encode(
        y=alt.Y("level:N", sort=order, title=effect.columns[0]), color=colour
    )
    if several:
        base = base.encode(yOffset=alt.YOffset("output:N"))
    scale = alt.Scale(zero=False) if means is None else _scale(effect, means)
    x = alt.X("value:Q", title=_axis_title(effect), scale=scale)
    if effect.kind == "component":
        x = alt.X("value:Q", title=_axis_title(effect), axis=alt.Axis(**AXIS))
    shapes = alt.Scale(domain=["within the data", "extrapolates"], range=["circle", "cross"])
    legend = alt.Legend(orient="bottom") if effect.extrapolates.any() else None
    points = base.mark_point(size=80, filled=True, opacity=1).encode(
        x=x,
        shape=alt.Shape("where:N", title=None, scale=shapes, legend=legend),
        tooltip=_tooltip("level:N", effect.columns[0]),
    )
    layers = [*_reference(effect, "x"), points]
    if effect.kind == "component":
        bars = base.mark_bar(height={"band": 0.7}).encode(x=x, tooltip=points.encoding.tooltip)
        if not several:
            signs = alt.Scale(domain=["raises", "lowers"], range=[UP, DOWN])
            bars = bars.encode(color=alt.Color("sign:N", scale=signs, legend=None))
        layers = [bars]
    if effect.low is not None:
        bands = base.mark_rule(strokeWidth=3, opacity=0.4).encode(
            x=alt.X("low:Q"), x2=alt.X2("high:Q")
        )
        layers.insert(0 if effect.kind != "component" else 1, bands)
    if means is not None:
        layers += means.levels(order, _axis_title(effect))
    n_outputs = len({row["output"] for row in rows}) if means is None else 3
    sizes = (
        chart_of(rows[:: max(len({row["output"] for row in rows}), 1)])
        .mark_text(align="left", color=GREY, fontSize=10)
        .encode(y=alt.Y("level:N", sort=order, title=None, axis=None), text=alt.Text("rows:N"))
        .properties(width=80, height=level_step(n_outputs))
    )
    main = alt.layer(*layers).properties(width=_WIDTH - 80, height=level_step(n_outputs))
    figure = alt.hconcat(main, sizes, spacing=6).resolve_scale(y="shared")
    return _titled(figure, effect, means=means)


def _heat_map(effect: "Effect", output: str | None) -> Any:
    """Draw two columns against each other; dots where rows lie outside the data."""
    import altair as alt

    k = len(effect.outputs) - 1 if output is None else effect.outputs.index(str(output))
    values = effect.values.reshape(*effect.shares.shape, -1)[..., k]
    chart = heat_map(
        columns=effect.columns,
        grid=effect.grid,
        is_ordered=effect.is_ordered,
        values=values,
        shares=effect.shares,
        dotted=effect.extrapolates,
        colour=diverging(values[np.isfinite(values)])
        if effect.centred
        else alt.Scale(scheme="viridis"),
        title=_axis_title(effect).split(" "),
    )
    more = [f"output: {effect.outputs[k]}"] if len(effect.outputs) > 1 else []
    if (near_shares(effect.shares, effect.is_ordered) == 0).any():
        more.append("pale: no rows near")
    return _titled(chart, effect, more)


def _titled(
    figure: Any,
    effect: "Effect",
    more: list[str] | None = None,
    *,
    means: Means | None = None,
) -> Any:
    subtitle = [effect.summary, *(more or [])]
    if means is not None:
        subtitle.append(means.note)
    if effect.extrapolates.any():
        share = f"{effect.extrapolates.sum()} of {effect.extrapolates.size} points"
        subtitle.append(f"dotted: relies on rows outside the data ({share})")
    if effect.curves is not None:
        low, high = _extent(effect)
        if np.nanmin(effect.curves) < low or np.nanmax(effect.curves) > high:
            subtitle.append("the most extreme 1 % of the curves' values are cut off")
    low, high = float(np.nanmin(effect.values)), float(np.nanmax(effect.values))
    described = f"{effect.title}: from {number(low)} to {number(high)}; {effect.summary}"
    return headed(figure, effect.title, subtitle, described)
