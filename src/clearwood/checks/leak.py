"""One sign that a column may contain the target."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from clearwood._shared.arrays import Bools
from clearwood._shared.numbers import count, interval, number, percent
from clearwood._shared.results import Result

__all__ = ["Leak", "Sign", "Suspect"]

Sign = Literal["copy", "strong", "missing", "level", "levels", "range", "exposure"]

#: Levels that are named in a sentence.
_NAMED = 4


@dataclass(frozen=True, kw_only=True)
class Leak(Result):
    """One sign that a column may contain the target.

    Parameters
    ----------
    column, target
        The column, and what is predicted.
    kind
        "copy": it explains nearly all of the target by itself. "strong": it explains, or ranks,
        more than columns known beforehand usually do. "missing": so does whether it is missing.
        "level": rows with one of its values nearly all have the same value of the target.
        "levels": so do rows with one of several values, which were chosen on other rows.
        "range": so do rows in a range of its numbers, and rows just outside do not.
        "exposure": it is the exposure in another form, such as its logarithm.
    explained
        The share of the target's variance that the column (for "missing": its missingness)
        explains by itself on held-out rows. Of "exposure": its rank correlation with the exposure.
    auc
        The area under the ROC curve of the column by itself; NaN unless there are two classes.
    level, outcome
        Of a "level": the value of the column ("missing" or "present" where that is what counts),
        and the value of the target that its rows have.
    levels
        Of "levels": the values of the column.
    above, up_to
        Of a "range": it holds the numbers above the first and up to the second; None where it is
        open on that side.
    rows, members
        Of a "level", "levels" or "range": how many rows have it, and how many of these have the
        outcome. Of "levels": rows that did not choose the levels they are judged by.
    share, low, high
        The (weighted) share of the outcome, and its exact interval (Clopper and Pearson 1934), at a
        level at which those of everything that was looked at hold together.
    base, others
        The share of the outcome among all rows, and among the other rows.
    is_weighted
        Whether shares are those of the weight.
    """

    column: str
    target: str
    kind: Sign
    explained: float
    auc: float = np.nan
    level: str = ""
    outcome: str = ""
    levels: tuple[str, ...] = ()
    above: float | None = None
    up_to: float | None = None
    rows: int = 0
    members: int = 0
    share: float = np.nan
    low: float = np.nan
    high: float = np.nan
    base: float = np.nan
    others: float = np.nan
    is_weighted: bool = False
    _derived: ClassVar[tuple[str, ...]] = ("text",)

    @property
    def text(self) -> str:
        """What was seen, in words."""
        if self.kind in ("level", "levels", "range"):
            weighted = "weighted: " if self.is_weighted else ""
            apart = ", chosen on other rows" if self.kind == "levels" else ""
            return (
                f"{self.column} {self._which}{apart}: {self.members:,} of "
                f"{count(self.rows, 'row')} have {self.target} = {self.outcome} "
                f"({weighted}{percent(self.share)}, interval "
                f"{interval(100 * self.low, 100 * self.high)} %), against {percent(self.others)} "
                "of the others"
            )
        if self.kind == "exposure":
            return (
                f"{self.column} is the exposure in another form (rank correlation "
                f"{number(self.explained)}): a rate is per unit of exposure already, and how long "
                "a row is exposed is often known only afterwards"
            )
        what = f"whether {self.column} is missing" if self.kind == "missing" else self.column
        ranks = f" and has an AUC of {number(self.auc)}" if np.isfinite(self.auc) else ""
        return f"{what} explains {percent(self.explained)} of {self.target} by itself{ranks}"

    @property
    def _which(self) -> str:
        """Which rows of the column."""
        if self.kind == "level":
            return f"= {self.level}"
        if self.kind == "levels":
            more = len(self.levels) - _NAMED
            rest = f" and {count(more, 'more level')}" if more > 0 else ""
            return f"in {', '.join(self.levels[:_NAMED])}{rest}"
        low = "" if self.above is None else f"above {number(self.above)}"
        high = "" if self.up_to is None else f"up to {number(self.up_to)}"
        return " and ".join(filter(None, (low, high)))

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, eq=False)
class Suspect:
    """A leak that may be an honest and strong column, and its rows; None for all rows."""

    leak: Leak
    own: Bools | None = None
