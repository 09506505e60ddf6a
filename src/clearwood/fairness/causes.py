"""Where differences between groups come from: gaps by column, proxies and alternatives."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np

from clearwood._shared.errors import ClearwoodWarning, InputError
from clearwood.benchmarking import Winner
from clearwood.fairness.gaps.alternatives import Alternatives, alternatives
from clearwood.fairness.gaps.gap import gap
from clearwood.fairness.gaps.proxies import Proxies, proxies
from clearwood.fairness.gaps.result import Gap
from clearwood.fairness.groups.measures import GroupMeasures
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
        The model beside rivals.
    notes
        What could not be computed, and why.
    """

    gaps: tuple[Gap, ...] = ()
    proxies: tuple[Proxies, ...] = ()
    alternatives: tuple[Alternatives, ...] = ()
    notes: tuple[str, ...] = ()


def causes_of(
    audited: Audited,
    groups: Sequence[GroupMeasures],
    *,
    refit: int,
    confidence: float,
    seed: int,
    n_jobs: int,
) -> Causes:
    """Share out the gaps of the columns with levels, and compare the model with rivals.

    Parts that need fits, such as the risks of rivals and whether a proxy is needed, are computed
    where there are refits.
    """
    singles = [one for one in groups if len(one.columns) == 1]
    coded = [one for one in singles if audited.table.column(one.columns[0]).is_coded]
    notes = [
        f"the difference by {one.title} is not shared out by column, as its groups are bands"
        for one in singles
        if one not in coded
    ]
    model = audited.model
    if isinstance(model, Winner):
        model = model.fit(audited.table)
    has_target = audited.truth is not None
    again = refit if has_target else 0
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
            "confidence": confidence,
            "seed": seed,
        }
        notes += _added(
            gaps, "gaps", one, partial(gap, model, audited.table, refit=again, **options)
        )
        if not has_target or len(audited.outputs) > 1:
            continue
        options |= {"risks": again > 0, "n_jobs": n_jobs}
        notes += _added(
            told, "proxies", one, partial(proxies, model, audited.table, refit=again, **options)
        )
        notes += _added(
            rivals, "alternatives", one, partial(alternatives, model, audited.table, **options)
        )
    return Causes(tuple(gaps), tuple(told), tuple(rivals), tuple(notes))


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
