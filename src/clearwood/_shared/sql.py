"""SQL that databases read alike: names, values, and the test for a missing number."""

import math
from typing import Any

from clearwood._shared.errors import InputError

__all__ = ["LARGEST", "identifier", "is_missing", "literal"]

#: The largest number that every parser reads.
LARGEST = "1.7976931348623157e308"


def identifier(name: str) -> str:
    """Quote a name, so that keywords, quotes, spaces and any letters are just a name.

    Examples
    --------
    >>> print(identifier('the "total" cost'))
    "the ""total"" cost"
    """
    if not name or "\0" in name:
        raise InputError(f"{name!r} cannot be a name in SQL", value=name)
    return '"' + name.replace('"', '""') + '"'


def literal(value: Any) -> str:
    """Write a label or number; floats as doubles, not decimals.

    Examples
    --------
    >>> [literal(value) for value in ("it's", 3, 0.5, True, 1e300)]
    ["'it''s'", '3', '0.5e0', 'TRUE', '1e+300']
    """
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if math.isinf(value):
            # the nearest that every parser reads; no prediction is infinite
            return "-" * (value < 0) + LARGEST
        text = repr(value)
        return text if "e" in text else f"{text}e0"
    text = str(value)
    if "\0" in text:
        raise InputError(f"the label {text!r} cannot be written in SQL")
    return "'" + text.replace("'", "''") + "'"


def is_missing(column: str) -> str:
    """Write a test that is true where a column of numbers is NULL or NaN.

    Databases that have NaN sort it above every number, with either sign.

    Examples
    --------
    >>> is_missing('"age"').startswith('"age" IS NULL OR')
    True
    """
    return f"{column} IS NULL OR ({column} > {LARGEST} AND -{column} > {LARGEST})"
