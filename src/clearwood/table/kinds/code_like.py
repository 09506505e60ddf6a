"""Whole numbers that stand for groups: few levels, or columns whose name says so."""

import re

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import Option, words
from clearwood.table.kinds.evidence import YEARS, Evidence
from clearwood.table.kinds.review import Finding
from clearwood.table.raw import number_text
from clearwood.table.types import Kind

__all__ = ["are_few_levels", "named_like_code"]

#: Whole numbers with at most so many different values, each in some rows on average, are levels of
#: a column whose groups are asked about.
_MOST_LEVELS, _ROWS_PER_LEVEL = 10, 3
#: Codes are three or more whole numbers, each in some rows on average.
_FEWEST_CODES, _MOST_CODES, _ROWS_PER_CODE = 3, 20, 10

#: Words at the end of a name, or all of it, that say that numbers are names of something.
_CODE_NAME = re.compile(
    r"(code|codes|type|typ|kind)$"
    r"|(^|[_\W]|(?<=[a-z])(?=[A-Z]))(class|category|cat|region|zone|district|state|county|country|"
    r"sector|industry|branch|occupation|job|brand|make|colou?r|race|ethnicity|ethnic|gender|sex|"
    r"religion|nationality|marital|status|marriage|department|dept|channel|territory|zip|plz|"
    r"product|segment|cluster|group|store|shop|site|plant|school|ward|tract|municipality|province|"
    r"purpose|reason|housing|method|source|origin|dealer|agent|vendor|supplier|team|"
    r"id)s?$",
    re.IGNORECASE,
)


def are_few_levels(values: Floats, n_rows: int | None = None) -> bool:
    """Whether numbers are few whole ones, each in several rows: the levels of groups.

    Parameters
    ----------
    values
        Numbers, NaN for missing.
    n_rows
        How many rows have a value, where they are not all in `values`.

    Examples
    --------
    >>> race, age = np.repeat([1.0, 2.0, 3.0], 20), np.arange(18.0, 78.0)
    >>> are_few_levels(race), are_few_levels(age)
    (True, False)
    """
    present = values[~np.isnan(values)]
    distinct = np.unique(present[:1000])
    if not len(present) or len(distinct) > _MOST_LEVELS:
        return False
    distinct = np.unique(present)
    n = len(present) if n_rows is None else n_rows
    is_whole = bool((distinct == np.floor(distinct)).all())
    return is_whole and len(distinct) <= _MOST_LEVELS and n >= _ROWS_PER_LEVEL * len(distinct)


def named_like_code(evidence: Evidence) -> Finding | None:
    """Ask about a feature of few whole numbers whose name says that they are codes.

    Examples
    --------
    >>> from clearwood.table import Column
    >>> region = Column("region", Kind.WHOLE, np.tile([1.0, 2.0, 3.0, 4.0], 20))
    >>> print(named_like_code(Evidence(region)).note)
    column 'region' holds whole numbers from 1 to 4 and is used as a number, as if they were
    amounts; if they are codes, set kinds={'region': 'category'}
    """
    column = evidence.column
    if column.kind is not Kind.WHOLE or not _CODE_NAME.search(column.name):
        return None
    low, high = evidence.range
    n_present = evidence.n_rows - evidence.n_missing
    seen = evidence.sample
    n_codes = len(np.unique(seen[~np.isnan(seen)]))
    if not _FEWEST_CODES <= n_codes <= _MOST_CODES or n_present < _ROWS_PER_CODE * n_codes:
        return None
    if low >= YEARS[0] and high <= YEARS[1]:
        return None
    return Finding(
        words(
            f"column {column.name!r} holds whole numbers from {number_text(low)} to "
            f"{number_text(high)} and is used as a number, as if they were amounts; if they are "
            "codes, set ",
            Option("kinds", {column.name: "category"}),
        ),
        left_out=False,
    )
