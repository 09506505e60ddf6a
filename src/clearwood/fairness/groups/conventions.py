"""Conventions of practice: numbers with a name and a source, which a user can switch off."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from clearwood._shared.errors import unknown_choice
from clearwood._shared.results import Result

__all__ = ["CONVENTIONS", "Convention", "read_conventions"]


@dataclass(frozen=True)
class Convention(Result):
    """A number that practice compares a measure with.

    Parameters
    ----------
    name
        What it is called.
    measure
        The measure it is about.
    limit
        The number; None where the convention defines the measure only.
    source
        Where it comes from.
    meaning
        What is compared, in words.
    """

    name: str
    measure: str
    limit: float | None
    source: str
    meaning: str


CONVENTIONS: tuple[Convention, ...] = (
    Convention(
        "four fifths",
        "impact_ratio",
        0.8,
        "29 CFR 1607.4(D), US Uniform Guidelines on Employee Selection Procedures (1978)",
        "the rate of the favourable decision in a group is below four fifths of the highest rate "
        "of any group",
    ),
    Convention(
        "two standard deviations",
        "standard_deviations",
        2.0,
        "Castaneda v. Partida, 430 U.S. 482 (1977), note 17: two or three standard deviations",
        "the rates of two groups differ by more than two standard errors of their difference",
    ),
    Convention(
        "Local Law 144",
        "impact_ratio",
        None,
        "New York City Local Law 144 of 2021 and its rules, 6 RCNY 5-300 and 5-301",
        "rates of selection, or of scores above the median, each over the highest rate, also for "
        "crossed groups; groups below 2 % may be left out of ratios and are listed; unknown values "
        "are counted",
    ),
)


def read_conventions(names: Any) -> tuple[Convention, ...]:
    """Return conventions by name: all for None, none for an empty sequence.

    Examples
    --------
    >>> [one.limit for one in read_conventions("four fifths")], read_conventions([])
    ([0.8], ())
    """
    if names is None:
        return CONVENTIONS
    wanted: Sequence[Any] = [names] if isinstance(names, str) else list(names)
    known = {convention.name: convention for convention in CONVENTIONS}
    for name in wanted:
        if name not in known:
            raise unknown_choice("conventions", name, known)
    return tuple(known[name] for name in dict.fromkeys(wanted))
