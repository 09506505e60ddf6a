"""Names of columns and levels inside sentences."""

from collections.abc import Iterable
from unicodedata import bidirectional

__all__ = ["LONGEST_NAME", "listed", "short_name"]

LONGEST_NAME = 60
#: Signs that turn the direction of what follows them, or end that.
_TURNS = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})


def short_name(name: str) -> str:
    """Shorten a long name, and keep its direction from spreading.

    A name written from right to left turns the commas after it around, unless it is isolated; a
    sign that turns directions would turn the whole sentence, its numbers too, and is left out.

    Examples
    --------
    >>> short_name("age"), len(short_name("a" * 200))
    ('age', 60)
    >>> short_name("turn\u202earound")
    'turnaround'
    """
    plain = "".join(letter for letter in name if bidirectional(letter) not in _TURNS)
    short = plain if len(plain) <= LONGEST_NAME else plain[: LONGEST_NAME - 1] + "…"
    if any(bidirectional(letter) in ("R", "AL") for letter in short):
        return f"\u2068{short}\u2069"
    return short


def listed(names: Iterable[str], *, most: int | None = None, quotes: bool = True) -> str:
    """Write names in a sentence; "and 1 more" would be no shorter than the name.

    Parameters
    ----------
    names
        Of columns, levels or the like.
    most
        How many to name; None for all.
    quotes
        Whether to put them in quotes.

    Examples
    --------
    >>> print(listed(["a", "b", "c"], most=2)); print(listed(["a", "b", "c", "d"], most=2))
    'a', 'b' and 'c'
    'a', 'b' and 2 more
    """
    every = list(map(repr, names) if quotes else names)
    if most is not None and len(every) > most + 1:
        return f"{', '.join(every[:most])} and {len(every) - most:,} more"
    return " and ".join(filter(None, [", ".join(every[:-1]), *every[-1:]]))
