"""The number of trees of a boosted model, tuned along one fit."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clearwood.benchmarking.running.contenders import Contender
from clearwood.benchmarking.tuning.paths import Racer, Told, alike_but_for
from clearwood.benchmarking.tuning.searches import Settings, drawn
from clearwood.models import PATIENCE, Job, Learner, Stages, fit_boosting
from clearwood.table import Table

if TYPE_CHECKING:
    from clearwood.benchmarking.running.work import Context

__all__ = ["GROWING_ENDED", "TreePath", "tree_path_of"]

#: How it is told that a configuration is out because fewer trees did as well.
GROWING_ENDED = "growing ended"

#: Numbers of trees that each fit is judged at.
_VALUES = 14

#: One fit of the path has as many trees as about this many with numbers drawn from the range.
_FITS_OF_A_PATH = 3


def tree_path_of(contender: Contender, template: Learner, context: "Context") -> "TreePath | None":
    """The path of a boosted model whose number of trees is tuned."""
    stages = template.entry.stages
    if (
        stages is None
        or stages.setting not in contender.space
        # it finds the number itself
        or template.all_settings.get("early_stopping")
        # a margin is read off the model, not off its predictions
        or context.loss.needs == "margin"
    ):
        return None
    return TreePath(stages)


class TreePath:
    """The number of trees of a boosted model: the first so many of one fit, for many values.

    The fit ends early where more trees have not helped on the inner test rows for a while. These
    rows choose among the configurations anyway, and belong to the training side of the outer fold.

    Parameters
    ----------
    stages
        How the model is read at fewer trees.
    """

    #: configurations that are given up leave shorter fits, or none
    racing = True

    def __init__(self, stages: Stages) -> None:
        self.stages = stages

    def configurations(self, contender: Contender, trials: int, seed: int) -> list[Settings]:
        """Numbers of trees on the scale of their range, for some draws of the other settings."""
        setting = self.stages.setting
        counts = contender.space[setting].grid(_VALUES)
        others = {key: dim for key, dim in contender.space.items() if key != setting}
        usual = {key: contender.defaults[key] for key in others}
        draws = drawn(others, max(1, trials // _FITS_OF_A_PATH) - 1, seed) if others else []
        return [
            settings
            for draw in (usual, *draws)
            for count in counts
            if (settings := {setting: count, **draw}) != contender.defaults
        ]

    def groups(self, races: Sequence[Racer]) -> list[list[Racer]]:
        """Bring together the configurations that are stages of one fit."""
        return alike_but_for(self.stages.setting, races)

    def fit(
        self,
        contender: Contender,
        several: Sequence[Settings],
        train: Table,
        test: Table,
        *,
        seed: int,
    ) -> list[Told | str]:
        """Grow one model; give for each configuration what its trees predict.

        A configuration with more trees than were grown is out of the race: what it would predict
        is not known, only that it is past the best.
        """
        counts = [int(settings[self.stages.setting]) for settings in several]
        longest = {**several[0], self.stages.setting: max(counts)}
        first, job = _prepared(contender, longest, train, seed=seed)
        X, rows = first.encoder_.transform(train), first.encoder_.transform(test)
        y, watched = _targets(first, train), _targets(first, test)
        known = watched >= 0 if first.task_.is_classification else np.isfinite(watched)
        # as patient as it takes to reach the smallest number asked for
        patience = max(PATIENCE, min(counts))
        fitted, judged = (X, y, train.weights), (rows[known], watched[known])
        model = fit_boosting(first.entry, job, fitted, judged, patience=patience)
        most = self.stages.trees(model)
        if most < patience:
            # no tree can be added (too few rows to split, say): more of them would be these
            counts = [min(count, most) for count in counts]
        reached = sorted({count for count in counts if count <= most})
        classes = first.classes_ if first.task_.is_classification else None
        stages = self.stages.at(model, rows, reached, classes is not None)
        told = {
            count: Told(np.asarray(found, dtype=np.float64), classes)
            for count, found in zip(reached, stages, strict=True)
        }
        return [
            told.get(count, f"{GROWING_ENDED} at {most} trees: more did not help")
            for count in counts
        ]


def _prepared(
    contender: Contender, settings: Settings, train: Table, *, seed: int
) -> tuple[Learner, Job]:
    """A learner that has learned the encoding (its model is a single tree), and the full job."""
    full: Learner = contender.build(settings, seed=seed)
    assert full.entry.stages is not None
    one_tree = {**settings, full.entry.stages.setting: 1}
    small: Learner = contender.build(one_tree, seed=seed).fit(train)
    job = Job(
        task=small.task_,
        settings=full.all_settings,
        categorical=small.encoder_.categorical_,
        seed=seed,
        n_columns=len(small.encoder_.get_feature_names_out()),
    )
    return small, job


def _targets(fitted: Learner, table: Table) -> NDArray[np.float64]:
    """The target as the model takes it; -1 for a class that it has not seen."""
    if not fitted.task_.is_classification:
        return np.asarray(table.y, dtype=np.float64)
    position = np.minimum(np.searchsorted(fitted.classes_, table.y), len(fitted.classes_) - 1)
    return np.where(fitted.classes_[position] == table.y, position, -1)
