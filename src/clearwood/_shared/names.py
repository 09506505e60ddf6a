"""Names of columns and levels inside sentences."""

from unicodedata import bidirectional

__all__ = ["LONGEST_NAME", "short_name"]

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
