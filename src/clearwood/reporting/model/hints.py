"""Where curves bend and tables step, for models that hold this; the others are searched.

Nothing is taken for granted: a hint only says where to look first.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from clearwood.explanation import learner_players
from clearwood.models import Learner
from clearwood.reporting.model.columns import Probe, limits
from clearwood.table import NUMERIC

__all__ = ["known_cuts", "known_knots"]


def known_knots(model: Any, probe: Probe) -> dict[int, list[float]]:
    """Return the knots of a learner of splines, by player, on the user's scale."""
    steps = getattr(getattr(model, "estimator_", None), "steps", ())
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
