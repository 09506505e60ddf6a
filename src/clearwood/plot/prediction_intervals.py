"""Figure of predictions with their intervals, in the order of the predictions."""

from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._shared.frames import plain
from clearwood._shared.numbers import interval, percent
from clearwood.plot.style import AXIS, chart_of, headed

if TYPE_CHECKING:
    from clearwood.models import PredictionIntervals

__all__ = ["plot_prediction_intervals"]

_MOST_DRAWN = 200


def plot_prediction_intervals(result: "PredictionIntervals") -> Any:
    """Draw each row's prediction with its interval; of many rows, some spread over all."""
    import altair as alt

    order = np.argsort(result.predictions, kind="stable")
    n = len(order)
    places = np.unique(np.linspace(0, max(n - 1, 0), min(n, _MOST_DRAWN)).astype(np.intp))
    rows = plain(
        [
            {
                "place": int(place) + 1,
                "row": int(order[place]),
                "prediction": result.predictions[order[place]],
                "low": result.low[order[place]],
                "high": result.high[order[place]],
            }
            for place in places
        ]
    )
    title = f"{result.outcome}, {percent(result.confidence)} interval"
    x = alt.X("place:Q", title="rows, by their prediction", axis=alt.Axis(**AXIS))
    base = chart_of(rows).encode(x=x)
    bar = base.mark_rule(strokeWidth=1, opacity=0.5).encode(
        y=alt.Y("low:Q", title=title, scale=alt.Scale(zero=False)), y2=alt.Y2("high:Q")
    )
    point = base.mark_point(filled=True, size=18, opacity=1.0).encode(
        y=alt.Y("prediction:Q", title=title),
        tooltip=[
            alt.Tooltip("row:Q"),
            *(alt.Tooltip(f"{end}:Q", format=".4g") for end in ("prediction", "low", "high")),
        ],
    )
    notes = ["of a new row" if result.of == "row" else "of the mean"]
    if n > len(rows):
        notes.append(f"{len(rows)} of {n:,} rows")
    ends = (
        f"predictions from {interval(result.predictions.min(), result.predictions.max())}, "
        f"intervals from {interval(result.low.min(), result.high.max())}"
        if n
        else "no rows"
    )
    heading = f"{result.model}: predictions of {result.outcome}"
    return headed(bar + point, heading, notes, ends, width=420, height=260)
