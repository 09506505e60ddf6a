"""Where curves bend and tables step, for models that hold this; the others are searched.

Nothing is taken for granted: a hint only says where to look first.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from clearwood.explanation import learner_players
from clearwood.models import Learner, ScoreParts
from clearwood.reporting.browser.columns import Probe, limits
from clearwood.table import NUMERIC

__all__ = ["known_cuts", "known_knots"]


def known_knots(model: Any, probe: Probe) -> dict[int, list[float]]:
    """Return the knots of a learner of splines, by player, on the user's scale."""
    inner = getattr(model, "estimator_", model)
    if isinstance(getattr(inner, "parts_", None), ScoreParts):
        return _knots_of_parts(model, inner.parts_)
    steps = getattr(inner, "steps", ())
    knots = getattr(steps[0][1], "knots_", None) if steps else None
    if knots is None or not isinstance(model, Learner):
        return {}
    _, groups = learner_players(model)
    ends = {
        k: limits(column)
        for k, column in enumerate(probe.columns)
        if column.kind in NUMERIC and not column.missing.all()
    }
    encoded = model.encoder_.transform(probe.changed(ends))
    known: dict[int, list[float]] = {}
    for j, own in enumerate(knots):
        k = int(groups[j])
        if k not in ends or not len(own) or np.ptp(encoded[:, j]) == 0:
            continue
        slope = (ends[k][1] - ends[k][0]) / np.ptp(encoded[:, j])
        on_scale = ends[k][0] + (np.asarray(own) - encoded[0, j]) * slope
        known.setdefault(k, []).extend(on_scale.tolist())
    return known


def _knots_of_parts(model: Any, parts: ScoreParts) -> dict[int, list[float]]:
    """Return where the curves of products bend and end, as far as their bases have knots."""
    known: dict[int, list[float]] = {}
    groups = learner_players(model)[1] if isinstance(model, Learner) else None
    for term in parts.products.terms:
        for column, basis in zip(term.columns, term.bases, strict=True):
            ends = [getattr(basis, name, None) for name in ("low", "high")]
            knots = [*np.ravel(getattr(basis, "knots", ())), *ends]
            own = known.setdefault(column if groups is None else int(groups[column]), [])
            own.extend(float(knot) for knot in knots if knot is not None)
    return known


def known_cuts(model: Any, probe: Probe) -> dict[int, Sequence[float]]:
    """Return the cuts of an explainable boosting machine in a learner, by player."""
    bins = getattr(getattr(model, "estimator_", None), "bins_", None)
    if bins is None or not isinstance(model, Learner):
        return {}
    _, groups = learner_players(model)
    known: dict[int, list[float]] = {}
    for j, levels in enumerate(bins):
        k = int(groups[j])
        if probe.columns[k].kind not in NUMERIC:
            continue
        for cuts in levels:
            if not isinstance(cuts, dict):
                known.setdefault(k, []).extend(np.asarray(cuts, np.float64).tolist())
    return dict(known)
