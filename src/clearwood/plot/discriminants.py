"""Figure of discriminant coordinates: rows and class means in the plane that separates them."""

from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._shared.numbers import percent
from clearwood.plot.style import AXIS, OUTPUTS, chart_of, cut, headed

if TYPE_CHECKING:
    from clearwood.explanation import Discriminants

__all__ = ["plot_discriminants"]

_MOST_ROWS = 2_000


def plot_discriminants(result: "Discriminants") -> Any:
    """Draw rows by class, those that the model puts elsewhere as crosses, and the class means."""
    import altair as alt

    n_axes = result.scores.shape[1]
    known = result.truth if (result.truth >= 0).any() else result.predicted
    shown = np.unique(np.linspace(0, len(known) - 1, min(len(known), _MOST_ROWS)).astype(int))
    # with one coordinate, classes are drawn side by side
    jitter = np.random.default_rng(0).uniform(-0.3, 0.3, len(known))
    second = result.scores[:, 1] if n_axes > 1 else known + jitter
    names = [cut(name) for name in result.classes]
    rows = [
        {
            "x": float(result.scores[k, 0]),
            "y": float(second[k]),
            "class": names[known[k]],
            "fit": "right" if known[k] == result.predicted[k] else "predicted as another class",
        }
        for k in shown
        if known[k] >= 0
    ]
    titles = [f"coordinate {k + 1}, {percent(share)}" for k, share in enumerate(result.shares)]
    colour = alt.Color(
        "class:N", scale=alt.Scale(domain=names, range=OUTPUTS * (1 + len(names) // 7)), title=None
    )
    y_title = titles[1] if n_axes > 1 else "class, with a random shift"
    points = (
        chart_of(rows)
        .mark_point(size=28, opacity=0.6)
        .encode(
            x=alt.X("x:Q", title=titles[0], axis=alt.Axis(**AXIS), scale=alt.Scale(zero=False)),
            y=alt.Y("y:Q", title=y_title, axis=alt.Axis(**AXIS), scale=alt.Scale(zero=False)),
            color=colour,
            shape=alt.Shape(
                "fit:N",
                scale=alt.Scale(
                    domain=["right", "predicted as another class"], range=["circle", "cross"]
                ),
                title=None,
            ),
            tooltip=[alt.Tooltip("class:N"), alt.Tooltip("fit:N")],
        )
    )
    means = [
        {
            "x": float(mean[0]),
            "y": float(mean[1]) if n_axes > 1 else float(k),
            "class": names[k],
        }
        for k, mean in enumerate(result.means)
    ]
    centres = (
        chart_of(means)
        .mark_point(filled=True, size=220, stroke="white", strokeWidth=2, opacity=1)
        .encode(x=alt.X("x:Q"), y=alt.Y("y:Q"), color=colour)
    )
    wrong = int((known[shown] != result.predicted[shown]).sum())
    return headed(
        alt.layer(points, centres),
        f"Discriminant coordinates of {result.model}: {result.outcome}",
        ["share of the variance between class means; large dots: class means"],
        f"{len(rows)} rows of {len(names)} classes; the model puts {wrong} of them into another "
        "class.",
        width=420,
        height=320,
    )
