"""Figure of a table of factors: what each column does to the base value, one panel a column."""

from itertools import pairwise
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from clearwood._shared.numbers import cell, count, interval, percent
from clearwood.plot.style import AXIS, DOWN, GREY, chart_of, cut, headed, number, rule
from clearwood.table import Column, Kind, Table

if TYPE_CHECKING:
    from clearwood._shared.arrays import Floats
    from clearwood.explanation import Factors, FactorTerm

__all__ = ["MOST_COLUMNS", "plot_factors", "round_ratios", "single_terms", "value_at"]

#: Columns that are drawn, those with the largest effects.
MOST_COLUMNS = 12
#: Values at which a curve is drawn.
_POINTS = 80
#: An interval may take the axis beyond the values by this share of their span.
_BEYOND = 0.3
_WIDTH, _HEIGHT = 420, 110
#: Width of a letter of a level, in pixels.
_LETTER = 6
#: Letters in a line of notes.
_LINE = 80


def plot_factors(result: "Factors") -> Any:
    """Draw the cells and curves of each column with their intervals, all on one scale."""
    import altair as alt

    shown = single_terms(result)[:MOST_COLUMNS]
    drawn = [_Panel(result, term) for term in shown]
    ends = [value for panel in drawn for value in panel.extent] or [0.0]
    reach = _BEYOND * (max(ends) - min(ends)) or 1.0
    domain = [result.ratio_of(min(ends) - reach), result.ratio_of(max(ends) + reach)]
    scale = alt.Scale(type="log", domain=domain, nice=False)
    if result.ratio_name is None:
        scale.type = "linear"
    notes = wrap(_about_base(result), _LINE)
    if result.errors is not None:
        notes.append(result.headlines[2])
    n_single = sum(len(term.axes) == 1 for term in result.terms)
    if n_single > len(shown):
        notes.append(f"{len(shown)} of {n_single} columns, those with the largest effects")
    pairs = sum(len(term.axes) == 2 for term in result.terms)
    if pairs:
        notes.append(f"{count(pairs, 'pair')} of columns not drawn: what a column does at the base")
    charts = [panel.chart(scale) for panel in drawn]
    words = "; ".join(panel.words for panel in drawn) or "no column has an effect"
    return headed(
        alt.vconcat(*charts, spacing=14) if charts else _empty(),
        f"{result.model}: {result.outcome}",
        notes,
        f"{result.ratio_name or 'difference'} by column. {words}.",
    )


def single_terms(result: "Factors") -> "list[FactorTerm]":
    """Return the terms of one column, the one whose values spread most first."""
    singles = [term for term in result.terms if len(term.axes) == 1]
    return sorted(singles, key=lambda term: -float(np.ptp(_Panel(result, term).extent)))


def value_at(term: "FactorTerm", numbers: "Floats") -> "Floats":
    """Return what a column adds at numbers."""
    return term.of(Table((Column(term.axes[0].column, Kind.NUMBER, numbers),)))


def round_ratios(low: float, high: float) -> "Floats":
    """Return numbers that begin with 1, 2 or 5 within a range; more where it is short.

    Examples
    --------
    >>> round_ratios(0.03, 0.7).round(2).tolist()
    [0.05, 0.1, 0.2, 0.5]
    """
    for leads in ((1, 2, 5), (1, 1.5, 2, 3, 4, 5, 7), tuple(np.arange(10, 100) / 10)):
        tens = np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
        values = np.sort(np.outer(10.0**tens, leads).ravel())
        kept = values[(values >= low) & (values <= high)]
        if len(kept) >= 4:
            break
    return np.asarray(kept)


def _about_base(result: "Factors") -> str:
    base = ", ".join(
        f"{cut(name)} = {cut(cell(value))}"
        for name, value in list(result.base.items())[:MOST_COLUMNS]
    )
    none = "1" if result.ratio_name is not None else "0"
    return f"base value {number(result.base_value)}, dashed ({none}): {base}" if base else "no base"


def _empty() -> Any:
    return chart_of([]).mark_point()


