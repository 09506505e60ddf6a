"""Where differences between groups come from: gaps by column, proxies and alternatives."""

import warnings
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np

from clearwood._shared.errors import ClearwoodWarning, InputError
from clearwood.fairness.gaps.alternatives import Alternatives, alternatives
from clearwood.fairness.gaps.gap import Refits, gap_between
from clearwood.fairness.gaps.proxies import Proxies, proxies_of_gap
from clearwood.fairness.gaps.result import Gap
from clearwood.fairness.groups.measures import GroupMeasures
from clearwood.fairness.groups.reading import ReadRows
from clearwood.fairness.groups.rows import Audited

__all__ = ["Causes", "causes_of"]

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Causes:
    """What differences come from, for each protected column and output, as far as it is known.

    Parameters
    ----------
    gaps
        The gap between groups, shared out by column.
    proxies
        Columns that stand for protected ones.
    alternatives
        The model compared with rivals.
    notes
        What could not be computed, and why.
    n_refits
        How often the model was fitted again.
    """

    gaps: tuple[Gap, ...] = ()
    proxies: tuple[Proxies, ...] = ()
    alternatives: tuple[Alternatives, ...] = ()
    notes: tuple[str, ...] = ()
    n_refits: int = 0


def causes_of(
    audited: Audited,
    groups: Sequence[GroupMeasures],
    *,
    banded: Container[str],
    n_refits: int,
    min_rows: int,
    min_share: float,
    confidence: float,
    seed: int,
    n_jobs: int,
) -> Causes:
    """Share out the gaps of the columns with levels, and compare the model with rivals.

    Parts that need fits, such as the risks of rivals and whether a proxy is needed, are computed
    where there are refits. Every fit is to the training rows, also where test rows are measured.
    """
    singles = [one for one in groups if len(one.columns) == 1]
    coded = [one for one in singles if one.columns[0] not in banded]
    notes = [
        f"the difference by {one.title} is not shared out by column, as its groups are bands"
        for one in singles
        if one not in coded
    ]
    model = audited.model
    rows = ReadRows(audited.training, audited.table)
    has_target = audited.truth is not None
    can_refit = rows.training is not None and rows.training.target is not None
    again = n_refits if has_target and can_refit else 0
    if n_refits and not again:
        notes.append("no model is fitted again: that needs the training rows with their target")
    refits = Refits(model, rows, again, seed)
    gaps: list[Gap] = []
    told: list[Proxies] = []
    rivals: list[Alternatives] = []
    for one in coded:
        if one.reference is None:
            continue
        options: dict[str, Any] = {
            "protected": one.columns[0],
            "reference": one.levels[one.reference][0],
            "output": one.output if audited.classes else None,
            "min_rows": min_rows,
            "min_share": min_share,
            "confidence": confidence,
        }
        own: list[Gap] = []
        notes += _added(own, "gaps", one, partial(gap_between, model, rows, refits, **options))
        gaps += own
        if not has_target or len(audited.outputs) > 1:
            continue
        work: dict[str, Any] = {"risks": again > 0, "n_jobs": n_jobs}
        test = rows.measured if rows.has_test else None
        if own:
            notes += _added(
                told, "proxies", one, partial(proxies_of_gap, model, rows, own[0], **work)
            )
        notes += _added(
            rivals,
            "alternatives",
            one,
            partial(alternatives, model, rows.training, test=test, seed=seed, **options, **work),
        )
    return Causes(tuple(gaps), tuple(told), tuple(rivals), tuple(notes), again)


_WORDS = {
    "gaps": "the gap by column",
    "proxies": "proxies",
    "alternatives": "alternatives to the model",
}


def _added(
    results: list[T], kind: str, groups: GroupMeasures, work: Callable[[], T]
) -> tuple[str, ...]:
    """Add a result; where it cannot be computed, return a remark why."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            # that a model does not use the protected columns is said elsewhere
            warnings.simplefilter("ignore", ClearwoodWarning)
            results.append(work())
    except InputError as error:
        return (f"{_WORDS[kind]} by {groups.title} not computed: {str(error).rstrip('.')}",)
    return ()
