"""A mixture of experts, written out as a table of coefficients."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood._shared.names import short_name
from clearwood._shared.numbers import IN_TABLES, count, number, percent
from clearwood._shared.results import Result, html_table

__all__ = ["ExpertTable"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ExpertTable(Result):
    """Gates and experts in the units of the columns.

    Parameters
    ----------
    columns
        "constant", then the columns of the model.
    gates
        Of shape (gates, columns): the log odds of going on to the right. Gate 1 is the first one;
        gate k leads to 2k on the left and 2k + 1 on the right, gates first and then experts.
    experts
        Of shape (experts, columns, outputs): coefficients of the mean, of its logarithm for counts,
        and of the log odds for classes.
    outputs
        Names of the outputs; one empty name where there is one.
    shares
        The share of the rows that each expert has, on average over the training rows.
    noise
        Standard deviation of the noise of each expert; NaN where there is none.
    log_likelihood
        The penalised log-likelihood after each step of the best start.
    counted_by
        What shares are of: "rows", or what they count by, such as "exposure".
    """

    columns: tuple[str, ...]
    gates: Floats
    experts: Floats
    outputs: tuple[str, ...]
    shares: Floats
    noise: Floats
    log_likelihood: Floats
    counted_by: str = "rows"

    def lines(self) -> list[tuple[str, Floats]]:
        """Return the name and the coefficients of each gate and expert."""
        lines = [(f"gate {k + 1}", gate) for k, gate in enumerate(self.gates)]
        for k, expert in enumerate(self.experts):
            for output, name in enumerate(self.outputs):
                label = f"expert {k + 1}"
                lines.append((f"{label}: {name}" if name else label, expert[:, output]))
        return lines

    def _columns(self) -> Mapping[str, Any]:
        lines = self.lines()
        return {
            "part": [name for name, _ in lines for _ in self.columns],
            "column": [*self.columns] * len(lines),
            "coefficient": np.concatenate([values for _, values in lines]),
        }

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        lines = self.lines()
        headings = ["", *(name for name, _ in lines)]
        rows = [
            [column, *(number(values[j], IN_TABLES) for _, values in lines)]
            for j, column in enumerate(self.columns)
        ]
        n_gates, n_outputs = len(self.gates), len(self.outputs)
        shares = [percent(share) for share in self.shares for _ in range(n_outputs)]
        rows.append([f"share of {self.counted_by}", *[""] * n_gates, *shares])
        if np.isfinite(self.noise).all():
            rows.append(["noise", *[""] * n_gates, *(number(one, IN_TABLES) for one in self.noise)])
        return headings, rows

    def __repr__(self) -> str:
        headings, rows = self._cells()
        headings = [_cut(name, 24) for name in headings]
        rows = [[_cut(row[0], 30), *row[1:]] for row in rows]
        gates = count(len(self.gates), "gate")
        head = f"{len(self.experts)} experts, mixed by {gates} (log odds of right)"
        widths = [max(map(len, cells)) for cells in zip(headings, *rows, strict=True)]
        text = [head, ""]
        # parts side by side, as many as fit into 80 characters
        first = 1
        while first < len(headings):
            last = first + 1
            while (
                last < len(headings)
                and widths[0] + sum(w + 2 for w in widths[first : last + 1]) <= 80
            ):
                last += 1
            for cells in (headings, *rows):
                numbers = [f"{cells[j]:>{widths[j]}}" for j in range(first, last)]
                text.append("  ".join([f"{cells[0]:<{widths[0]}}", *numbers]).rstrip())
            text.append("")
            first = last
        steps = count(len(self.log_likelihood) - 1, "step")
        text.append(f"log-likelihood {number(self.log_likelihood[-1], IN_TABLES)} after {steps}")
        return "\n".join(text)

    def _repr_html_(self) -> str:
        headings, rows = self._cells()
        return html_table("Gates and experts", headings, rows)

    def plot(self) -> Any:
        """Draw the log-likelihood after each step (Altair)."""
        from clearwood.plot import plot_likelihood

        return plot_likelihood(self)


def _cut(name: str, width: int) -> str:
    """Write a name on one line of a table, shortened to a width."""
    plain = " ".join(short_name(name).split())
    return plain if len(plain) <= width else plain[: width - 1] + "…"
