"""What is known about the direction of a model in its columns."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from clearwood._shared.numbers import count, number, percent
from clearwood._shared.results import Result

__all__ = ["Direction", "Monotone", "MonotoneClaim", "Witness"]

#: "flat": the prediction does not change with the column at all; "neither": it rises and falls.
Direction = Literal["up", "down", "flat", "neither"]

_VERB = {"up": "rises", "down": "falls", "flat": "does not change", "neither": "rises and falls"}
_WORD = {"up": "increasing", "down": "decreasing", "flat": "constant"}


@dataclass(frozen=True)
class Witness(Result):
    """Two rows that differ in one column only, and what the model predicts for them.

    Parameters
    ----------
    low, high
        The rows by column; the column that differs is smaller in the first.
    predicted_low, predicted_high
        Their predictions.
    """

    low: Mapping[str, Any]
    high: Mapping[str, Any]
    predicted_low: float
    predicted_high: float

    @property
    def change(self) -> float:
        """What the prediction changes by from the first row to the second."""
        return self.predicted_high - self.predicted_low


@dataclass(frozen=True)
class MonotoneClaim(Result):
    """Whether the prediction rises or falls with one column, everything else being equal.

    Parameters
    ----------
    column
        The column.
    direction
        "up", "down", "flat" or "neither". If it is not proved, it is the direction in which no
        step against it was met.
    proved
        Whether it holds for all values of all columns, also those that do not occur together; what
        is missing in the column has no place in its order. "neither" is proved by witnesses.
    wanted
        The direction that was asked for; None where there was none.
    n_steps, n_against
        Steps from one value of the column to the next that were computed in rows, and how many of
        them go against the direction that was asked for, or against the more frequent one.
    rising, falling
        Witnesses: the largest rise and fall that were met; None where there was none.
    """

    column: str
    direction: Direction
    proved: bool
    wanted: Direction | None
    n_steps: int
    n_against: int
    rising: Witness | None
    falling: Witness | None

    _derived = ("holds",)

    @property
    def holds(self) -> bool | None:
        """Whether the wanted direction holds; None where that is not known, or none is wanted."""
        if self.wanted is None:
            return None
        if self.against is not None:
            return False
        return True if self.proved else None

    @property
    def against(self) -> Witness | None:
        """A witness against the wanted direction."""
        return {"up": self.falling, "down": self.rising}.get(self.wanted or "")

    @property
    def sentence(self) -> str:
        """The claim in words."""
        counted = f"{self.n_against:,} of {count(self.n_steps, 'step')} in rows"
        if self.wanted is not None and self.against is not None:
            share = percent(self.n_against / max(self.n_steps, 1))
            met = f"{counted} ({share}) go the other way" if self.n_against else "a pair of rows"
            way = "rise" if self.wanted == "up" else "fall"
            return f"the prediction does not always {way}: {met}, by up to " + number(
                abs(self.against.change)
            )
        if self.direction == "neither":
            return "the prediction rises in some rows and falls in others"
        if self.proved:
            return f"proved {_WORD[self.direction]} over the whole space"
        return (
            f"not proved: the prediction {_VERB[self.direction]} in all "
            f"{count(self.n_steps, 'step')} that were computed in rows"
        )


@dataclass(frozen=True, eq=False, repr=False)
class Monotone(Result):
    """Directions of a model in its columns; made by `Explanation.monotone`.

    Parameters
    ----------
    claims
        One for each column.
    model
        The model in words.
    outcome
        Which output, where there are several; else empty.
    """

    claims: tuple[MonotoneClaim, ...]
    model: str
    outcome: str

    def __getitem__(self, column: str) -> MonotoneClaim:
        for claim in self.claims:
            if claim.column == column:
                return claim
        raise KeyError(column)

    @property
    def holds(self) -> bool | None:
        """Whether all wanted directions hold; None where one is not known."""
        known = [claim.holds for claim in self.claims if claim.wanted is not None]
        if False in known:
            return False
        return None if None in known or not known else True

    def _columns(self) -> Mapping[str, Any]:
        names = ("column", "direction", "proved", "wanted", "holds", "n_steps", "n_against")
        return {name: [getattr(claim, name) for claim in self.claims] for name in names}

    def __repr__(self) -> str:
        of = f" of {self.outcome}" if self.outcome else ""
        lines = [f"Directions{of}, by {self.model}"]
        lines += [f"  {_line(claim.column)}: {claim.sentence}" for claim in self.claims]
        for claim in self.claims:
            if claim.against is not None:
                pair = _pair(claim.column, claim.against)
                lines.append(f"  {_line(claim.column)}, two rows: {pair}")
        return "\n".join(lines)


def _pair(column: str, witness: Witness) -> str:
    """Describe two rows by what differs, and by their predictions."""
    low, high = (_value(row[column]) for row in (witness.low, witness.high))
    before, after = number(witness.predicted_low, 4), number(witness.predicted_high, 4)
    rest = ", ".join(f"{_line(k)} = {_value(v)}" for k, v in witness.low.items() if k != column)
    return f"from {low} to {high} the prediction goes from {before} to {after}, where {rest}"


def _value(value: Any) -> str:
    """Write a value of a column."""
    if value is None:
        return "missing"
    return number(value, 4) if isinstance(value, float | int) else _line(value)


def _line(text: Any) -> str:
    """Write text in one line."""
    return " ".join(str(text).split())
