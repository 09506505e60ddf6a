"""Figures of LIME: the coefficients, and how they change with the draw and the kernel width."""

from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._shared.errors import InputError, did_you_mean
from clearwood.plot.style import (
    AXIS,
    DOWN,
    OUTPUTS,
    UP,
    bars,
    chart_of,
    cut,
    headed,
    number,
    rule,
)

if TYPE_CHECKING:
    from clearwood.explanation import Lime

__all__ = ["plot_lime"]

_KINDS = ("draws", "widths")
_WIDTH = 420


def plot_lime(result: "Lime", kind: str = "draws") -> Any:
    """Draw a linear model near one row.

    Parameters
    ----------
    result
        The linear model.
    kind
        "draws": bars, with the coefficient of each draw as a point; "widths": lines over kernel
        widths. Both per standard deviation of the data, so that terms can be compared.
    """
    if kind not in _KINDS:
        raise InputError(f"there is no figure {kind!r}", hint=did_you_mean(kind, _KINDS))
    if not result.terms:
        raise InputError("there are no terms to draw")
    return _draws(result) if kind == "draws" else _widths(result)


def _titled(chart: Any, result: "Lime", title: str, description: str, height: Any) -> Any:
    fit = f"weighted R² {result.r2:.2f}, kernel width {number(result.kernel_width)}"
    notes = [f"{result.output} ({result.unit}); {fit}", *result.notes]
    return headed(chart, title, notes, description, width=_WIDTH, height=height)


def _scaled(result: "Lime", values: Any) -> Any:
    """Return coefficients per standard deviation; exact zeros have no scale to take."""
    ratio = np.where(
        result.coefficients == 0,
        0.0,
        result.standardised / np.where(result.coefficients == 0, 1, result.coefficients),
    )
    return values * ratio


def _draws(result: "Lime") -> Any:
    import altair as alt

    names = [cut(term) for term in result.terms]
    rows = [
        {
            "term": name,
            "coefficient": float(value),
            "sign": ("raises" if value >= 0 else "lowers") + ("" if stable else ", not stable"),
            "per unit": number(raw),
            "draws of this sign": f"{agreed:.0%}",
        }
        for name, value, raw, agreed, stable in zip(
            names,
            result.standardised,
            result.coefficients,
            result.sign_agreement,
            result.stable,
            strict=True,
        )
    ]
    points = [
        {"term": name, "coefficient": float(value)}
        for draw in _scaled(result, result.draws)
        for name, value in zip(names, draw, strict=True)
    ]
    signs = ["raises", "lowers", "raises, not stable", "lowers, not stable"]
    seen = [sign for sign in signs if any(row["sign"] == sign for row in rows)]
    colours = dict(zip(signs, [UP, DOWN, "#EFC3A4", "#A9CCE3"], strict=True))
    scale = alt.Scale(domain=seen, range=[colours[sign] for sign in seen])
    unit = f"{result.unit} per standard deviation"
    chart = bars(rows, "term", "coefficient", unit, height={"band": 0.7}).encode(
        color=alt.Color("sign:N", title=None, scale=scale, legend=alt.Legend(orient="bottom")),
        tooltip=[
            alt.Tooltip("term:N"),
            alt.Tooltip("coefficient:Q"),
            alt.Tooltip("per unit:N"),
            alt.Tooltip("draws of this sign:N"),
        ],
    )
    dots = bars(points, "term", "coefficient", unit).mark_tick(
        color="#000000", thickness=1.5, height=12
    )
    words = "; ".join(f"{row['term']} {number(row['coefficient'])}" for row in rows)
    title = f"Near this row: {number(result.prediction)}"
    described = f"LIME coefficients per standard deviation, ticks are draws: {words}"
    return _titled(chart + dots, result, title, described, alt.Step(28))


def _widths(result: "Lime") -> Any:
    import altair as alt

    names = [cut(term) for term in result.terms]
    rows = [
        {"width": float(width), "term": name, "coefficient": float(value)}
        for width, line in zip(result.widths, _scaled(result, result.by_width), strict=True)
        for name, value in zip(names, line, strict=True)
        if np.isfinite(value)
    ]
    lines = (
        chart_of(rows)
        .mark_line(point=True)
        .encode(
            x=alt.X(
                "width:Q",
                title="kernel width (standard deviations)",
                scale=alt.Scale(type="log", nice=False),
                axis=alt.Axis(values=result.widths.tolist(), format=".2g", **AXIS),
            ),
            y=alt.Y("coefficient:Q", title=f"{result.unit} per standard deviation"),
            color=alt.Color("term:N", sort=names, title=None, scale=alt.Scale(range=OUTPUTS)),
            tooltip=[alt.Tooltip("term:N"), alt.Tooltip("width:Q"), alt.Tooltip("coefficient:Q")],
        )
    )
    title = "The same terms at other kernel widths"
    described = "LIME coefficients per standard deviation over kernel widths, one line a term"
    return _titled(rule(0, "y") + lines, result, title, described, 260)
