"""Checks of rows, groups and classes that a resampling plan cannot split."""

import numpy as np

from clearwood._shared.errors import InputError, Option, words
from clearwood.resampling.plan import RowData

__all__ = ["check_data", "check_rows"]


def check_rows(n_rows: int, least: int, plan: str) -> None:
    """Refuse tables with too few rows."""
    if n_rows < least:
        raise InputError(
            f"{plan} needs {least} rows or more; the table has {n_rows}",
            parameter="outer",
            value=n_rows,
            hint="use fewer folds, or more rows.",
        )


def check_data(data: RowData, least: int, plan: str, *, instead: str) -> None:
    """Refuse rows, groups or classes too few for a plan that splits at random, and ordered rows.

    `instead` is the plan to use where rows are ordered in time.
    """
    if data.times is not None:
        raise InputError(
            f"{plan} would train on rows that come after those it tests on",
            parameter="outer",
            hint=f"use {instead}, or name no time column.",
        )
    check_rows(data.n_rows, least, plan)
    if data.groups is not None:
        n_groups = len(np.unique(data.groups))
        if n_groups < least:
            raise InputError(
                f"{plan} needs {least} groups or more, as rows of one group stay together; the "
                f"table has {n_groups}",
                parameter="outer",
                value=n_groups,
                hint="use fewer folds.",
            )
    if data.y is not None:
        _check_classes(data, least, plan)


def _check_classes(data: RowData, least: int, plan: str) -> None:
    assert data.y is not None
    labels, counts = np.unique(data.y, return_counts=True)
    rarest = int(counts.argmin())
    if counts[rarest] < least:
        raise InputError(
            f"{plan} needs {least} rows or more of every class; class {str(labels[rarest])!r} has "
            f"{counts[rarest]}",
            parameter="outer",
            value=int(counts[rarest]),
            hint=words(
                "use fewer folds, leave that class out, merge it with another, or, in a "
                "benchmark, hold out one part of the rows: ",
                Option("interval", "hold-out"),
                ".",
            ),
        )
    if data.groups is None:
        return
    for label in labels:
        if len(np.unique(data.groups[data.y == label])) < 2:
            raise InputError(
                f"class {str(label)!r} is in a single group, so that a fit without that group "
                "cannot predict it",
                parameter="group",
                value=str(label),
                hint="leave that class out, or merge it with another.",
            )
