"""The model as a whole: its parts, the effects of columns and pairs, and whether methods agree."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from clearwood._shared.errors import InputError
from clearwood.explanation import Agreement, Decomposition, Effect, Explained, Explanation
from clearwood.explanation.effects.effect import measured_effect
from clearwood.reporting.collect.asked import POINTS, Asked, thinned
from clearwood.reporting.collect.findings import EffectViews, Findings
from clearwood.reporting.collect.stages import Clock, Stages

__all__ = [
    "MORE_EFFECTS",
    "MOST_EFFECTS",
    "compared",
    "decomposed",
    "effects",
    "further_effects",
    "pairs",
    "ranked",
]

#: Columns whose effects are shown, and pairs whose interaction is.
MOST_EFFECTS = 12
MOST_INTERACTIONS = 4
#: Columns after those, whose main effects are one click away.
MORE_EFFECTS = 24

_POINTS_BESIDE = 14
_POINTS_OF_CURVES = 30
_POINTS_OF_CLASSES = 20
_POINTS_OF_MORE = 20
_CURVES = 25
# With more columns than this, pairs of a model that has to be asked are not looked for.
_MOST_ASKED = 60
# Of columns with a smaller share of the variation there is no story to tell.
_LEAST_SHARE = 0.005


def decomposed(asked: Asked) -> Decomposition:
    """Take the model apart: exactly, over as many rows as the time allows; else by asking it."""
    options, limits = asked.options, asked.limits
    rows = asked.exact_rows(limits.decomposition)
    table = asked.table if rows is None else thinned(asked.table, rows, options.seed)
    many = len(asked.given.features) > _MOST_ASKED
    found = Explanation(
        asked.model,
        table,
        max_order=1 if many and rows is None else 2,
        exact=rows is not None,
        time_limit=limits.decomposition,
        seed=options.seed,
        n_jobs=options.n_jobs,
    ).decomposition
    return replace(
        found,
        columns=asked.named(found.columns),
        components=tuple(asked.named(found.columns, names) for names in found.components),
    )


def ranked(found: Findings) -> list[str]:
    """Give the columns, the most important first where that is known."""
    if found.importance is None:
        return list(found.features)
    order = np.argsort(-found.importance.total, kind="stable")
    return [found.importance.columns[k] for k in order]


def effects(asked: Asked, order: Sequence[str], stages: Stages) -> dict[str, EffectViews]:
    """Give the effects of the first columns, each seen three ways, until the time is over."""
    limits, seed, n_jobs = asked.limits, asked.options.seed, asked.options.n_jobs
    names = order[:MOST_EFFECTS]
    n_rows = asked.affordable(limits.effects, limits.effect_rows, len(names))
    rows = thinned(asked.table, n_rows, seed)
    # read once: of a large forest that takes longer than an effect
    many = Explained(asked.model, rows, seed=seed, n_jobs=n_jobs)
    few = Explained(asked.model, thinned(rows, _CURVES, seed), seed=seed, n_jobs=n_jobs)
    clock = Clock(limits.effects)
    found: dict[str, EffectViews] = {}
    failed = None
    for name in names:
        if clock.over:
            stages.failures["effects"] = (
                f"the time for effects was over after {len(found)} columns; cw.effect gives those "
                "of the others"
            )
            break
        views: dict[str, Any] = {}
        for kind, explained in (("pdp", many), ("ice", few), ("ale", many)):
            try:
                views[kind] = _effect(asked, explained, name, kind)
            except InputError as error:
                failed = error
        if views:
            found[name] = EffectViews(name, **views)
    if failed is not None and not found:
        raise failed
    return found


def _effect(asked: Asked, explained: Explained, name: str, kind: str) -> Any:
    curves, several = kind == "ice", len(asked.given.classes) > 2
    return measured_effect(
        explained,
        [name],
        kind=kind,  # type: ignore[arg-type]
        points=_POINTS_OF_CLASSES if several else _POINTS_OF_CURVES if curves else POINTS,
        bands=0 if curves else 100,
        confidence=0.9,
        exact=False,
        extrapolation=not curves,
    )


def further_effects(why: Decomposition, names: Sequence[str]) -> tuple[Effect, ...]:
    """Read main effects off the exact decomposition, which takes the time of few."""
    by_name = {effect.columns[0]: effect for effect in why.effects(points=_POINTS_OF_MORE)}
    return tuple(by_name[name] for name in names if name in by_name)


def pairs(found: Findings, *, seconds: float) -> tuple[Effect, ...]:
    """Give the strongest interactions of two columns, until the time is over."""
    why = found.decomposition
    if why is None or found.interactions is None:
        raise InputError("the model was not taken apart")
    clock = Clock(seconds)
    shown = []
    strongest = zip(found.interactions.components, found.interactions.share, strict=True)
    for names, share in list(strongest)[:MOST_INTERACTIONS]:
        if clock.over or share < 1e-4 or len(names) != 2:
            break
        shown.append(why.effect(*names, points=_POINTS_BESIDE))
    return tuple(shown)


def compared(asked: Asked, order: Sequence[str], found: Findings) -> Agreement:
    """Compare methods for the columns that matter."""
    options, limits = asked.options, asked.limits
    share = {}
    if found.importance is not None:
        share = dict(zip(found.importance.columns, found.importance.total, strict=True))
    names = [name for name in order[:MOST_EFFECTS] if share.get(name, 1.0) > _LEAST_SHARE]
    names = names or list(order[:1])
    n_rows = asked.affordable(limits.agreement, limits.agreement_rows, len(names))
    rows = thinned(asked.table, n_rows, options.seed)
    explanation = Explanation(asked.model, rows, seed=options.seed, n_jobs=options.n_jobs)
    return explanation.agreement(columns=names, time_limit=limits.agreement)
