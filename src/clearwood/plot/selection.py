"""Figures of selections: scores of columns, and how often folds chose them."""

from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._shared.numbers import count, percent
from clearwood.plot.style import DOWN, GREY, PERCENT_AXIS, bars, cut, headed, number

if TYPE_CHECKING:
    from clearwood.benchmarking import SelectionFrequency
    from clearwood.models import Selection

__all__ = ["plot_selection", "plot_selection_frequency"]

_WIDTH = 380


def plot_selection(selection: "Selection", *, most: int = 25) -> Any:
    """Draw the score of each column, from the highest down; those not selected in grey.

    Parameters
    ----------
    selection
        The selection of a fitted learner.
    most
        How many columns, those with the highest scores.
    """
    import altair as alt

    scores = dict(zip(selection.columns, selection.scores, strict=True))
    known = [name for name in selection.order if np.isfinite(scores[name])]
    rows = [
        {
            "column": cut(name),
            "score": float(scores[name]),
            "choice": "selected" if name in selection.selected else "not selected",
        }
        for name in known[:most]
    ]
    colours = alt.Scale(domain=["selected", "not selected"], range=[DOWN, GREY])
    chart = bars(rows, "column", "score", selection.score).encode(
        color=alt.Color("choice:N", title=None, scale=colours, legend=alt.Legend(orient="bottom"))
    )
    notes = [f"{selection.method}, {count(selection.n_rows, 'row')}, seed {selection.seed}"]
    if len(known) > most:
        notes.append(f"the first {most} of {len(known)} columns")
    title = f"{len(selection.selected)} of {count(len(selection.columns), 'column')} selected"
    words = ", ".join(f"{row['column']} {number(row['score'])}" for row in rows[:8])
    return headed(chart, title, notes, f"{title}: {words}", **_size())


def plot_selection_frequency(frequency: "SelectionFrequency", *, most: int = 25) -> Any:
    """Draw the share of draws in which each column was chosen; those of all rows in colour.

    Parameters
    ----------
    frequency
        The selections of a learner over folds or other draws.
    most
        How many columns, those chosen most often.
    """
    import altair as alt

    shares, from_all = frequency.shares, frequency.from_all
    rows: list[dict[str, Any]] = [
        {
            "column": cut(name),
            "share": float(share),
            "choice": "chosen" if from_all is None or name in from_all else "not chosen",
        }
        for (name, _), share in zip(frequency.chosen, shares, strict=False)
    ]
    chart = bars(
        rows[:most],
        "column",
        "share",
        f"share of {frequency.draws_name}",
        axis=PERCENT_AXIS,
        written=".0%",
        color=DOWN,
    )
    if from_all is not None:
        colours = alt.Scale(domain=["chosen", "not chosen"], range=[DOWN, GREY])
        legend = alt.Legend(orient="bottom")
        chart = chart.encode(
            color=alt.Color("choice:N", title="from all rows", scale=colours, legend=legend)
        )
    notes = [frequency.headline, *frequency.notes[1:]]
    if len(rows) > most:
        notes.append(f"the first {most} of {len(rows)} columns that were chosen")
    words = ", ".join(f"{row['column']} {percent(row['share'])}" for row in rows[:8])
    title = f"Selected columns over {frequency.draws_name}"
    return headed(chart, title, notes, words or "none", **_size())


def _size() -> dict[str, Any]:
    import altair as alt

    return {"width": _WIDTH, "height": alt.Step(20)}
