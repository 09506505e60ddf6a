"""Colours, titles, bars and rules that figures share."""

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._shared import numbers
from clearwood._shared.frames import plain

if TYPE_CHECKING:
    from clearwood.explanation import About

__all__ = [
    "AXIS",
    "DOWN",
    "GREY",
    "OUTPUTS",
    "PERCENT_AXIS",
    "UP",
    "bars",
    "chart_of",
    "cut",
    "diverging",
    "headed",
    "level_step",
    "number",
    "rule",
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

#: Numbers in the labels of a figure are written as in tables.
number: Callable[[Any], str] = partial(numbers.number, digits=numbers.IN_TABLES)


def where(about: "About") -> str:
    """Return the value function, background and scale of a figure in words."""
    background = f", {about.background}" if about.background is not None else ""
    return f"{about.value}{background}; scale: {about.quantity}"


def headed(chart: Any, title: str, notes: Sequence[str], description: str, **size: Any) -> Any:
    """Return a chart with its title, notes below it, and words for screen readers."""
    import altair as alt

    heading = alt.TitleParams(title, subtitle=list(notes), anchor="start", subtitleColor=GREY)
    return chart.properties(title=heading, description=description, **size)


def titled(
    chart: Any, title: str, about: "About", notes: Sequence[str], description: str, **size: Any
) -> Any:
    """Return a chart with its title, below it what is shown and how."""
    return headed(chart, title, [where(about), *notes], description, **size)


@cache
def _types() -> tuple[Any, Any]:
    """Return Altair's chart and data, made quicker: a page has hundreds of them."""
    import altair as alt

    class Chart(alt.Chart):
        """A chart that is copied without what is in it, as charts are not changed in place.

        Altair copies all of a chart, with every property that is not set, several times whenever
        it is layered, put beside another or given a title.
        """

        def __deepcopy__(self, memo: object) -> Any:
            return self.copy(deep=False)

    data: Any = alt.Data  # which ships no types

    class Data(data):
        """Rows that are JSON already: Altair would look at each value for what it could be."""

        _class_is_valid_at_instantiation = False

        def to_dict(self, *_: object, **__: object) -> dict[str, Any]:
            return {"values": [dict(row) for row in self._kwds["values"]]}

    return Chart, Data


def chart_of(rows: Sequence[dict[str, Any]]) -> Any:
    """Return a chart without marks of rows of numbers and words."""
    chart, data = _types()
    # plain: JSON has no NaN, as where a single fold of few rows has no interval. A tuple: Altair
    # copies lists, row by row, whenever a chart is changed or put beside another
    return chart(data(values=tuple(plain(list(rows)))))


def bars(
    rows: Sequence[dict[str, Any]],
    name: str,
    value: str,
    title: str,
    *,
    axis: dict[str, Any] = AXIS,
    written: str = ".4g",
    **mark: Any,
) -> Any:
    """Return horizontal bars, in the order of the rows: their names and lengths are two fields."""
    import altair as alt

    order = list(dict.fromkeys(row[name] for row in rows))
    return (
        chart_of(rows)
        .mark_bar(**mark)
        .encode(
            y=alt.Y(f"{name}:N", sort=order, title=None, axis=alt.Axis(labelLimit=260)),
            x=alt.X(f"{value}:Q", title=title, axis=alt.Axis(**axis)),
            tooltip=[alt.Tooltip(f"{name}:N"), alt.Tooltip(f"{value}:Q", format=written)],
        )
    )


def rule(at: float, along: str, **mark: Any) -> Any:
    """Return a grey line across the figure, at a value of the axis "x" or "y"."""
    import altair as alt

    place: dict[str, Any] = {"x": alt.X("at:Q")} if along == "x" else {"y": alt.Y("at:Q")}
    return chart_of([{"at": at}]).mark_rule(color=GREY, **mark).encode(**place)


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


def cut(text: str, width: int = 28) -> str:
    """Shorten a long name.

    Examples
    --------
    >>> cut("a" * 40, 10)
    'aaaaaaaaa…'
    """
    return text if len(text) <= width else text[: width - 1] + "…"
