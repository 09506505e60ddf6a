"""Figures of LIME: the coefficients, and how they change with the draw and the kernel width."""

from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._shared.errors import InputError, did_you_mean
from clearwood.plot.style import AXIS, DOWN, GREY, OUTPUTS, UP, cut, number, records

if TYPE_CHECKING:
    from clearwood.explanation import Lime

__all__ = ["plot_lime"]

_KINDS = ("draws", "widths")
_WIDTH = 420


def plot_lime(result: "Lime", kind: str = "draws") -> Any:
    """Draw a linear model near one row.

    Parameters
    ----------
    found
        The linear model.
    kind
        "draws": bars, with the coefficient of each draw as a point; "widths": lines over kernel
        widths. Both per standard deviation of the data, so that terms can be compared.

    Returns
    -------
    altair.TopLevelMixin
        A chart.
    """
    if kind not in _KINDS:
        raise InputError(f"there is no figure {kind!r}", hint=did_you_mean(kind, _KINDS))
    if not result.terms:
        raise InputError("there are no terms to draw")
    return _draws(result) if kind == "draws" else _widths(result)


def _title(result: "Lime", title: str) -> Any:
    import altair as alt

    fit = f"weighted R² {result.r2:.2f}, kernel width {number(result.kernel_width)}"
    subtitle = [f"{result.output} ({result.unit}); {fit}", *result.notes]
    return alt.TitleParams(title, subtitle=subtitle, anchor="start", subtitleColor=GREY)


def _scaled(result: "Lime", values: Any) -> Any:
    """Give coefficients per standard deviation; exact zeros have no scale to take."""
    ratio = np.where(
        result.coefficients == 0,
        0.0,
        result.standardised / np.where(result.coefficients == 0, 1, result.coefficients),
    )
    return values * ratio


def _draws(result: "Lime") -> Any:
    import altair as alt

    names = [cut(term) for term in result.terms]
    bars = [
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
    seen = [sign for sign in signs if any(bar["sign"] == sign for bar in bars)]
    colours = dict(zip(signs, [UP, DOWN, "#EFC3A4", "#A9CCE3"], strict=True))
    scale = alt.Scale(domain=seen, range=[colours[sign] for sign in seen])
    axis = alt.X(
        "coefficient:Q", title=f"{result.unit} per standard deviation", axis=alt.Axis(**AXIS)
    )
    place = alt.Y("term:N", sort=names, title=None, axis=alt.Axis(labelLimit=260))
    chart = (
        alt.Chart(records(bars))
        .mark_bar(height={"band": 0.7})
        .encode(
            y=place,
            x=axis,
            color=alt.Color("sign:N", title=None, scale=scale, legend=alt.Legend(orient="bottom")),
            tooltip=["term:N", "coefficient:Q", "per unit:N", "draws of this sign:N"],
        )
    )
    dots = alt.Chart(records(points)).mark_tick(color="#000000", thickness=1.5, height=12)
    dots = dots.encode(y=place, x=axis)
    words = "; ".join(f"{bar['term']} {number(bar['coefficient'])}" for bar in bars)
    title = f"Near this row: {number(result.prediction)}"
    return (chart + dots).properties(
        width=_WIDTH,
        height=alt.Step(28),
        title=_title(result, title),
        description=f"LIME coefficients per standard deviation, ticks are draws: {words}",
    )


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
        alt.Chart(records(rows))
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
            tooltip=["term:N", "width:Q", "coefficient:Q"],
        )
    )
    zero = alt.Chart(records([{"at": 0}])).mark_rule(color=GREY).encode(y="at:Q")
    return (zero + lines).properties(
        width=_WIDTH,
        height=260,
        title=_title(result, "The same terms at other kernel widths"),
        description="LIME coefficients per standard deviation over kernel widths, one line a term",
    )
