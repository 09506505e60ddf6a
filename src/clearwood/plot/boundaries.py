"""Figure of decision boundaries: the predicted class over two columns."""

from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._shared.numbers import percent
from clearwood.plot.style import AXIS, OUTPUTS, chart_of, cut, headed

if TYPE_CHECKING:
    from clearwood.explanation import Boundaries

__all__ = ["plot_boundaries"]

_MOST_ROWS = 1_000


def plot_boundaries(result: "Boundaries") -> Any:
    """Draw the predicted class as colour, paler where it is less certain, and the rows on top."""
    import altair as alt

    names = [cut(name) for name in result.classes]
    domain = alt.Scale(domain=names, range=OUTPUTS * (1 + len(names) // 7))
    half_x, half_y = (0.5 * (grid[1] - grid[0]) for grid in (result.x, result.y))
    certain = np.nan_to_num(result.certainty, nan=1.0)
    cells = [
        {
            "x0": float(x - half_x),
            "x1": float(x + half_x),
            "y0": float(y - half_y),
            "y1": float(y + half_y),
            "class": names[result.predicted[i, j]],
            "certainty": round(float(certain[i, j]), 3),
        }
        for i, y in enumerate(result.y)
        for j, x in enumerate(result.x)
    ]
    x_scale = alt.Scale(domain=[float(result.x[0]), float(result.x[-1])], nice=False)
    y_scale = alt.Scale(domain=[float(result.y[0]), float(result.y[-1])], nice=False)
    plane = (
        chart_of(cells)
        .mark_rect(clip=True)
        .encode(
            x=alt.X("x0:Q", title=result.columns[0], scale=x_scale, axis=alt.Axis(**AXIS)),
            x2=alt.X2("x1:Q"),
            y=alt.Y("y0:Q", title=result.columns[1], scale=y_scale, axis=alt.Axis(**AXIS)),
            y2=alt.Y2("y1:Q"),
            color=alt.Color("class:N", scale=domain, title=None),
            opacity=alt.Opacity(
                "certainty:Q",
                scale=alt.Scale(domain=[1 / len(names), 1], range=[0.08, 0.45]),
                legend=None,
            ),
            tooltip=[alt.Tooltip("class:N"), alt.Tooltip("certainty:Q")],
        )
    )
    known = result.rows[np.isfinite(result.rows).all(axis=1) & (result.rows[:, 2] >= 0)]
    if len(known) > _MOST_ROWS:
        known = known[np.linspace(0, len(known) - 1, _MOST_ROWS).astype(int)]
    rows = [{"x": float(x), "y": float(y), "class": names[int(k)]} for x, y, k in known]
    points = (
        chart_of(rows)
        .mark_point(filled=True, size=24, opacity=0.9, stroke="white", strokeWidth=0.5)
        .encode(
            x=alt.X("x:Q"), y=alt.Y("y:Q"), color=alt.Color("class:N", scale=domain, title=None)
        )
    )
    held = ", ".join(f"{name} = {value}" for name, value in list(result.held.items())[:3])
    rest = f" and {len(result.held) - 3} more columns" if len(result.held) > 3 else ""
    shares = ", ".join(
        f"{name} {percent(share)}" for name, share in zip(names, result.shares(), strict=True)
    )
    return headed(
        alt.layer(plane, points) if rows else plane,
        f"Decision boundaries of {result.model}: {result.outcome}",
        [f"held: {held}{rest}" if held else "the model has these two columns only"],
        f"Share of the plane by predicted class: {shares}.",
        width=400,
        height=340,
    )
