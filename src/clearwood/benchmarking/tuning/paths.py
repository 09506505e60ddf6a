"""Settings whose whole range costs about one fit, and fits that are cheaper while tuning.

The penalties of a linear model are fitted one after the other from the strongest to the weakest; a
boosted model with fewer trees is the first part of one with more.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from clearwood._shared.arrays import Floats
from clearwood.benchmarking.fitting.contenders import Contender
from clearwood.benchmarking.fitting.work import Context
from clearwood.benchmarking.tuning.searches import Settings, drawn
from clearwood.models import PATIENCE, Learner, Rows, Stages, fit_boosting, unit_of
from clearwood.table import Schema, Table

__all__ = ["KnownPredictions", "NotGrown", "Path", "TreePath", "path_of"]

#: Penalties tried along a path, and numbers of trees that a boosted fit is judged at.
_PENALTIES = 100
_NUMBERS_OF_TREES = 14

#: A boosted fit of a path has as many trees as about this many with numbers drawn from the range.
_FITS_OF_A_PATH = 3


class _HasSettings(Protocol):
    settings: Settings


Racer = TypeVar("Racer", bound=_HasSettings)


def path_of(contender: Contender, context: Context) -> "Path | None":
    """Return the path along which a contender can be fitted, if there is one for these data."""
    template = contender.template
    # codes of categories by their target differ between fitting and predicting
    if not isinstance(template, Learner) or template.categories == "target":
        return None
    if template.select is not None or "select" in contender.space:
        return None  # a fit that has chosen no column is not part of a path
    if template.name in _COEFFICIENTS:
        fits = "alpha" in contender.space and context.table.weights is None
        return PenaltyPath(template.name) if fits else None
    stages = template.entry.stages
    if (
        stages is None
        or stages.setting not in contender.space
        # a margin comes from the model, not from its predictions
        or context.loss.needs == "margin"
    ):
        return None
    return TreePath(stages)


class Path(ABC):
    """Configurations that differ in one setting and share a fit."""

    #: Whether giving up configurations early saves time.
    racing: bool
    #: The setting in which they differ.
    setting: str

    def groups(self, races: Sequence[Racer]) -> list[list[Racer]]:
        """Group the configurations that one fit serves: those that differ in the setting only."""
        groups: dict[str, list[Racer]] = {}
        for race in races:
            others = {key: value for key, value in race.settings.items() if key != self.setting}
            groups.setdefault(repr(sorted(others.items())), []).append(race)
        return list(groups.values())

    @abstractmethod
    def configurations(self, contender: Contender, trials: int, seed: int) -> list[Settings]:
        """Return the configurations to try, without the defaults."""

    @abstractmethod
    def fit(
        self,
        contender: Contender,
        several: Sequence[Settings],
        train: Table,
        test: Table,
        *,
        seed: int,
    ) -> Sequence["KnownPredictions | NotGrown"]:
        """Fit once; return for each configuration its predictions for the test rows, if any."""


class PenaltyPath(Path):
    """The penalty ``alpha`` of a linear model, fitted for many values at once.

    Parameters
    ----------
    learner
        "ridge" (one singular value decomposition), "lasso" or "elastic-net" (coordinate descent
        that starts each value where the one before ended).
    """

    #: all values together cost about one fit: giving some up saves nothing
    racing = False
    setting = "alpha"

    def __init__(self, learner: str) -> None:
        self.learner = learner

    def configurations(self, contender: Contender, trials: int, seed: int) -> list[Settings]:
        """All values of the path, for some draws of the other settings."""
        alphas = contender.space["alpha"].grid(_PENALTIES)
        others = {key: dim for key, dim in contender.space.items() if key != "alpha"}
        draws = drawn(others, max(1, trials // 6), seed) if others else [{}]
        return [{"alpha": alpha, **draw} for draw in draws for alpha in alphas]

    def fit(
        self,
        contender: Contender,
        several: Sequence[Settings],
        train: Table,
        test: Table,
        *,
        seed: int,
    ) -> list["KnownPredictions"]:
        """Fit one path; return the predictions of each configuration."""
        order = np.argsort([-settings["alpha"] for settings in several], kind="stable")
        # an ordinary fit, with the strongest penalty since that is quickest, learns the encoding
        first: Learner = contender.build(several[int(order[0])], seed=seed).fit(train)
        X, y = first.encoder_.transform(train), np.asarray(train.y, dtype=np.float64)
        mean, centre = X.mean(axis=0), float(y.mean())
        scale = 1.0
        if self.learner != "ridge":  # whose target is not standardised: see the catalogue
            scale = float(y.std()) or 1.0
        settings = first.all_settings
        alphas = np.array([several[i]["alpha"] for i in order])
        coefficients = _COEFFICIENTS[self.learner](X - mean, (y - centre) / scale, alphas, settings)
        rows = first.encoder_.transform(test) - mean
        predicted = rows @ coefficients * scale + centre
        models = [KnownPredictions(predicted[:, j], first.schema_) for j in range(len(order))]
        back = np.argsort(order, kind="stable")
        return [models[int(j)] for j in back]


@dataclass(frozen=True, eq=False)
class KnownPredictions:
    """A model that is known by its predictions for the test rows: numbers, or probabilities."""

    predicted: Floats
    schema_: Schema
    classes_: NDArray[Any] | None = None

    def predict(self, X: Table) -> NDArray[Any]:
        """Return the predictions; their rows are those of the table."""
        assert len(self.predicted) == X.n_rows
        if self.classes_ is None:
            return self.predicted
        labels: NDArray[Any] = self.classes_[self.predicted.argmax(axis=1)]
        return labels

    @available_if(lambda self: self.classes_ is not None)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Table) -> Floats:
        """Return the probabilities."""
        assert len(self.predicted) == X.n_rows
        return self.predicted


@dataclass(frozen=True)
class NotGrown:
    """A configuration without predictions: the fit ended with fewer trees, as more did not help."""

    trees: int

    def __str__(self) -> str:
        return f"the fit ended with {self.trees} trees, as more did not help"


class TreePath(Path):
    """The number of trees of a boosted model: the first so many of one fit, for many values.

    The fit ends early where more trees have not helped on the inner test rows for a while. These
    rows choose among the configurations anyway, and belong to the training side of the outer fold.

    Parameters
    ----------
    stages
        How the model is read at fewer trees.
    """

    #: giving configurations up makes fits shorter, or saves them
    racing = True

    def __init__(self, stages: Stages) -> None:
        self.stages, self.setting = stages, stages.setting

    def configurations(self, contender: Contender, trials: int, seed: int) -> list[Settings]:
        """Numbers of trees on the scale of their range, for some draws of the other settings."""
        setting = self.setting
        counts = contender.space[setting].grid(_NUMBERS_OF_TREES)
        others = {key: dim for key, dim in contender.space.items() if key != setting}
        usual = {key: contender.defaults[key] for key in others}
        draws = drawn(others, max(1, trials // _FITS_OF_A_PATH) - 1, seed) if others else []
        return [
            settings
            for draw in (usual, *draws)
            for count in counts
            if (settings := {setting: count, **draw}) != contender.defaults
        ]

    def lengths(self, contender: Contender, settings: Settings) -> list[Settings]:
        """Settings with every number of trees, for other settings once chosen."""
        counts = contender.space[self.setting].grid(_NUMBERS_OF_TREES)
        return [{**settings, self.setting: count} for count in counts]

    def fit(
        self,
        contender: Contender,
        several: Sequence[Settings],
        train: Table,
        test: Table,
        *,
        seed: int,
    ) -> list["KnownPredictions | NotGrown"]:
        """Grow one model; return what the trees of each configuration predict.

        A configuration with more trees than were grown is given up: its predictions are not known,
        only that it is past the best.
        """
        counts = [int(settings[self.setting]) for settings in several]
        longest = {**several[0], self.setting: max(counts)}
        # a single tree learns the encoding
        first: Learner = contender.build({**longest, self.setting: 1}, seed=seed).fit(train)
        job = first.job({**first.all_settings, **longest}, train.y)
        X, rows = first.encoder_.transform(train), first.encoder_.transform(test)
        y, watched = _targets(first, train), _targets(first, test)
        seen = watched >= 0 if first.task_.is_classification else np.isfinite(watched)
        # at least as patient as it takes to reach the smallest number of trees
        patience = max(PATIENCE, min(counts))
        unit = unit_of(first.task_, first.entry.build(job), y, train.weights, train.exposures)
        fitted = Rows(X, unit.targets(y), unit.weights(train.weights))
        judged = Rows(rows, unit.targets(watched), unit.weights(test.weights))
        judged = judged.take(np.flatnonzero(seen))
        model = fit_boosting(first.entry, job, fitted, judged, patience=patience)
        most = self.stages.trees(model)
        if most < patience:
            # no tree can be added (too few rows to split, say): more of them would be these
            counts = [min(count, most) for count in counts]
        reached = sorted({count for count in counts if count <= most})
        classes = first.classes_ if first.task_.is_classification else None
        stages = self.stages.at(model, rows, reached, classes is not None)
        known = {
            count: KnownPredictions(
                np.asarray(predicted, np.float64) * unit.target, first.schema_, classes
            )
            for count, predicted in zip(reached, stages, strict=True)
        }
        return [known.get(count, NotGrown(most)) for count in counts]


def _targets(fitted: Learner, table: Table) -> Floats:
    """Return the target as the model takes it; -1 for a class that it has not seen."""
    if not fitted.task_.is_classification:
        return np.asarray(table.y, dtype=np.float64)
    position = np.minimum(np.searchsorted(fitted.classes_, table.y), len(fitted.classes_) - 1)
    return np.where(fitted.classes_[position] == table.y, position, -1)


def _ridge(X: Floats, y: Floats, alphas: Floats, settings: Mapping[str, Any]) -> Floats:
    del settings
    left, values, right = np.linalg.svd(X, full_matrices=False)
    shrunk = values[:, None] / (values[:, None] ** 2 + alphas[None, :])
    coefficients: Floats = right.T @ (shrunk * (left.T @ y)[:, None])
    return coefficients


def _elastic_net(X: Floats, y: Floats, alphas: Floats, settings: Mapping[str, Any]) -> Floats:
    from sklearn.linear_model import enet_path

    ratio = settings.get("l1_ratio", 1.0)
    X, y = np.asfortranarray(X), np.ascontiguousarray(y)
    # equal penalties would be fitted twice, and the solver needs a decreasing sequence
    distinct, position = np.unique(-alphas, return_inverse=True)
    path = enet_path(X, y, l1_ratio=ratio, alphas=-distinct, max_iter=20_000, check_input=False)
    coefficients: Floats = path[1][:, position]
    return coefficients


_COEFFICIENTS = {"ridge": _ridge, "lasso": _elastic_net, "elastic-net": _elastic_net}
