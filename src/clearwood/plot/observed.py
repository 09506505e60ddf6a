"""Observed and predicted means of rows, as further lines of an effect's figure."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._shared.frames import plain
from clearwood.plot.heat_map import MISSING
from clearwood.plot.style import DOWN, UP, chart_of, cut

if TYPE_CHECKING:
    from clearwood._shared.arrays import Floats
    from clearwood.evaluation import ByColumn
    from clearwood.explanation import Effect

__all__ = ["LAYER", "Means", "means_beside"]

#: The name of layers that a page can leave out, and how it begins.
LAYER = "observed"
_PREDICTED = "#009E73"
_CURVES = {"pdp": "partial dependence", "ice": "mean of the curves", "ale": "ALE"}
#: An interval may take the axis beyond everything else by this share of it.
_BEYOND = 0.5


def means_beside(
    effect: "Effect", observed: "ByColumn | None", extent: list[float]
) -> "Means | None":
    """Return the means to draw beside an effect; None where they are of something else.

    That is so for slopes, sums of parts, scores before a link, several outputs, and two columns.
    """
    if (
        observed is None
        or effect.kind not in _CURVES
        or effect.derivative
        or len(effect.outputs) > 1
        or effect.about.unit.is_before_link
        or observed.columns != effect.columns
    ):
        return None
    return Means(effect, observed, extent)


@dataclass(frozen=True, eq=False)
class Means:
    """Observed means with their intervals and predicted means, by band of a column.

    Parameters
    ----------
    effect
        The effect that they are drawn with.
    observed
        The means. They are centred, each by its mean over all rows, where the effect is.
    extent
        The range that the effect takes of the axis.
    """

    effect: "Effect"
    observed: "ByColumn"
    extent: list[float]

    @property
    def note(self) -> str:
        """What the means are, in words."""
        by = self.observed
        weighted = ", weighted" if by.is_weighted else ""
        return f"observed and predicted: means of {by.what} in {len(by.rows)} bands{weighted}"

    def _series(self) -> "dict[str, tuple[Floats, Floats, Floats]]":
        """Return each mean between the ends of its interval; the predicted one has none."""
        by = self.observed
        low, high = by.around_observed()
        of_observed, of_predicted = (
            float(np.average(values, weights=by.weight)) if self.effect.centred else 0.0
            for values in (by.observed, by.predicted)
        )
        none = np.full(len(by.rows), np.nan)
        return {
            "observed": (by.observed - of_observed, low - of_observed, high - of_observed),
            "predicted": (by.predicted - of_predicted, none, none),
        }

    def _rows(self) -> list[dict[str, Any]]:
        """Return a record for each band and series."""
        by = self.observed
        middles = [None] * len(by.rows) if by.middle is None else [plain(x) for x in by.middle]
        return [
            {
                "x": middles[k],
                "band": cut(band[0]),
                "series": series,
                "mean": float(mean[k]),
                "low": plain(float(low[k])),
                "high": plain(float(high[k])),
                "rows": int(by.rows[k]),
            }
            for series, (mean, low, high) in self._series().items()
            for k, band in enumerate(by.bands)
        ]

    @property
    def domain(self) -> list[float]:
        """Return the range of the axis that holds the means, and intervals unless they are wide."""
        (observed, low, high), (predicted, _, _) = self._series().values()
        known = np.concatenate([self.extent, observed, predicted])
        least, most = float(np.nanmin(known)), float(np.nanmax(known))
        room = _BEYOND * (most - least)
        ends = np.concatenate([low, high])
        ends = np.clip(ends[np.isfinite(ends)], least - room, most + room)
        return [float(min(least, *ends)), float(max(most, *ends))]

    def _colour(self) -> Any:
        import altair as alt

        names = [_CURVES[self.effect.kind], "observed", "predicted"]
        scale = alt.Scale(domain=names, range=[DOWN, UP, _PREDICTED])
        # symbols would be as pale as the band
        legend = alt.Legend(orient="top", symbolOpacity=1, symbolType="circle")
        return alt.Color("series:N", title=None, scale=scale, legend=legend)

    def _value(self, field: str, along: str, title: str | None, **options: Any) -> Any:
        import altair as alt

        scale = alt.Scale(domain=self.domain, nice=True, zero=False)
        return (alt.Y if along == "y" else alt.X)(f"{field}:Q", title=title, scale=scale, **options)

    def _tooltip(self) -> list[Any]:
        import altair as alt

        return [
            alt.Tooltip("band:N", title=self.effect.columns[0]),
            alt.Tooltip("series:N", title="mean"),
            alt.Tooltip("mean:Q", format=".4g", title="value"),
            alt.Tooltip("low:Q", format=".4g"),
            alt.Tooltip("high:Q", format=".4g"),
            alt.Tooltip("rows:Q"),
        ]

    def lines(self, x: Any, title: str) -> list[Any]:
        """Return layers over the values of a column of numbers or dates."""
        import altair as alt

        rows = [row for row in self._rows() if row["x"] is not None]
        seen = [row for row in rows if row["series"] == "observed" and row["low"] is not None]
        y, colour = self._value("mean", "y", title), self._colour()
        base = chart_of(rows).encode(x=x, y=y, color=colour)
        layers = [
            base.mark_line(strokeWidth=1.5, clip=True).properties(name=f"{LAYER}_line"),
            base.mark_point(filled=True, size=40, opacity=1, clip=True)
            .encode(tooltip=self._tooltip())
            .properties(name=f"{LAYER}_points"),
        ]
        if seen:
            band = chart_of(seen).mark_area(opacity=0.15, clip=True)
            low = self._value("low", "y", title)
            encoded = band.encode(x=x, y=low, y2=alt.Y2("high:Q"), color=colour)
            layers.insert(0, encoded.properties(name=f"{LAYER}_band"))
        return layers

    def missing(self) -> list[Any]:
        """Return layers for the rows without a value."""
        import altair as alt

        names = {band[0]: k for k, band in enumerate(self.observed.bands)}
        rows = [
            {**row, "x": MISSING}
            for row in self._rows()
            if row["x"] is None and row["band"] == MISSING and MISSING in names
        ]
        if not rows:
            return []
        hidden = alt.Axis(labels=False, ticks=False)
        return self._marks(rows, alt.X("x:N", title=None), "y", None, axis=hidden)

    def levels(self, order: list[str], title: str) -> list[Any]:
        """Return layers for the levels of a category; levels that share a band have none."""
        import altair as alt

        rows = [{**row, "level": row["band"]} for row in self._rows() if row["band"] in order]
        at = alt.Y("level:N", sort=order, title=self.effect.columns[0])
        return self._marks(rows, at, "x", title)

    def _marks(
        self, rows: list[dict[str, Any]], at: Any, along: str, title: str | None, **options: Any
    ) -> list[Any]:
        """Return points of the means and rules of the intervals, beside those of the effect."""
        import altair as alt

        across, other = ("y", "xOffset") if along == "y" else ("x", "yOffset")
        place = "x" if along == "y" else "y"
        places = {"observed": 9 if along == "x" else 12, "predicted": -9 if along == "x" else -12}
        layers = []
        for series, shift in places.items():
            own = [row for row in rows if row["series"] == series]
            mark = {other: shift, "clip": True}
            base = chart_of(own).encode(**{place: at}, color=self._colour())
            value = self._value("mean", along, title, **options)
            points = base.mark_point(filled=True, size=45, opacity=1, shape="square", **mark)
            layers.append(
                points.encode(**{across: value}, tooltip=self._tooltip()).properties(
                    name=f"{LAYER}_{series}"
                )
            )
            if any(row["low"] is not None for row in own):
                low = self._value("low", along, title, **options)
                rules = base.mark_rule(strokeWidth=2, opacity=0.5, **mark)
                high = alt.X2("high:Q") if across == "x" else alt.Y2("high:Q")
                encoded = rules.encode(**{across: low, f"{across}2": high})
                layers.insert(0, encoded.properties(name=f"{LAYER}_interval"))
        return layers
