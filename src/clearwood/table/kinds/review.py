"""Columns to leave out of a model: identifiers, constants, text, columns without values."""

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

from clearwood._shared.errors import Option, Text, words
from clearwood.table.kinds.evidence import Evidence
from clearwood.table.raw import used_levels
from clearwood.table.types import NUMERIC, Kind, Role

__all__ = ["Finding", "review", "review_all"]

#: Below this many rows, values that are all different prove nothing.
FEWEST_ROWS_OF_AN_IDENTIFIER = 10
#: A category with more levels than this is pointed out.
MANY_LEVELS = 1000

_ID_NAME = re.compile(
    r"(^|[_\W])(id|ids|uuid|guid|key|index|rownames?|row)$|[a-z]I[dD]$", re.IGNORECASE
)


@dataclass(frozen=True)
class Finding:
    """Something the reader should know about a table.

    Parameters
    ----------
    note
        What it is, as a sentence.
    left_out
        Whether a column is left out for it.
    warn
        Whether a warning is raised too.
    numbered
        Whether the column does nothing but number the rows.
    """

    note: Text
    left_out: bool = True
    warn: bool = True
    numbered: bool = False


def review_all(
    columns: Sequence[Evidence], roles: Mapping[str, Role], stated: Container[str]
) -> tuple[dict[str, Role], list[Finding]]:
    """Leave out the features that no model should use, and return which and why."""
    reviewed = dict(roles)
    features = [one for one in columns if one.column.name not in roles]
    findings = {one.column.name: review(one) for one in features}
    n_out = sum(finding is not None and finding.left_out for finding in findings.values())
    # A number that counts the rows may be the one feature of a small example.
    only_features = n_out == len(features) and Role.PROTECTED not in roles.values()
    kept = []
    for column in (one.column for one in features):
        finding = findings[column.name]
        if finding is None or (column.name in stated and column.kind is not Kind.TEXT):
            continue
        if finding.numbered and only_features:
            continue
        kept.append(finding)
        if finding.left_out:
            reviewed[column.name] = Role.IGNORED
    return reviewed, kept


def review(evidence: Evidence) -> Finding | None:
    """Return what is unusual about a feature, if anything.

    Examples
    --------
    >>> import numpy as np
    >>> from clearwood.table import Column, Kind
    >>> planet = Column("planet", Kind.CATEGORY, np.zeros(12, np.int32), ("earth",))
    >>> review(Evidence(planet)).note
    "column 'planet' is constant ('earth'): left out"
    """
    column = evidence.column
    name = column.name
    n_present = evidence.n_rows - evidence.n_missing
    if n_present == 0:
        return Finding(f"column {name!r} is all missing: left out")
    if column.kind is Kind.TEXT:
        return _review_text(evidence, n_present)
    if column.kind in NUMERIC:
        return _review_numbers(evidence)
    if column.kind is Kind.DATE:
        present = column.values[~column.missing]
        if evidence.n_rows > 1 and not evidence.n_missing and present.min() == present.max():
            return Finding(f"column {name!r} is constant ({present[0]}): left out")
        return None
    return _review_levels(evidence)


def _review_text(evidence: Evidence, n_present: int) -> Finding:
    name, n_distinct = evidence.column.name, evidence.n_distinct
    if n_distinct == n_present == evidence.n_rows and not evidence.has_more_values:
        return Finding(
            f"column {name!r} has a different text in every row (an identifier or free text): left "
            "out"
        )
    more = "more than " if evidence.has_more_values else ""
    return Finding(f"column {name!r} is text ({more}{n_distinct:,} different values): left out")


def _review_levels(evidence: Evidence) -> Finding | None:
    column, n_rows = evidence.column, evidence.n_rows
    name = column.name
    used = used_levels(column.values, len(column.levels))
    # One value in some rows and none in others still separates rows.
    if len(used) == 1 and not evidence.n_missing and n_rows > 1:
        return Finding(f"column {name!r} is constant ({column.levels[used[0]]!r}): left out")
    enough = n_rows >= FEWEST_ROWS_OF_AN_IDENTIFIER
    if enough and len(used) == n_rows and column.kind is Kind.CATEGORY:
        return Finding(
            f"column {name!r} has a different value in every row (an identifier): left out"
        )
    if len(column.levels) > MANY_LEVELS:
        return Finding(
            words(
                f"column {name!r} is a category with {len(column.levels):,} levels, each in few "
                "rows; group the levels, or leave it out, or, if it says which rows are of the "
                "same person or thing, set ",
                Option("group", name),
            ),
            left_out=False,
        )
    return None


def _review_numbers(evidence: Evidence) -> Finding | None:
    name, n_rows = evidence.column.name, evidence.n_rows
    low, high = evidence.range
    if low == high and not evidence.n_missing and n_rows > 1:
        return Finding(f"column {name!r} is constant ({low:g}): left out")
    few = n_rows < FEWEST_ROWS_OF_AN_IDENTIFIER
    if evidence.column.kind is Kind.NUMBER or evidence.n_missing or few:
        return None
    if high - low < n_rows - 1 or not evidence.is_different_everywhere:
        return None
    if high - low == n_rows - 1:
        note = f"column {name!r} numbers the rows from {low:.0f} to {high:.0f}: left out"
        return Finding(note, numbered=True)
    if _ID_NAME.search(name):
        return Finding(
            f"column {name!r} has a different value in every row (an identifier): left out"
        )
    return Finding(
        words(
            f"column {name!r} has a different whole number in every row; leave it out with ",
            Option("ignore", [name]),
            " if it is an identifier",
        ),
        left_out=False,
        warn=False,
    )
