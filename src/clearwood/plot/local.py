"""Figures of single predictions: contributions, what-if and LIME."""

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
    from clearwood.explanation import Contributions, Lime, WhatIf

__all__ = ["plot_contributions", "plot_lime", "plot_what_if"]


_WIDTH = 380

_KINDS = ("draws", "widths")
_LIME_WIDTH = 420


def plot_what_if(result: "WhatIf", *, output: str | None = None) -> Any:
    """Draw what each change contributes, and beside it what it does alone.

    Parameters
    ----------
    result
        The result of `clearwood.what_if`.
    output
        The output to draw, where there are several; the last when None.
    """
    import altair as alt

    if output is not None and str(output) not in result.outputs:
        raise InputError(
            f"there is no output {output!r}", hint=did_you_mean(str(output), result.outputs)
        )
    k = len(result.outputs) - 1 if output is None else result.outputs.index(str(output))
    rows = [
        {
            "change": cut(f"{column}: {was} → {now}", 44),
            "value": float(share[k]),
            "alone": float(alone[k]),
        }
        for column, was, now, share, alone in zip(
            result.columns, result.was, result.now, result.shares, result.alone, strict=True
        )
    ]
    signed = _signed(rows, "change", f"moves the {result.unit}")
    ticks = signed.mark_tick(color="black", thickness=2, size=14)
    figure = alt.layer(signed, ticks.encode(x=alt.X("alone:Q"), color=alt.ColorValue("black")))
    before, after = number(result.before[k]), number(result.after[k])
    name = "" if len(result.outputs) == 1 else f" of {result.outputs[k]}"
    words = f"prediction{name} {before} → {after}"
    return _titled(figure, "What if", [words, "mark: the change alone", result.model], words)


def plot_contributions(result: "Contributions", *, row: int = 0) -> Any:
    """Draw what each column adds to one row.

    Parameters
    ----------
    result
        The result of `clearwood.contributions`.
    row
        The row's position among those that were taken apart.
    """
    if not 0 <= row < len(result.rows):
        raise InputError(f"there is no row {row}; {len(result.rows)} were taken apart")
    values = result.without_rounding().values[row]
    order = np.argsort(-np.abs(values), kind="stable")
    rows = [{"column": cut(result.columns[k]), "value": float(values[k])} for k in order]
    figure = _signed(rows, "column", f"adds to the {result.unit}")
    words = f"constant {number(result.constant)}, total {number(result.total[row])}"
    title = f"What columns add to row {result.rows[row]}"
    return _titled(figure, title, [words, result.model], words)


def _signed(rows: list[dict[str, Any]], name: str, title: str) -> Any:
    import altair as alt

    colour = alt.condition("datum.value > 0", alt.value(UP), alt.value(DOWN))
    chart = bars(rows, name, "value", title, axis={"tickCount": 6, **AXIS}, height={"band": 0.7})
    tooltip = [f"{name}:N", alt.Tooltip("value:Q", format="+.4g", title=title)]
    return chart.encode(color=colour, tooltip=tooltip)


def _titled(figure: Any, title: str, notes: list[str], words: str) -> Any:
    import altair as alt

    return headed(figure, title, notes, f"{title}: {words}", width=_WIDTH, height=alt.Step(26))


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


def _headed(chart: Any, result: "Lime", title: str, description: str, height: Any) -> Any:
    fit = f"weighted R² {result.r2:.2f}, kernel width {number(result.kernel_width)}"
    notes = [f"{result.output} ({result.unit}); {fit}", *result.notes]
    return headed(chart, title, notes, description, width=_LIME_WIDTH, height=height)


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
    return _headed(chart + dots, result, title, described, alt.Step(28))


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
    return _headed(rule(0, "y") + lines, result, title, described, 260)
