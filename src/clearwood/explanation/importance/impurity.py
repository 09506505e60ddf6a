"""Impurity importance: what the splits on a column gained while the trees were grown."""

from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import InputError, Option, words
from clearwood.explanation.games.trees import TreeGame
from clearwood.models import Learner

if TYPE_CHECKING:
    from clearwood.explanation import Explanation

__all__ = ["impurity_gains"]


def impurity_gains(explanation: "Explanation") -> tuple[tuple[str, ...], Floats, str]:
    """Compute the share of the gain by tree and column; one line where trees are not independent.

    Returns
    -------
    (columns, ndarray of shape (trees, columns), the model in words)
    """
    game = explanation.exact_game
    if not isinstance(game, TreeGame):
        raise InputError(
            "impurity importance is for trees",
            parameter="kind",
            value="impurity",
            hint=words("use ", Option("kind", "permutation"), ", which is for any model."),
        )
    by_feature = _gains(_inner(explanation.model))
    if by_feature.shape[1] != len(game.groups):
        raise InputError(
            "the trees' columns cannot be matched with the data's",
            hint=words("use ", Option("kind", "permutation"), "."),
        )
    result = np.zeros((len(by_feature), len(game.columns)))
    for feature, column in enumerate(game.groups):
        result[:, column] += by_feature[:, feature]
    return game.columns, result, game.kind


def _inner(model: Any) -> Any:
    if isinstance(model, Learner):
        return _inner(model.estimator_)
    if hasattr(model, "best_estimator_"):
        return _inner(model.best_estimator_)
    return _inner(model.steps[-1][1]) if hasattr(model, "steps") else model


def _gains(model: Any) -> Floats:
    if hasattr(model, "_predictors"):  # histogram boosting keeps the gain of every split
        result = np.zeros(model.n_features_in_)
        for stage in model._predictors:  # noqa: SLF001 - scikit-learn shows it nowhere else
            for tree in stage:
                inner = tree.nodes[tree.nodes["is_leaf"] == 0]
                np.add.at(result, inner["feature_idx"].astype(np.intp), inner["gain"])
        return _shares(_as_given(model, result)[None, :])
    if hasattr(model, "booster_"):  # LightGBM counts splits by default
        return _shares(np.asarray(model.booster_.feature_importance("gain"), float)[None, :])
    members = getattr(model, "estimators_", None)
    independent = "Forest" in type(model).__name__ or "ExtraTrees" in type(model).__name__
    if members is not None and independent:
        each = [m.feature_importances_ for m in members if m.tree_.node_count > 1]
        return np.array(each or [np.zeros(model.n_features_in_)])
    if not hasattr(model, "feature_importances_"):
        raise InputError(
            f"{type(model).__name__} does not record what its splits gained",
            hint=words("use ", Option("kind", "permutation"), "."),
        )
    return _shares(np.asarray(model.feature_importances_, np.float64)[None, :])


def _as_given(model: Any, result: Floats) -> Floats:
    """Put columns back in the order given: histogram boosting grows with categories first."""
    categorical = getattr(model, "is_categorical_", None)
    if categorical is None:
        return result
    place = np.concatenate([np.flatnonzero(categorical), np.flatnonzero(~categorical)])
    given = np.empty_like(result)
    given[place] = result
    return given


def _shares(gains: Floats) -> Floats:
    total = gains.sum(axis=1, keepdims=True)
    result: Floats = np.zeros_like(gains)
    np.divide(gains, total, out=result, where=total > 0)
    return result
