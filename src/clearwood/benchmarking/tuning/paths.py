"""Settings whose whole range costs about one fit, and fits that may be cheaper while tuning."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from clearwood.benchmarking.running.contenders import Contender
from clearwood.benchmarking.tuning.searches import Settings, drawn
from clearwood.models import Learner
from clearwood.table import Table

if TYPE_CHECKING:
    from clearwood.benchmarking.running.work import Context

__all__ = ["Path", "Told", "alike_but_for", "path_of", "while_tuning"]

Array = NDArray[np.float64]

#: Values tried along a path.
_VALUES = 100

#: Trees of a forest while its other settings are compared; the chosen one has all of them. Many
#: rows to judge on leave less to chance, so that fewer do.
_TREES_WHILE_TUNING = 100
_TREES_ON_MANY_ROWS = 50
_MANY_ROWS = 5_000


class _HasSettings(Protocol):
    settings: Settings


Racer = TypeVar("Racer", bound=_HasSettings)


def while_tuning(
    contender: Contender, settings: Mapping[str, Any], *, n_rows: int
) -> dict[str, Any]:
    """Settings to compare a configuration with: averages of trees need fewer trees for that.

    More trees take variance out of every configuration alike, so some tell which is best.
    """
    changed = dict(settings)
    template = contender.template
    if (
        isinstance(template, Learner)
        and template.entry.family == "ensemble"
        and "n_estimators" not in settings
    ):
        enough = _TREES_WHILE_TUNING if n_rows < _MANY_ROWS else _TREES_ON_MANY_ROWS
        if template.all_settings.get("n_estimators", 0) > enough:
            changed["n_estimators"] = enough
    return changed


def path_of(contender: Contender, context: "Context") -> "Path | None":
    """The path along which a contender can be fitted, if it has one and the data allow it."""
    from clearwood.benchmarking.tuning.tree_path import tree_path_of

    template = contender.template
    # codes of categories by their target differ between fitting and predicting
    if not isinstance(template, Learner) or template.categories == "target":
        return None
    if template.name in _COEFFICIENTS:
        fits = "alpha" in contender.space and context.table.weights is None
        return PenaltyPath(template.name) if fits else None
    return tree_path_of(contender, template, context)


def alike_but_for(setting: str, races: Sequence[Racer]) -> list[list[Racer]]:
    """Bring together configurations that differ in one setting only."""
    found: dict[str, list[Racer]] = {}
    for race in races:
        others = {key: value for key, value in race.settings.items() if key != setting}
        found.setdefault(repr(sorted(others.items())), []).append(race)
    return list(found.values())


class Path(Protocol):
    """Configurations that differ in one setting and share a fit."""

    #: Whether it pays to give up configurations early.
    racing: bool

    def configurations(self, contender: Contender, trials: int, seed: int) -> list[Settings]:
        """Which configurations to try, the defaults aside."""

    def groups(self, races: Sequence[Racer]) -> list[list[Racer]]:
        """Bring together the configurations that one fit serves."""

    def fit(
        self,
        contender: Contender,
        several: Sequence[Settings],
        train: Table,
        test: Table,
        *,
        seed: int,
    ) -> Sequence["Told | str"]:
        """Fit once; give for each configuration a model, or why there is none."""


class PenaltyPath:
    """The penalty ``alpha`` of a linear model, fitted for many values at once.

    Parameters
    ----------
    learner
        "ridge" (one singular value decomposition), "lasso" or "elastic-net" (coordinate descent
        that starts each value where the one before ended).
    """

    #: the values cost about one fit together: nothing is saved by giving some up
    racing = False

    def __init__(self, learner: str) -> None:
        self.learner = learner

    def configurations(self, contender: Contender, trials: int, seed: int) -> list[Settings]:
        """All values of the path, for some draws of the other settings."""
        alphas = contender.space["alpha"].grid(_VALUES)
        others = {key: dim for key, dim in contender.space.items() if key != "alpha"}
        draws = drawn(others, max(1, trials // 6), seed) if others else [{}]
        return [{"alpha": alpha, **draw} for draw in draws for alpha in alphas]

    def groups(self, races: Sequence[Racer]) -> list[list[Racer]]:
        """Bring together the configurations that one path serves."""
        return alike_but_for("alpha", races)

    def fit(
        self,
        contender: Contender,
        several: Sequence[Settings],
        train: Table,
        test: Table,
        *,
        seed: int,
    ) -> list["Told"]:
        """Fit one path; give for each configuration a model that knows its predictions."""
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
        models = [Told(predicted[:, j]) for j in range(len(order))]
        back = np.argsort(order, kind="stable")
        return [models[int(j)] for j in back]


class Told:
    """A model whose predictions are known already.

    Parameters
    ----------
    predicted
        Numbers, or a column of probabilities a class.
    classes
        The labels of the columns.
    """

    def __init__(self, predicted: Array, classes: NDArray[Any] | None = None) -> None:
        self.predicted = predicted
        self.classes_ = classes

    def predict(self, X: Table) -> NDArray[Any]:
        """Give the predictions, whose rows are those of the table."""
        assert len(self.predicted) == X.n_rows
        if self.classes_ is None:
            return self.predicted
        labels: NDArray[Any] = self.classes_[self.predicted.argmax(axis=1)]
        return labels

    def predict_proba(self, X: Table) -> Array:
        """Give the probabilities."""
        assert self.classes_ is not None
        assert len(self.predicted) == X.n_rows
        return self.predicted


def _ridge(X: Array, y: Array, alphas: Array, settings: Mapping[str, Any]) -> Array:
    del settings
    left, values, right = np.linalg.svd(X, full_matrices=False)
    shrunk = values[:, None] / (values[:, None] ** 2 + alphas[None, :])
    coefficients: Array = right.T @ (shrunk * (left.T @ y)[:, None])
    return coefficients


def _elastic_net(X: Array, y: Array, alphas: Array, settings: Mapping[str, Any]) -> Array:
    from sklearn.linear_model import enet_path

    ratio = settings.get("l1_ratio", 1.0)
    X, y = np.asfortranarray(X), np.ascontiguousarray(y)
    # equal penalties would be fitted twice, and the solver asks for a falling sequence
    distinct, position = np.unique(-alphas, return_inverse=True)
    found = enet_path(
        X,
        y,
        l1_ratio=ratio,
        alphas=-distinct,
        max_iter=20_000,
        check_input=False,
        precompute="auto",
    )
    coefficients: Array = found[1][:, position]
    return coefficients


_COEFFICIENTS = {"ridge": _ridge, "lasso": _elastic_net, "elastic-net": _elastic_net}
