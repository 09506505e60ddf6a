"""Nomogram: an axis for each column, whose points add up to the prediction on the last axis."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._shared.errors import Call, InputError, words
from clearwood._shared.numbers import count
from clearwood.explanation import Unit
from clearwood.plot.factors import round_ratios, single_terms, value_at
from clearwood.plot.style import GREY, chart_of, cut, headed, number

if TYPE_CHECKING:
    from clearwood._shared.arrays import Floats
    from clearwood.explanation import Factors, FactorTerm

__all__ = ["plot_nomogram"]

_WIDTH, _ROW = 620, 58
#: Points of the longest axis, and at how many values numbers are marked at most.
_POINTS, _MOST_TICKS = 100, 9
#: Size of a letter, in pixels, and how far apart labels must be.
_LETTER, _GAP = 5.6, 6.0
#: The labels of a row take these lines, in this order: above, below, further above, further below.
_LANES = (-11, 15, -22, 26)
#: Predicted probabilities that are marked, and their distances from 1.
_SHARES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
#: Values between which the search for the turns of a curve looks.
_FINE = 400


@dataclass(frozen=True)
class _Tick:
    """A mark on an axis: where, from 0 to 1, its label and the points it stands for."""

    at: float
    label: str
    points: float
    is_falling: bool = False
    is_level: bool = False


def plot_nomogram(result: "Factors") -> Any:
    """Draw an axis for each column; the points of a row add up to its prediction."""
    import altair as alt

    pairs = sum(len(term.axes) == 2 for term in result.terms)
    if pairs:
        raise InputError(
            f"a nomogram has one axis for each column, and the table has {count(pairs, 'pair')} of "
            "columns",
            parameter="kind",
            value="nomogram",
            hint=words("fit a model without pairs, such as ", Call("learner", ("'gam'",)), "."),
        )
    if not result.terms:
        raise InputError("no column has an effect", parameter="kind", value="nomogram")
    terms = single_terms(result)
    marks = [_marks_of(result, term) for term in terms]
    lowest = [min(effect for effect, *_ in own) for own in marks]
    spans = [max(effect for effect, *_ in own) for own in marks]
    spans = [high - low for high, low in zip(spans, lowest, strict=True)]
    unit = max(spans) / _POINTS or 1.0  # of the score, for one point
    axes: list[tuple[str, list[_Tick]]] = [("points", _even(_POINTS))]
    for term, own, low in zip(terms, marks, lowest, strict=True):
        ticks = [
            _Tick((effect - low) / unit / _POINTS, label, (effect - low) / unit, falls, is_level)
            for effect, label, falls, is_level in own
        ]
        axes.append((term.columns[0], ticks))
    most = float(sum(spans)) / unit
    axes.append(("total points", _even(most)))
    start = result.base_score + float(sum(lowest))
    axes.append((result.outcome, _predictions(result, start, unit, most)))
    lines: list[dict[str, Any]] = []
    placed: list[dict[str, Any]] = []
    for row, (name, axis) in enumerate(axes):
        spread = [tick.at for tick in axis]
        at = {"row": row * _ROW + _ROW / 2}
        lines.append({**at, "x": min(spread), "x2": max(spread), "name": cut(name, 30)})
        placed += [{**at, **tick} for tick in _placed(axis)]
    height = _ROW * len(axes)
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, 1], nice=False))
    y = alt.Y("row:Q", axis=None, scale=alt.Scale(domain=[height, 0], nice=False))
    base = chart_of(lines).encode(y=y)
    marked = chart_of(placed).encode(x=x, y=y)
    labels = [
        chart_of([t for t in placed if t["dy"] == lane])
        .mark_text(dy=lane, fontSize=10)
        .encode(x=x, y=y, text=alt.Text("label:N"))
        for lane in _LANES
        if any(t["dy"] == lane for t in placed)
    ]
    chart = alt.layer(
        base.mark_rule(color=GREY).encode(x=x, x2=alt.X2("x2:Q")),
        base.mark_text(align="right", dx=-14, fontWeight="bold").encode(
            x=alt.value(0), text=alt.Text("name:N")
        ),
        marked.mark_tick(orient="vertical", thickness=1.5, size=9, color=GREY).encode(
            tooltip=[alt.Tooltip("label:N"), alt.Tooltip("points:Q", format=".3g")]
        ),
        *labels,
    )
    written = "; ".join(
        f"{name}: " + ", ".join(f"{t.label} {t.points:.0f} points" for t in axis)
        for name, axis in axes[1:-2]
    )
    notes = ["read the points of each column on the first axis, and add them up: the total lies"]
    notes.append("above its prediction. Numbers below an axis belong to a part that falls")
    if result.banded:
        notes.append(result.statement)
    return headed(
        chart,
        f"{result.model}: {result.outcome}",
        notes,
        f"Nomogram. {written}.",
        width=_WIDTH,
        height=height,
    ).configure_view(stroke=None)


_Mark = tuple[float, str, bool, bool]


def _marks_of(result: "Factors", term: "FactorTerm") -> list[_Mark]:
    """Return the marks of a column: effect, label, whether it is on a falling part, a level."""
    axis = term.axes[0]
    if axis.levels is not None:
        names = [*axis.levels, "other levels", "missing"]
        return [
            (float(term.effects[k]), cut(name, 18), False, True)
            for k, name in enumerate(names)
            if np.isfinite(term.effects[k]) and term.shares[k] > 0
        ]
    low, high = result.range_of(term)
    marks: list[_Mark] = []
    if term.powers is None:
        marks += _steps(term, low, high)
    else:
        fine = np.linspace(low, high, _FINE)
        curve = value_at(term, fine)
        turns = 1 + np.flatnonzero(np.diff(curve[1:]) * np.diff(curve[:-1]) < 0)
        ends = np.array([low, high, *fine[turns]])
        inside = _round_numbers(low, high)
        apart = np.abs(inside[:, None] - ends).min(axis=1) > (high - low) / 40
        numbers = np.unique([*ends, *inside[apart]])
        slope = np.interp(numbers, fine, np.gradient(curve, fine))
        for value, effect, rise in zip(numbers, value_at(term, numbers), slope, strict=True):
            marks.append((float(effect), number(float(f"{value:.3g}")), bool(rise < 0), False))
    missing = float(term.effects[axis.n_known])
    if term.shares[axis.n_known] > 0 and np.isfinite(missing):
        marks.append((missing, "missing", True, True))
    return marks


def _steps(term: "FactorTerm", low: float, high: float) -> list[_Mark]:
    """Return one mark for each cell of numbers within a range."""
    axis = term.axes[0]
    marks: list[_Mark] = []
    before = -np.inf
    for place in range(axis.n_known):
        start, end = axis.ends(place)
        if end < low or start >= high:
            continue
        effect = float(term.effects[place])
        label = f"≤ {number(end)}" if np.isfinite(end) else f"> {number(start)}"
        marks.append((effect, label, effect < before, False))
        before = effect
    return marks


def _round_numbers(low: float, high: float, most: int = _MOST_TICKS) -> "Floats":
    """Return round numbers within a range, at most about so many.

    Examples
    --------
    >>> _round_numbers(3, 98).tolist()
    [20.0, 40.0, 60.0, 80.0]
    """
    if not high > low:
        return np.array([low])
    raw = (high - low) / most
    size = 10.0 ** np.floor(np.log10(raw))
    step = next(size * k for k in (1, 2, 5, 10) if size * k >= raw * (1 - 1e-9))
    first = np.ceil(low / step)
    return np.asarray(step * np.arange(first, np.floor(high / step) + 1))


def _even(most: float) -> list[_Tick]:
    """Return the marks of an axis of points, from 0."""
    values = _round_numbers(0.0, most, 11)
    ticks = [_Tick(float(v) / most, number(float(v)), float(v)) for v in values]
    return ticks if ticks[-1].at == 1 else [*ticks, _Tick(1.0, "", most)]


def _predictions(result: "Factors", start: float, unit: float, most: float) -> list[_Tick]:
    """Return the marks of the last axis: round predictions, each below its total of points."""
    end = start + unit * most
    if result.unit is Unit.LOG_MEAN:
        rounds = round_ratios(np.exp(start), np.exp(end))
        scores = np.log(rounds)
    elif result.unit is Unit.LOG_ODDS:
        rounds = np.unique([*_SHARES, *(1 - share for share in _SHARES)])
        scores = np.log(rounds) - np.log1p(-rounds)
    else:
        rounds = _round_numbers(start, end)
        scores = rounds
    ticks = [
        _Tick((score - start) / unit / most, number(float(value)), (score - start) / unit)
        for value, score in zip(rounds, scores, strict=True)
        if start <= score <= end
    ]
    ends = [_Tick(at, "", at * most) for at in (0.0, 1.0)]
    return sorted([*ticks, *ends], key=lambda tick: tick.at)


def _placed(ticks: list[_Tick]) -> list[dict[str, Any]]:
    """Put labels where they do not overlap; numbers without room have a mark only."""
    taken: dict[int, list[tuple[float, float]]] = {lane: [] for lane in _LANES}
    rows = []
    first = sorted(ticks, key=lambda tick: (not tick.is_level, tick.at))
    for tick in first:
        rows.append({"x": tick.at, "label": "", "points": tick.points, "dy": _LANES[0]})
        if not tick.label:
            continue
        middle, half = tick.at * _WIDTH, len(tick.label) * _LETTER / 2 + _GAP / 2
        lanes = _LANES if tick.is_level else _LANES[1::2] if tick.is_falling else _LANES[::2]
        for lane in lanes:
            if all(middle + half <= low or middle - half >= high for low, high in taken[lane]):
                taken[lane].append((middle - half, middle + half))
                rows[-1] |= {"label": tick.label, "dy": lane}
                break
    return rows
