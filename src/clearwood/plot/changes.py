"""Figures of what moves one prediction: changes of a row, and what columns add to it."""

from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._shared.errors import InputError, did_you_mean
from clearwood.plot.style import AXIS, DOWN, UP, bars, cut, headed, number

if TYPE_CHECKING:
    from clearwood.explanation import Contributions, WhatIf

__all__ = ["plot_contributions", "plot_what_if"]

_WIDTH = 380


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
