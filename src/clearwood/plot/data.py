"""Figures of tables: distributions of columns, their association, leaks and drift."""

from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.numbers import count, number, percent
from clearwood.plot.style import AXIS, DOWN, GREY, PERCENT_AXIS, UP, bars, chart_of, cut, headed

if TYPE_CHECKING:
    from clearwood.checks import Association, Drift, Leakage
    from clearwood.table import Profile

__all__ = ["plot_association", "plot_drift", "plot_leakage", "plot_profile"]

_WIDTH = 220
_MOST_COLUMNS = 40


def plot_profile(profile: "Profile", *, width: int = _WIDTH, height: int = 80) -> Any:
    """Draw the distribution of a column: a histogram, or bars by level.

    Parameters
    ----------
    profile
        The result of `clearwood.table.profile`.
    width, height
        Of the drawing, in pixels.
    """
    import altair as alt

    shares = profile.shares.tolist()
    share_of = "weighted share of rows" if profile.is_weighted else "share of rows"
    tooltip: list[Any] = [alt.Tooltip("share:Q", format=".1%", title=share_of)]
    if profile.edges is None:
        rows: list[dict[str, Any]] = [
            {"level": cut(level), "share": share}
            for level, share in zip(profile.levels, shares, strict=True)
        ]
        look: dict[str, Any] = {"axis": PERCENT_AXIS, "color": DOWN, "opacity": 0.75}
        chart = bars(rows, "level", "share", share_of, **look)
        chart = chart.encode(tooltip=[alt.Tooltip("level:N"), *tooltip])
        chart = chart.properties(width=width, height=alt.Step(16))
    else:
        dates = profile.edges.dtype.kind == "M"
        ends = [
            str(edge.astype("datetime64[s]")) if dates else float(edge) for edge in profile.edges
        ]
        rows = [
            {"low": low, "high": high, "share": share}
            for low, high, share in zip(ends[:-1], ends[1:], shares, strict=True)
        ]
        x = alt.X(
            f"low:{'T' if dates else 'Q'}",
            title=None,
            axis=alt.Axis(tickCount=4, **AXIS),
            scale=alt.Scale(zero=False, nice=False),
        )
        chart = (
            chart_of(rows)
            .mark_rect(color=DOWN, opacity=0.75, stroke="white", strokeWidth=0.5)
            .encode(
                x=x,
                x2=alt.X2("high"),
                y=alt.Y(
                    "share:Q",
                    title=share_of if profile.is_weighted else None,
                    axis=alt.Axis(tickCount=3, **PERCENT_AXIS),
                ),
                y2=alt.Y2Datum(0),
                tooltip=[alt.Tooltip("low:Q") if not dates else alt.Tooltip("low:T"), *tooltip],
            )
            .properties(width=width, height=height)
        )
    words = f"{profile.name}: {profile.kind.value}, {profile.values}"
    if profile.n_missing:
        words += f", {percent(profile.missing_share)} missing"
    if profile.is_weighted:
        words += "; weighted"
    return chart.properties(
        title=alt.TitleParams(cut(profile.name, 40), anchor="start"), description=words
    )


