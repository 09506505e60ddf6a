"""Figure of a path of coefficients: one line a column, from the simplest model on."""

from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._shared.numbers import number
from clearwood.plot.style import AXIS, GREY, chart_of, cut, headed, rule

if TYPE_CHECKING:
    from clearwood.explanation import CoefficientPath

__all__ = ["plot_path"]

#: Columns with a colour and a name of their own: those with the largest coefficients.
_MOST_NAMED = 10


def plot_path(result: "CoefficientPath") -> Any:
    """Draw the coefficients, and below them the error of cross-validation or BIC."""
    import altair as alt

    largest = np.argsort(-np.abs(result.coefficients).max(axis=0), kind="stable")
    named = [cut(result.names[j]) for j in largest[:_MOST_NAMED]]
    # degrees of freedom of the lasso stand still while coefficients change
    by_penalty = result.setting == "alpha" and result.model != "ridge"
    along = [float(v) for v in (result.points if by_penalty else result.freedom)]
    title = f"{result.setting}, from the simplest model on" if by_penalty else "degrees of freedom"
    rows = [
        {
            "x": along[k],
            "coefficient": float(result.coefficients[k, j]),
            "column": cut(result.names[j]),
            "point": number(result.points[k]),
        }
        for j in largest
        for k in range(len(result.points))
    ]
    scale = alt.Scale(domain=[along[0], along[-1]], nice=False, padding=4)
    if by_penalty:
        scale.type = "log"
    x = alt.X("x:Q", title=title, axis=alt.Axis(**AXIS, format="~g"), scale=scale)
    lines = (
        chart_of(rows)
        .mark_line(interpolate="linear", point={"size": 12})
        .encode(
            x=x,
            y=alt.Y("coefficient:Q", title="coefficient"),
            detail="column:N",
            color=alt.Color(
                "column:N", scale=alt.Scale(domain=named, scheme="tableau10"), title=None
            ),
            tooltip=["column:N", "point:N", alt.Tooltip("coefficient:Q", format=".4g")],
        )
    )
    chosen = rule(along[result.chosen], "x", strokeDash=[4, 4])
    upper = alt.layer(rule(0, "y"), lines, chosen).properties(width=420, height=240)
    has_cv = bool(np.isfinite(result.cv).any())
    values, spread = (result.cv, result.cv_error) if has_cv else (result.bic, 0 * result.bic)
    points = [
        {"x": at, "value": float(v), "low": float(v - s), "high": float(v + s)}
        for at, v, s in zip(along, values, spread, strict=True)
        if np.isfinite(v)
    ]
    judged = "held-out squared error" if has_cv else "BIC"
    base = chart_of(points).encode(x=x)
    y = alt.Y("value:Q", title=judged, scale=alt.Scale(zero=False))
    layers = [base.mark_line(point={"size": 12}, color=GREY).encode(y=y), chosen]
    if has_cv:
        ends = alt.Y("low:Q", title=judged, scale=alt.Scale(zero=False))
        layers.insert(0, base.mark_rule(color=GREY, opacity=0.4).encode(y=ends, y2="high:Q"))
    lower = alt.layer(*layers).properties(width=420, height=120)
    at = f"{result.setting} {number(result.points[result.chosen])}"
    columns = ", ".join(result.members(result.chosen)[:20]) or "no column"
    error = "; below: squared error of held-out rows, ± one standard error" if has_cv else ""
    return headed(
        alt.vconcat(upper, lower),
        f"Path of {result.model}: {result.outcome}",
        [f"dashed: the fitted model, {at}{error}", *result.notes],
        f"At {at}, {number(result.freedom[result.chosen])} degrees of freedom, the model has "
        f"{columns}.",
    )
