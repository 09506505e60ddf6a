"""Figures of an evaluation: lift, curves, classes, columns and prediction intervals."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._shared.frames import plain
from clearwood._shared.numbers import interval, number, percent
from clearwood.plot.style import AXIS, DOWN, GREY, PERCENT_AXIS, UP, chart_of, cut, headed

if TYPE_CHECKING:
    from clearwood.evaluation import ByColumn, Confusion, Lift, Lorenz, PrecisionRecall, Roc
    from clearwood.models import PredictionIntervals

__all__ = [
    "plot_by_column",
    "plot_confusion",
    "plot_lift",
    "plot_lorenz",
    "plot_precision_recall",
    "plot_prediction_intervals",
    "plot_roc",
]


_SIZE = {"width": 380, "height": 260}


_SQUARE = {"width": 280, "height": 280}


_OTHER = "#009E73"

_MOST_DRAWN = 200


def plot_lift(lift: "Lift") -> Any:
    """Draw observed means with intervals and predicted means, bin by bin."""
    import altair as alt

    names = [str(k + 1) for k in range(len(lift.rows))]
    series = {"observed": lift.observed, "predicted": lift.predicted}
    if lift.other is not None:
        series = {**series, str(lift.against): lift.other}
    what = "the prediction" if lift.against is None else f"{lift.learner} / {lift.against}"
    spans = [f"{number(a)} to {number(b)}" for a, b in zip(lift.start, lift.end, strict=True)]
    figure = _series(
        names,
        series,
        (lift.low, lift.high),
        x=alt.X("band:N", sort=names, title=f"bins of {what}", axis=alt.Axis(labelAngle=0)),
        y=f"mean {lift.what}{_weighted(lift)}",
        more={"from": spans, "rows": lift.rows.tolist(), "weight": lift.weight.tolist()},
        joined=True,
    )
    note = (
        f"observed {number(lift.observed[0])} in the first bin, {number(lift.observed[-1])} in the "
        f"last; {percent(lift.confidence)} intervals of all bins together"
    )
    kind = "Lift" if lift.against is None else "Double lift"
    return headed(figure, f"{kind} of {lift.learner}", [note], note, **_SIZE)


def plot_by_column(result: "ByColumn") -> Any:
    """Draw observed means with intervals and predicted means, band by band."""
    import altair as alt

    if len(result.columns) == 2:
        return _plot_pair(result)
    names = [cut(band[0]) for band in result.bands]
    figure = _series(
        names,
        {"observed": result.observed, "predicted": result.predicted},
        result.around_observed(),
        x=alt.X("band:N", sort=names, title=result.columns[0], axis=alt.Axis(labelAngle=-30)),
        y=f"mean {result.what}{_weighted(result)}",
        more={
            "rows": result.rows.tolist(),
            "weight": result.weight.tolist(),
            result.compared: result.value.tolist(),
        },
        joined=False,
    )
    note = f"{percent(result.confidence)} intervals of all bands together"
    words = "; ".join(
        f"{name}: observed {number(seen)}, predicted {number(expected)}"
        for name, seen, expected in zip(
            names, result.observed.tolist(), result.predicted.tolist(), strict=True
        )
    )
    title = f"Observed against expected by {result.columns[0]}"
    return headed(figure, title, [note], words, **_SIZE)


def _plot_pair(result: "ByColumn") -> Any:
    import altair as alt

    first, second = result.columns
    equal = 1.0 if result.compared == "ratio" else 0.0
    rows = [
        {
            "first": cut(band[0]),
            "second": cut(band[1]),
            "value": value,
            "rows": n,
            "off": "clearly off" if off else "",
        }
        for band, value, n, off in zip(
            result.bands,
            result.value.tolist(),
            result.rows.tolist(),
            result.misses.tolist(),
            strict=True,
        )
        if value == value
    ]
    far = max((abs(row["value"] - equal) for row in rows), default=1.0) or 1.0
    scale = alt.Scale(
        domain=[equal - far, equal, equal + far],
        range=[DOWN, "#F7F7F7", UP],
        interpolate="rgb",
    )
    order = [list(dict.fromkeys(row[name] for row in rows)) for name in ("first", "second")]
    base = chart_of(rows).encode(
        x=alt.X("first:N", sort=order[0], title=first, axis=alt.Axis(labelAngle=-30)),
        y=alt.Y("second:N", sort=order[1], title=second),
    )
    cells = base.mark_rect().encode(
        color=alt.Color("value:Q", scale=scale, title=result.compared),
        tooltip=[
            alt.Tooltip("first:N"),
            alt.Tooltip("second:N"),
            alt.Tooltip("value:Q", format=".4g"),
            alt.Tooltip("rows:Q"),
            alt.Tooltip("off:N"),
        ],
    )
    texts = base.mark_text(fontSize=10).encode(text=alt.Text("value:Q", format=".2f"))
    title = f"Observed against expected by {first} and {second}"
    word = "observed / expected" if result.compared == "ratio" else "observed less expected"
    return headed(alt.layer(cells, texts), title, [word], f"{title}: {word}", **_SIZE)


def _series(
    names: Sequence[str],
    series: dict[str, Any],
    span: tuple[Any, Any],
    *,
    x: Any,
    y: str,
    more: dict[str, Sequence[Any]],
    joined: bool,
) -> Any:
    """Return points of several series by band, the first with intervals."""
    import altair as alt

    rows = [
        {
            "band": name,
            "series": label,
            "mean": float(values[k]),
            **{key: value[k] for key, value in more.items()},
        }
        for label, values in series.items()
        for k, name in enumerate(names)
    ]
    first = next(iter(series))
    spans = [
        {"band": name, "series": first, "low": float(low), "high": float(high)}
        for name, low, high in zip(names, *span, strict=True)
        if low == low
    ]
    colours = alt.Scale(domain=list(series), range=[UP, DOWN, _OTHER][: len(series)])
    colour = alt.Color("series:N", scale=colours, title=None)
    scale = alt.Scale(zero=False)
    tooltip = ["band:N", "series:N", alt.Tooltip("mean:Q", format=".4g")]
    tooltip += [f"{key}:{'N' if isinstance(value[0], str) else 'Q'}" for key, value in more.items()]
    base = chart_of(rows).encode(
        x=x, y=alt.Y("mean:Q", title=y, scale=scale, axis=alt.Axis(**AXIS)), color=colour
    )
    layers = [base.mark_point(filled=True, size=50, opacity=1).encode(tooltip=tooltip)]
    if joined:
        layers.insert(0, base.mark_line())
    if spans:
        layers.insert(
            0,
            chart_of(spans)
            .mark_rule(opacity=0.6)
            .encode(x=x, y=alt.Y("low:Q", title=y, scale=scale), y2=alt.Y2("high:Q"), color=colour),
        )
    return alt.layer(*layers)


def plot_roc(roc: "Roc") -> Any:
    """Draw members found against false alarms."""
    note = f"AUC {number(roc.auc)} ({interval(roc.low, roc.high)}), KS {number(roc.ks)}"
    return _curve(
        roc,
        ("false_positive", "share of non-members above the threshold"),
        ("true_positive", "share of members above the threshold"),
        [(0.0, 0.0), (1.0, 1.0)],
        f"ROC curve of {roc.learner}",
        note,
    )


def plot_precision_recall(curve: "PrecisionRecall") -> Any:
    """Draw precision against recall."""
    note = (
        f"average precision {number(curve.average_precision)} "
        f"({interval(curve.low, curve.high)}); by chance {number(curve.share)}"
    )
    return _curve(
        curve,
        ("recall", "share of members found"),
        ("precision", "share of members among those above"),
        [(0.0, curve.share), (1.0, curve.share)],
        f"Precision and recall of {curve.learner}",
        note,
    )


def plot_lorenz(curve: "Lorenz") -> Any:
    """Draw the share of the target against the share of the rows."""
    note = (
        f"Gini {number(curve.gini)} ({interval(curve.low, curve.high)}), normalised Gini "
        f"{number(curve.normalised)}"
    )
    return _curve(
        curve,
        ("share", f"share of rows by prediction{_weighted(curve)}"),
        ("observed", f"share of {curve.what}"),
        [(0.0, 0.0), (1.0, 1.0)],
        f"Lorenz curve of {curve.learner}",
        note,
    )


def _curve(
    result: Any,
    x: tuple[str, str],
    y: tuple[str, str],
    reference: Sequence[tuple[float, float]],
    title: str,
    note: str,
) -> Any:
    """Return a curve of shares with the line that chance would give."""
    import altair as alt

    columns = result.to_frame("dict")
    rows = [{"x": a, "y": b} for a, b in zip(columns[x[0]], columns[y[0]], strict=True)]
    scale = alt.Scale(domain=[0, 1])
    along = alt.X("x:Q", title=x[1], scale=scale, axis=alt.Axis(**PERCENT_AXIS))
    up = alt.Y("y:Q", title=y[1], scale=scale, axis=alt.Axis(**PERCENT_AXIS))
    chance = (
        chart_of([{"x": a, "y": b} for a, b in reference])
        .mark_line(strokeDash=[4, 4], color=GREY)
        .encode(x=along, y=up)
    )
    line = chart_of(rows).mark_line(color=DOWN).encode(x=along, y=up, order=alt.Order("x:Q"))
    return headed(alt.layer(chance, line), title, [note], note, **_SQUARE)


def plot_confusion(confusion: "Confusion") -> Any:
    """Draw the weight of true and predicted classes as a heat map."""
    import altair as alt

    columns = confusion.to_frame("dict")
    totals = confusion.weight.sum(axis=1).tolist()
    of_truth = dict(zip(confusion.classes, totals, strict=True))
    rows = [
        {
            "truth": cut(truth),
            "predicted": cut(predicted),
            "weight": weight,
            "share": weight / of_truth[truth] if of_truth[truth] else 0.0,
            "written": f"{number(weight)}",
        }
        for truth, predicted, weight in zip(*columns.values(), strict=True)
    ]
    order = [cut(label) for label in confusion.classes]
    base = chart_of(rows).encode(
        x=alt.X("predicted:N", sort=order, title="predicted", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("truth:N", sort=order, title="true"),
    )
    blue = alt.Scale(domain=[0, 1], range=["#F7F7F7", DOWN])
    cells = base.mark_rect().encode(
        color=alt.Color("share:Q", scale=blue, title="share of class"),
        tooltip=[
            alt.Tooltip("truth:N"),
            alt.Tooltip("predicted:N"),
            alt.Tooltip("weight:Q"),
            alt.Tooltip("share:Q", format=".3f"),
        ],
    )
    at = "" if confusion.threshold is None else f" at p > {number(confusion.threshold)}"
    note = f"accuracy {percent(confusion['accuracy'])}{at}"
    figure = alt.layer(cells, base.mark_text(fontSize=12).encode(text=alt.Text("written:N")))
    return headed(figure, f"Confusion of {confusion.learner}", [note], note, **_SQUARE)


def _weighted(result: Any) -> str:
    return " (weighted)" if result.is_weighted else ""


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