class _Panel:
    """One column: levels as points, steps and curves as lines."""

    def __init__(self, result: "Factors", term: "FactorTerm") -> None:
        self.result, self.term = result, term
        self.axis = term.axes[0]
        self.title = result.ratio_name or "difference"
        self.missing = self._at_missing()
        self.rows = self._levels() if self.axis.levels is not None else self._numbers()

    @property
    def extent(self) -> list[float]:
        """What is drawn, on the scale of the score."""
        values = [row["effect"] for row in self.rows] or [0.0]
        return [*values, 0.0] if self.missing is None else [*values, 0.0, self.missing]

    @property
    def words(self) -> str:
        """The panel in words."""
        name = cut(self.axis.column)
        if self.axis.levels is None:
            values = [row["value"] for row in self.rows]
            ends = [self.rows[k]["x"] for k in (0, -1)]
            first, last = (f"{number(values[k])} at {cell(ends[k])}" for k in (0, -1))
            return f"{name} from {first} to {last}"
        parts = []
        for row in self.rows:
            within = f" ({interval(row['low'], row['high'])})" if row["low"] is not None else ""
            parts.append(f"{row['level']} {number(row['value'])}{within}")
        return f"{name}: {', '.join(parts)}"

    def _at_missing(self) -> float | None:
        """Return what missing numbers add; None where no row has one."""
        place = (self.axis.n_known,)
        if self.axis.levels is not None or not self.term.shares[place] > 0:
            return None
        value = float(self.term.effects[place])
        return value if np.isfinite(value) else None

    def _ends(self, effect: float, error: float) -> dict[str, Any]:
        """Return an effect, its ratio and interval as the fields of a row."""
        row = {"effect": effect, "value": self.result.ratio_of(effect), "low": None, "high": None}
        if np.isfinite(error):
            law = stats.norm() if np.isinf(self.result.freedom) else stats.t(self.result.freedom)
            half = float(law.ppf(0.5 + self.result.confidence / 2)) * error
            row |= {
                "low": self.result.ratio_of(effect - half),
                "high": self.result.ratio_of(effect + half),
            }
        return row

    def _error(self, place: int) -> float:
        return np.nan if self.term.errors is None else float(self.term.errors[place])

    def _levels(self) -> list[dict[str, Any]]:
        levels = self.axis.levels or ()
        names = [*levels, "other levels", "missing"]
        return [
            {
                "level": cut(name),
                "share": percent(float(self.term.shares[k])),
                **self._ends(float(self.term.effects[k]), self._error(k)),
            }
            for k, name in enumerate(names)
            if np.isfinite(self.term.effects[k]) and self.term.shares[k] > 0
        ]

    def _numbers(self) -> list[dict[str, Any]]:
        """Return the values of steps at their ends, of curves at a grid and at their pieces."""
        low, high = self.result.range_of(self.term)
        if self.term.powers is None:
            ends = np.unique(np.clip(np.concatenate([[low], self.axis.cuts, [high]]), low, high))
            rows = []
            for start, end in pairwise(ends.tolist()):
                place = int(np.searchsorted(self.axis.cuts, end))
                row = self._ends(float(self.term.effects[place]), self._error(place))
                rows += [{"x": float(x), **row} for x in (start, end)]
            return rows
        grid = np.linspace(low, high, _POINTS)
        origins = self.term.origins[0][: self.axis.n_known]
        grid = np.unique([*grid, *origins[(origins >= low) & (origins <= high)]])
        base = float(self.result.base.get(self.axis.column, origins[0]))
        rows = []
        for x, effect in zip(grid, value_at(self.term, grid), strict=True):
            place = int(np.searchsorted(self.axis.cuts, x))
            error = np.nan
            if self.term.is_line:
                error = self._error(0) * abs(float(x) - base)
            elif x == origins[place]:
                error = self._error(place)
            rows.append({"x": float(x), **self._ends(float(effect), error)})
        return rows

    def chart(self, scale: Any) -> Any:
        """Draw the panel."""
        import altair as alt

        y = alt.Y("value:Q", scale=scale, title=self.title, axis=self._ticks(scale))
        layers = [rule(self.result.ratio_of(0.0), "y", strokeDash=[4, 4])]
        tips = [
            alt.Tooltip(f"{name}:Q", format=".4g")
            for name in ("value", *(("low", "high") if self.result.errors is not None else ()))
        ]
        with_ends = [row for row in self.rows if row["low"] is not None]
        if self.axis.levels is not None:
            order = [row["level"] for row in self.rows]
            angle = 0 if sum(map(len, order)) * _LETTER < _WIDTH - 8 * len(order) else -35
            axis = alt.Axis(**AXIS, labelAngle=angle)
            x: Any = alt.X("level:N", sort=order, title=self.axis.column, axis=axis)
            points = chart_of(self.rows).mark_point(
                filled=True, size=50, opacity=1.0, clip=True, color=DOWN
            )
            bars = chart_of(with_ends).mark_rule(strokeWidth=2, clip=True, color=DOWN)
            layers.append(bars.encode(x=x, y=alt.Y("low:Q", scale=scale), y2=alt.Y2("high:Q")))
            layers.append(
                points.encode(
                    x=x, y=y, tooltip=[alt.Tooltip("level:N"), *tips, alt.Tooltip("share:N")]
                )
            )
        else:
            ends = alt.Scale(domain=list(self.result.range_of(self.term)), nice=False)
            x = alt.X("x:Q", title=self.axis.column, scale=ends, axis=alt.Axis(**AXIS))
            area = chart_of(with_ends).mark_area(opacity=0.2, clip=True, color=DOWN)
            layers.append(area.encode(x=x, y=alt.Y("low:Q", scale=scale), y2=alt.Y2("high:Q")))
            line = chart_of(self.rows).mark_line(clip=True, color=DOWN)
            layers.append(line.encode(x=x, y=y, tooltip=[alt.Tooltip("x:Q"), *tips]))
            layers += self._missing_line(scale)
        return alt.layer(*layers).properties(width=_WIDTH, height=_HEIGHT)

    def _ticks(self, scale: Any) -> Any:
        """Return the axis of the values: of ratios, marked at round ones."""
        import altair as alt

        if self.result.ratio_name is None:
            return alt.Axis(tickCount=4)
        return alt.Axis(values=round_ratios(*scale.domain).tolist(), format="~g")

    def _missing_line(self, scale: Any) -> list[Any]:
        """Draw what missing values add as a line of its own, with its name."""
        import altair as alt

        if self.missing is None:
            return []
        at = {"value": self.result.ratio_of(self.missing), "name": "missing"}
        base = chart_of([at]).encode(y=alt.Y("value:Q", scale=scale))
        name = base.mark_text(align="right", dx=-2, dy=-6, color=GREY).encode(
            text=alt.Text("name:N"), x=alt.value(_WIDTH)
        )
        return [base.mark_rule(color=GREY, strokeDash=[1, 3]), name]
