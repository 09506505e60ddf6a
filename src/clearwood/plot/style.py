"""Colours and titles that all figures of explanations share."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._shared import numbers

if TYPE_CHECKING:
    from clearwood.explanation import About

__all__ = [
    "AXIS",
    "DOWN",
    "GREY",
    "OUTPUTS",
    "PERCENT_AXIS",
    "UP",
    "cut",
    "diverging",
    "level_step",
    "number",
    "records",
    "titled",
    "where",
]

# From Okabe and Ito's palette, which can be told apart with any colour vision.
UP = "#D55E00"
DOWN = "#0072B2"
GREY = "#6E6E6E"
OUTPUTS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
AXIS: dict[str, Any] = {"grid": False}
#: An axis of shares, written as everywhere else: "40 %".
PERCENT_AXIS: dict[str, Any] = {**AXIS, "labelExpr": "format(100 * datum.value, '.3~r') + ' %'"}


def where(about: "About") -> str:
    """Return the value function, background and scale of a figure in words."""
    background = f", {about.background}" if about.background is not None else ""
    return f"{about.value}{background}; scale: {about.unit}"


def titled(chart: Any, title: str, about: "About", notes: Sequence[str] = ()) -> Any:
    """Give a chart its title, with what is shown and how below it."""
    import altair as alt

    subtitle = [where(about), *notes]
    words = alt.TitleParams(title, subtitle=subtitle, anchor="start", subtitleColor=GREY)
    return chart.properties(title=words)


def records(rows: Sequence[dict[str, Any]]) -> Any:
    """Return rows of numbers and words as data that a chart carries with it."""
    import altair as alt

    data: Any = alt.Data
    return data(values=rows)


def diverging(values: Any) -> Any:
    """Return a colour scale with white at zero, blue below and orange above."""
    import altair as alt

    size = float(np.abs(values).max(initial=0.0)) or 1.0
    # mixed as paint is: by hue, the way from blue to a grey would lead through green
    return alt.Scale(domain=[-size, 0, size], range=[DOWN, "#F7F7F7", UP], interpolate="rgb")


def level_step(n_outputs: int) -> Any:
    """Return the height of a level of a category: more if each output has its own line."""
    import altair as alt

    # without "for", the height would be that of one output
    return alt.Step(max(24, 12 * n_outputs), **{"for": "position"})


def number(value: Any) -> str:
    """Write a number for the label of a figure, as tables do.

    Examples
    --------
    >>> number(1234.5678), number(-0.00012345)
    ('1,235', '-0.0001234')
    """
    return numbers.number(value, numbers.IN_TABLES)


def cut(text: str, width: int = 28) -> str:
    """Shorten a long name.

    Examples
    --------
    >>> cut("a" * 40, 10)
    'aaaaaaaaa…'
    """
    return text if len(text) <= width else text[: width - 1] + "…"
