"""The condensed tree as the page shows it: laid out, in words, and the ways of the page's rows."""

import numpy as np

from clearwood._shared.arrays import Bools, Floats, Index
from clearwood._shared.errors import InputError
from clearwood.condensing import Condensed
from clearwood.reporting.browser.tree_places import directions, tree_in_page
from clearwood.reporting.collect.findings import Findings, PageTree

__all__ = ["page_tree"]

#: With more leaves than this the rules are left to the library.
_MOST_RULES = 3_000


def page_tree(findings: Findings, condensed: Condensed) -> PageTree:
    """Lay a condensed tree out for the page."""
    ways = tuple(directions(condensed, condensed.matrix(findings.sample)))
    if condensed.certificate.share_certified == 0 or not condensed.diagram.certified.any():
        return PageTree(ways=ways)
    places = tree_in_page(
        condensed,
        condensed.matrix(findings.table),
        _outcomes(findings),
        used=_used_columns(findings, condensed),
        weights=findings.table.weights,
    )
    if condensed.n_leaves > _MOST_RULES:
        why = (
            f"There is one rule for each of the {condensed.n_leaves:,} leaves. In Python: "
            "cw.condense(model).rules(data)."
        )
        return PageTree(places, None, why, ways)
    try:
        return PageTree(places, condensed.rules(findings.table), "", ways)
    except InputError as error:
        return PageTree(places, None, str(error.message), ways)


def _used_columns(findings: Findings, condensed: Condensed) -> Index | None:
    """Return the model's columns that the page computes, if they are the condensed tree's too."""
    carried = findings.page_model
    if carried.codes is None:
        return None
    own = condensed.matrix(findings.sample)
    same = carried.codes.shape == own.shape and np.array_equal(carried.codes, own, equal_nan=True)
    return carried.used if same else None


def _outcomes(findings: Findings) -> Floats | None:
    """Return the outcomes as numbers: the target itself, or of two classes the second as 1."""
    table = findings.table
    if table.target is None:
        return None
    if not findings.classes:
        column = table.column(table.target)
        return None if column.is_coded else np.asarray(table.y, np.float64)
    if len(findings.classes) == 2:
        second: Bools = np.asarray(table.y).astype(str) == findings.classes[1]
        return second.astype(np.float64)
    return None
