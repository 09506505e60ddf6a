"""Columns that hold a protected column in another form."""

from collections.abc import Sequence
from typing import Any

from clearwood._shared.errors import InputError, Option, words
from clearwood.table import StandIn, as_table, stand_ins_of

__all__ = ["StandIn", "stand_ins"]


def stand_ins(
    data: Any,
    *,
    protected: Sequence[str] | str | None = None,
    columns: Sequence[str] | None = None,
    seed: int = 0,
) -> tuple[StandIn, ...]:
    """Find columns that determine a protected column, alone or together, or are determined by it.

    A first name, a title or a yes/no column for each other group hold the protected column in
    another form: a model that is fitted without the protected column, or averaged over it, treats
    people by it all the same: a redundant encoding in the words of Dwork, Hardt, Pitassi,
    Reingold and Zemel (2012).

    Groups are told from rows that nothing was learned from, by the most frequent group of each
    level, or by trees on numbers and on several columns. Columns are named where the best guess
    without them errs at least 20 times as often, for all groups or for one of them, or where they
    explain 98 % of the variance of a protected number; at least 10 rows have to be in a group and
    10 outside it. Columns that are merely associated with the protected one, such as height with
    sex, are not stand-ins: `clearwood.fairness.proxies` measures these.

    Parameters
    ----------
    data
        A table; rows of weight 0 are ignored.
    protected
        The protected columns; by default those with that role.
    columns
        The columns to look at; by default the features that are not protected.
    seed
        Fixes the draw of rows and the folds.

    Returns
    -------
    tuple of StandIn
        For each protected column the single columns that determine it or one of its groups, or
        where there is none the smallest set of several that was found; then the same for groups of
        crossed protected columns, and at last columns that protected ones determine.

    Examples
    --------
    >>> import numpy as np
    >>> race = np.random.default_rng(0).choice(["black", "hispanic", "white"], 500)
    >>> frame = {"black": race == "black", "hispanic": race == "hispanic", "white": race == "white"}
    >>> for one in stand_ins(frame, protected=["black", "hispanic"]):
    ...     print(one)
    the column 'white' tells whether the protected 'black' × 'hispanic' is False / False for 100 %
    of other rows, against 62.4 % without
    """
    table = as_table(data)
    names = table.protected if protected is None else protected
    names = [names] if isinstance(names, str) else list(names)
    if not names:
        raise InputError(
            "no column is protected",
            parameter="protected",
            hint=words("name the columns: ", Option("protected", "COLUMN"), "."),
        )
    names = [table.column(name).name for name in names]
    features = table.features if columns is None else columns
    return stand_ins_of(table, names, [name for name in features if name not in names], seed=seed)
