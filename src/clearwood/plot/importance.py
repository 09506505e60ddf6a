"""Figures of importance: bars of shares of variance."""

from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood.plot.style import AXIS, DOWN, UP, cut, records, titled

if TYPE_CHECKING:
    from clearwood.explanation import Importance, Interactions

__all__ = ["plot_importance", "plot_interactions"]

_WIDTH = 380
# Standard errors of a 95% interval.
_NORMAL = 1.96


def plot_importance(importance: "Importance", *, most: int = 20) -> Any:
    """Draw the share of each column: its main effect, and the interactions it takes part in.

    Parameters
    ----------
    importance
        What a decomposition gave.
    most
        How many columns, the most important first.

    Returns
    -------
    altair.Chart
    """
    import altair as alt

    total = importance.total
    order = [int(k) for k in np.argsort(-total, kind="stable")[:most]]
    names = [cut(importance.columns[k]) for k in order]
    parts = {"main effect": importance.main, "interactions": importance.interaction}
    rows = [
        {"column": name, "part": part, "share": float(shares[k]), "rank": rank}
        for name, k in zip(names, order, strict=True)
        for rank, (part, shares) in enumerate(parts.items())
    ]
    notes = []
    if len(importance.columns) > most:
        notes.append(f"the first {most} of {len(importance.columns)} columns")
    if importance.remainder_share > 0:
        notes.append(f"beyond the order of the components: {importance.remainder_share:.1%}")
    colours = alt.Scale(domain=list(parts), range=[DOWN, UP])
    chart = (
        alt.Chart(records(rows))
        .mark_bar()
        .encode(
            y=alt.Y("column:N", sort=names, title=None),
            x=alt.X(
                "share:Q",
                title="share of the components' variance",
                axis=alt.Axis(format="%", **AXIS),
            ),
            color=alt.Color(
                "part:N", title=None, scale=colours, legend=alt.Legend(orient="bottom")
            ),
            order=alt.Order("rank:Q"),
            tooltip=["column:N", "part:N", alt.Tooltip("share:Q", format=".1%")],
        )
        .properties(width=_WIDTH, height=alt.Step(20))
    )
    errors = importance.total_errors
    if errors is not None:
        notes.append("black: 95% interval of the whole bar")
        chart = alt.layer(chart, _intervals(names, total[order], errors[order])).properties(
            width=_WIDTH, height=alt.Step(20)
        )
    words = ", ".join(
        f"{name} {total[k]:.1%}" for name, k in zip(names[:8], order[:8], strict=True)
    )
    figure = titled(chart, "What moves the prediction", importance.about, notes)
    return figure.properties(description=f"Shares of variance: {words}")


def _intervals(names: list[str], shares: Any, errors: Any) -> Any:
    import altair as alt

    rows = [
        {"column": name, "low": max(float(share - _NORMAL * e), 0.0), "high": share + _NORMAL * e}
        for name, share, e in zip(names, shares.tolist(), errors.tolist(), strict=True)
    ]
    rule = alt.Chart(records(rows)).mark_rule(color="black", strokeWidth=1.5)
    return rule.encode(y=alt.Y("column:N", sort=names), x="low:Q", x2="high:Q")


def plot_interactions(interactions: "Interactions", *, most: int = 20) -> Any:
    """Draw the largest interactions as bars.

    Parameters
    ----------
    interactions
        What a decomposition gave.
    most
        How many, the largest first.

    Returns
    -------
    altair.Chart
    """
    import altair as alt

    shown = interactions.components[:most]
    names = [cut(" × ".join(names), 40) for names in shown]
    rows = [
        {"component": name, "share": float(share)}
        for name, share in zip(names, interactions.share, strict=False)
    ]
    hidden = len(interactions) - len(shown)
    notes = [f"the largest {most} of {len(interactions)}"] if hidden else []
    chart = (
        alt.Chart(records(rows))
        .mark_bar(color=UP)
        .encode(
            y=alt.Y("component:N", sort=names, title=None, axis=alt.Axis(labelLimit=260)),
            x=alt.X(
                "share:Q",
                title="share of the components' variance",
                axis=alt.Axis(format="%", **AXIS),
            ),
            tooltip=["component:N", alt.Tooltip("share:Q", format=".2%")],
        )
        .properties(width=_WIDTH, height=alt.Step(20))
    )
    words = ", ".join(f"{row['component']} {row['share']:.1%}" for row in rows[:8])
    return titled(chart, "Columns that act together", interactions.about, notes).properties(
        description=f"Interactions: {words or 'none'}"
    )
