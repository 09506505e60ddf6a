"""AdaBoost of trees: weighted votes for classes, the weighted median for numbers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.errors import InputError
from clearwood.forest.forest import Forest
from clearwood.forest.importers.sklearn import check_trees, made, trees_of, values_of

__all__ = ["adaboost_classifier", "adaboost_regressor"]


def adaboost_classifier(model: Any) -> Forest:
    """Import SAMME: each tree votes for one class with its weight.

    A vote counts 1 for the class and -1 / (K - 1) for each other one. With two classes the score
    of the first is minus that of the second, so one output with votes of 2 and -2 is their exact
    difference.
    """
    n_classes = len(model.classes_)
    if n_classes < 2:
        raise InputError("AdaBoost was fitted to a single class", hint="fit it to two or more.")
    members = _members(model)
    value = np.concatenate([_votes(member, model.classes_) for member in members])
    n_outputs = 1 if n_classes == 2 else n_classes
    return made(
        model,
        trees_of(members, value=value, weight=model.estimator_weights_[: len(members)]),
        base=np.zeros(n_outputs),
        divisor=np.full(n_outputs, model.estimator_weights_.sum()),
        aggregation="weighted vote",
        link="logistic" if n_classes == 2 else "softmax",
        temperature=float(n_classes - 1),
    )


def adaboost_regressor(model: Any) -> Forest:
    """Import AdaBoost.R2: the weighted median of the trees."""
    members = _members(model)
    return made(
        model,
        trees_of(members, weight=model.estimator_weights_[: len(members)]),
        base=np.zeros(1),
        aggregation="weighted median",
    )


def _members(model: Any) -> list[Any]:
    """Return the trees that have a weight."""
    members = list(model.estimators_[: len(model.estimator_weights_)])
    check_trees(model, members, "boosts")
    return members


def _votes(member: Any, classes: NDArray[Any]) -> NDArray[np.float64]:
    """Return the votes of each node of a tree for each class; one column for two classes."""
    vote = np.searchsorted(classes, member.classes_[np.argmax(values_of(member), axis=1)])
    if len(classes) == 2:
        return np.where(vote == 1, 2.0, -2.0)[:, None]
    votes = np.full((len(vote), len(classes)), -1 / (len(classes) - 1))
    votes[np.arange(len(vote)), vote] = 1.0
    return votes
