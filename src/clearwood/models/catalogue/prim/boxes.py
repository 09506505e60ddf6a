"""The boxes of a fitted PRIM model, as a table that can be read."""

from collections.abc import Mapping
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood._shared.numbers import count, interval, number, share_of
from clearwood._shared.results import Result

__all__ = ["BoxList", "BoxRow"]

_WIDTH = 79


@dataclass(frozen=True)
class BoxRow:
    """One box.

    Parameters
    ----------
    rule
        Its conditions as text.
    support
        Its share of all rows, by weight, without the rows of boxes before it.
    mean, error
        Of the target, from rows that took no part in finding the box, and its standard error.
    found_mean
        From the rows that found the box: too far from the rest, by the search.
    n_held_out
        Rows that the mean is from.
    columns
        The columns that it involves.
    """

    rule: str
    support: float
    mean: float
    error: float
    found_mean: float
    n_held_out: int
    columns: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class BoxList(Result):
    """Boxes in which the target is high, or low, in the order in which they were found.

    Parameters
    ----------
    direction
        "high" or "low".
    mean
        Of the target, outside all boxes.
    rows
        The boxes.
    trajectory
        For the first box: support, mean where it was sought and mean of other rows after each peel,
        of shape (peels, 3).
    bounds
        Between which values means can lie: 0 and 1 for classes.
    counted_by
        What shares are of: "rows", or what they count by, such as "exposure".
    """

    direction: str
    mean: float
    rows: tuple[BoxRow, ...]
    trajectory: Floats
    bounds: tuple[float, float] = (-np.inf, np.inf)
    counted_by: str = "rows"

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        lines = [f"{count(len(self.rows), 'box', 'boxes')} of {self.direction} mean:"]
        for row in self.rows:
            ends = ""
            if np.isfinite(row.error):
                low, high = np.clip(row.mean + 1.645 * row.error * np.array([-1, 1]), *self.bounds)
                ends = f", 90 % interval {interval(low, high)}"
            lines += _wrapped(f"{number(row.mean)}  if {row.rule}", indent="  ")
            lines += _wrapped(
                f"{share_of(row.support, self.counted_by)}; mean of {count(row.n_held_out, 'row')} "
                f"held out{ends}; {number(row.found_mean)} where it was found"
            )
        return "\n".join([*lines, f"  {number(self.mean)}  outside"])

    __repr__ = __str__

    @property
    def notes(self) -> tuple[str, ...]:
        """What the table of the boxes does not have."""
        return (f"the prediction outside all boxes is {number(self.mean)}",)

    def _columns(self) -> Mapping[str, Any]:
        names = ("rule", "support", "mean", "error", "found_mean", "n_held_out")
        return {name: [getattr(row, name) for row in self.rows] for name in names}

    def plot(self) -> Any:
        """Draw the trajectory of the first box: mean against support (Altair)."""
        from clearwood.plot import plot_boxes

        return plot_boxes(self)


def _wrapped(text: str, *, indent: str = "      ") -> list[str]:
    """Break a text into lines that fit a terminal, the later ones indented."""
    return wrap(
        text,
        _WIDTH,
        initial_indent=indent,
        subsequent_indent="      ",
        break_on_hyphens=False,
    )