def plot_association(result: "Association", *, most: int = _MOST_COLUMNS) -> Any:
    """Draw the association between columns as a heat map, associated columns side by side.

    Parameters
    ----------
    result
        The result of `clearwood.checks.association`.
    most
        How many columns: those most strongly associated with another.
    """
    import altair as alt

    off = result.strength - np.diag(np.diag(result.strength))
    kept = np.sort(np.argsort(-off.max(axis=1, initial=0.0), kind="stable")[:most])
    order = _neighbours(result.strength[np.ix_(kept, kept)])
    chosen = kept[order]
    names = [cut(result.columns[k], 24) for k in chosen]
    rows = [
        {"column": names[i], "other": names[j], "association": float(result.strength[k, m])}
        for i, k in enumerate(chosen)
        for j, m in enumerate(chosen)
        if k != m
    ]
    size = 22 if len(chosen) <= 20 else 14
    axis = alt.Axis(title=None, labelFontSize=11 if size == 22 else 9, grid=False)
    chart = (
        chart_of(rows)
        .mark_rect()
        .encode(
            x=alt.X("column:N", sort=names, axis=axis),
            y=alt.Y("other:N", sort=names, axis=axis),
            color=alt.Color(
                "association:Q",
                scale=alt.Scale(domain=[0, 1], range=["#F2F2F2", DOWN]),
                title="association",
            ),
            tooltip=[
                alt.Tooltip("column:N"),
                alt.Tooltip("other:N"),
                alt.Tooltip("association:Q", format=".3~r"),
            ],
        )
        .properties(width=alt.Step(size), height=alt.Step(size))
    )
    rows_used = f"{count(result.n_rows, 'row')}{', weighted' if result.is_weighted else ''}"
    subtitle = [f"from 0 (none) to 1 (complete); {rows_used}"]
    if len(result.columns) > len(chosen):
        subtitle.append(
            f"the {len(chosen)} of {len(result.columns)} most strongly associated columns"
        )
    pairs = [f"{a} and {b} {number(value)}" for a, b, value in result.pairs()[:5]]
    words = f"Strongest pairs: {'; '.join(pairs) or 'none'}"
    return headed(chart, "Association between columns", subtitle, words)


def plot_leakage(result: "Leakage", *, most: int = 25) -> Any:
    """Draw how much each column explains alone; those that may leak the target in another colour.

    Parameters
    ----------
    result
        The result of `clearwood.checks.leakage`.
    most
        How many columns, those that explain most.
    """
    rows = [
        {"column": cut(name), "value": max(0.0, result[name]), "kind": name in result.suspects}
        for name in sorted(result.columns, key=lambda name: -result[name])
    ]
    rows_used = f"{count(result.n_rows, 'row')}{', weighted' if result.is_weighted else ''}"
    title = f"Columns that explain {cut(result.target)} alone"
    axis = f"share of {cut(result.target)} that the column explains alone"
    return _marked(rows, title, axis, [rows_used], ("may be a leak", "other"), most)


def plot_drift(result: "Drift", *, most: int = 25) -> Any:
    """Draw how far each column differs between two tables; grey where it may be chance or small.

    Parameters
    ----------
    result
        The result of `clearwood.checks.drift`.
    most
        How many columns, those with the largest distance.
    """
    rows = [
        {"column": cut(one.column), "value": float(one.distance), "kind": one.differs}
        for one in result.columns
    ]
    rows_used = f"{count(result.n_first, 'row')} and {count(result.n_second, 'row')}"
    weighted = ", weighted" if result.is_weighted else ""
    notes = [f"{rows_used}{weighted}; from 0 (the same) to 1 (no overlap)"]
    title = f"Drift from {result.first} to {result.second}"
    return _marked(rows, title, "distance", notes, ("differs", "no clear difference"), most)


def _marked(
    rows: list[dict[str, Any]],
    title: str,
    axis: str,
    notes: list[str],
    kinds: tuple[str, str],
    most: int,
) -> Any:
    """Draw bars from 0 to 1 in two colours, those with the first kind in the stronger one."""
    import altair as alt

    if len(rows) > most:
        notes = [*notes, f"the first {most} of {len(rows)} columns"]
    shown = [row | {"kind": kinds[0] if row["kind"] else kinds[1]} for row in rows[:most]]
    colours = alt.Scale(domain=list(kinds), range=[UP, GREY])
    chart = bars(shown, "column", "value", axis).encode(
        x=alt.X("value:Q", title=axis, scale=alt.Scale(domain=[0, 1])),
        color=alt.Color("kind:N", title=None, scale=colours, legend=alt.Legend(orient="bottom")),
    )
    words = ", ".join(f"{row['column']} {number(row['value'])}" for row in shown[:8])
    return headed(chart, title, notes, f"{title}: {words}", width=380, height=alt.Step(20))


def _neighbours(strength: Floats) -> Index:
    """Return an order in which associated columns are neighbours."""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    if len(strength) < 3:
        return np.arange(len(strength))
    distance = np.clip(1 - strength, 0, 1)
    np.fill_diagonal(distance, 0)
    tree = linkage(squareform(distance, checks=False), "average")
    return np.asarray(leaves_list(tree), np.intp)
