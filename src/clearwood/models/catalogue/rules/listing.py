"""The rules and lines of a fitted ensemble, as a table that can be read."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clearwood._shared.numbers import count, number, share_of
from clearwood._shared.results import Result

__all__ = ["RuleList", "RuleRow", "write_rows"]


@dataclass(frozen=True)
class RuleRow:
    """One rule or line of the ensemble.

    Parameters
    ----------
    rule
        The rule as text: its conditions, or the range of a line.
    kind
        "rule" or "line".
    coefficient
        What it adds to the score where it holds; for a line, per unit of the column.
    support
        Share of the training weight for which it holds; 1 for lines.
    importance
        The standard deviation, over the training rows, of what it adds.
    columns
        The columns that it involves.
    output
        The class whose score it adds to; empty where there is one score.
    """

    rule: str
    kind: str
    coefficient: float
    support: float
    importance: float
    columns: tuple[str, ...]
    output: str = ""


@dataclass(frozen=True)
class RuleList(Result):
    """The score of a rule ensemble: a constant, rules and lines, the most important first.

    Parameters
    ----------
    constant
        What every row starts from, by output.
    rows
        Rules and lines.
    counted_by
        What shares are of: "rows", or what they count by, such as "exposure".

    Examples
    --------
    >>> row = RuleRow("age > 41", "rule", 2.5, 0.4, 1.22, ("age",))
    >>> print(RuleList({"": 10.0}, (row,)))
    10 and 1 rule or line:
      + 2.5  if age > 41 (40 % of rows)
    """

    constant: Mapping[str, float]
    rows: tuple[RuleRow, ...]
    counted_by: str = "rows"

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        several = len(self.constant) > 1
        start = ", ".join(
            f"{name}: {number(value)}" if name else number(value)
            for name, value in self.constant.items()
        )
        lines = [f"{start} and {count(len(self.rows), 'rule or line', 'rules or lines')}:"]
        for row in self.rows:
            sign = "−" if row.coefficient < 0 else "+"
            text = f"  {sign} {number(abs(row.coefficient))}"
            if row.kind == "rule":
                text += f"  if {row.rule} ({share_of(row.support, self.counted_by)})"
            else:
                text += f" · {row.rule}"
            lines.append(f"{text} for {row.output}" if several else text)
        return "\n".join(lines)

    def _columns(self) -> Mapping[str, Any]:
        names = ["rule", "kind", "coefficient", "support", "importance"]
        names += ["output"] if len(self.constant) > 1 else []
        return {name: [getattr(row, name) for row in self.rows] for name in names}


def write_rows(
    terms: Sequence[tuple[Callable[[], str], str, Sequence[float], float, float, tuple[str, ...]]],
    outputs: Sequence[str],
) -> tuple[RuleRow, ...]:
    """Make the rows of a list, the most important first.

    Parameters
    ----------
    terms
        For each rule or line: what writes it, its kind, its coefficient for each output, its
        support, the standard deviation of the term itself, and its columns.
    outputs
        Names of the outputs.
    """
    rows = [
        RuleRow(written(), kind, float(beta), support, abs(float(beta)) * spread, columns, output)
        for written, kind, betas, support, spread, columns in terms
        for output, beta in zip(outputs, betas, strict=True)
        if beta != 0
    ]
    return tuple(sorted(rows, key=lambda row: -row.importance))
