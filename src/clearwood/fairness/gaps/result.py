"""The gap between groups and what it comes from."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from clearwood._shared.numbers import IN_TABLES, interval, number, percent
from clearwood._shared.results import Result, html_table
from clearwood.explanation import Scale
from clearwood.fairness.groups.grouping import Standing, one_line

__all__ = ["Gap", "GapPart", "Source"]

Source = Literal["total", "direct", "column", "interaction"]


@dataclass(frozen=True)
class GapPart(Result):
    """A part of the gap between one group and the reference.

    Parameters
    ----------
    group
        The group.
    source
        "total"; "direct" for the protected columns themselves; "column" for a permitted column;
        "interaction" for what depends on both.
    column
        The permitted column; empty for the other sources.
    difference
        What the part adds to the difference of the means.
    ratio
        The factor that the part contributes to the ratio of the means; None where predictions can
        be zero or less.
    low, high, ratio_low, ratio_high
        Intervals from models fitted to resampled rows; None without refits.
    standard_error
        Of the difference, from drawn rows; 0 where it is exact.
    """

    group: str
    source: Source
    column: str
    difference: float
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    ratio_low: float | None = None
    ratio_high: float | None = None
    standard_error: float = 0.0

    @property
    def name(self) -> str:
        """What the part is called."""
        return f"through {self.column!r}" if self.source == "column" else self.source


@dataclass(frozen=True, eq=False, repr=False)
class Gap(Result):
    """Differences between groups in the mean prediction, shared out by what they come from.

    Made by `clearwood.fairness.gap`. For each group the parts other than the total add up to it,
    and their ratios multiply to its ratio.

    Parameters
    ----------
    protected
        The protected columns.
    reference
        The group that others are compared with.
    groups
        All groups, the reference included.
    means
        The mean prediction of each group.
    shares
        The share of each group.
    standing
        Whether each group is judged, and if not, why: few rows, a small share, or a missing value.
    parts
        The total and its parts, group by group.
    scale
        "response" for the target's own scale, "margin" for logs or log odds.
    output
        The class whose probability is compared; None for numbers.
    is_exact
        Whether the shares of columns are exact; else they are estimated from drawn rows, and only
        their sum is exact.
    n_refits
        How many refits the intervals are from.
    confidence
        The coverage that the intervals aim at.
    seed
        What fixed the draws.
    """

    protected: tuple[str, ...]
    reference: str
    groups: tuple[str, ...]
    means: tuple[float, ...]
    shares: tuple[float, ...]
    standing: tuple[Standing, ...]
    parts: tuple[GapPart, ...]
    scale: Scale = Scale.RESPONSE
    output: str | None = None
    is_exact: bool = True
    n_refits: int = 0
    confidence: float = 0.9
    seed: int = 0
    value: ClassVar[str] = "interventional"

    def __getitem__(self, group: str) -> tuple[GapPart, ...]:
        """Return the total and its parts for a group."""
        return tuple(part for part in self.parts if part.group == group)

    @property
    def judged(self) -> tuple[str, ...]:
        """The groups that are judged, the reference included."""
        pairs = zip(self.groups, self.standing, strict=True)
        return tuple(group for group, one in pairs if one is Standing.JUDGED)

    @property
    def has_ratios(self) -> bool:
        """Whether the gap is a product of ratios too."""
        return all(part.ratio is not None for part in self.parts)

    def part(self, group: str, source: Source, column: str = "") -> GapPart:
        """Return one part."""
        return next(one for one in self[group] if (one.source, one.column) == (source, column))

    def _columns(self) -> dict[str, Any]:
        names = [
            *("group", "source", "column", "difference", "low", "high"),
            *("ratio", "ratio_low", "ratio_high", "standard_error"),
        ]
        return {name: [getattr(part, name) for part in self.parts] for name in names}

    def _text(self, part: GapPart, digits: int = 3) -> str:
        if self.has_ratios:
            value, low, high = part.ratio, part.ratio_low, part.ratio_high
        else:
            value, low, high = part.difference, part.low, part.high
        assert value is not None
        text = ("× " if self.has_ratios else "") + number(value, digits)
        if low is None or high is None:
            return text
        return f"{text} ({interval(low, high, digits)})"

    def __repr__(self) -> str:
        lines = []
        names = " and ".join(map(repr, self.protected))
        for group in self.groups:
            if group == self.reference:
                continue
            total, *rest = self[group]
            groups = f"{one_line(group)} against {one_line(self.reference)}"
            if group not in self.judged:
                groups += f", {self.standing[self.groups.index(group)]}"
            lines.append(f"{groups} ({names}): {self._text(total)}, of which")
            ordered = sorted(rest, key=lambda part: -abs(part.difference))
            lines += [f"  {self._text(part):<28} {part.name}" for part in ordered]
        how = "exact" if self.is_exact else "columns estimated from drawn rows, their sum exact"
        lines.append(f"{self._what()}; {self.value}, {how}{self._bands()}")
        return "\n".join(lines)

    def _what(self) -> str:
        """Say what is compared."""
        of = "" if self.output is None else f" of {self.output!r}"
        if self.scale is Scale.MARGIN:
            return f"means on the margin{of}" + (" as ratios" if self.has_ratios else "")
        return f"{'ratios' if self.has_ratios else 'differences'} of mean predictions{of}"

    def _bands(self) -> str:
        if not self.n_refits:
            return ""
        return f"; {percent(self.confidence)} intervals from {self.n_refits} refits"

    def _repr_html_(self) -> str:
        rows = [
            (f"{part.group} against {self.reference}", part.name, self._text(part, IN_TABLES))
            for part in self.parts
        ]
        return html_table(f"Gap: {self._what()}", ("groups", "part", "value"), rows)

    def plot(self, **options: Any) -> Any:
        """Draw the parts of the gap as bars, with their intervals (Altair)."""
        from clearwood.plot import plot_gap

        return plot_gap(self, **options)
