"""AdaBoost of trees: weighted votes for classes, the weighted median for numbers."""

from dataclasses import replace
from typing import Any

import numpy as np

from clearwood._shared.errors import InputError
from clearwood.forest.build import Tree, assemble
from clearwood.forest.forest import Forest
from clearwood.forest.importers.sklearn import accepts_missing, feature_names, tree_of

__all__ = ["adaboost_classifier", "adaboost_regressor"]


def adaboost_classifier(model: Any) -> Forest:
    """Import SAMME: each tree votes for one class with its weight.

    A vote counts 1 for the class and -1 / (K - 1) for each other one. With two classes the score
    of the first is minus that of the second, so one output with votes of 2 and -2 is their exact
    difference.
    """
    n_classes = len(model.classes_)
    if n_classes < 2:
        raise InputError("AdaBoost was fitted to a single class", hint="give it two or more.")
    trees = []
    for member, weight in zip(model.estimators_, model.estimator_weights_, strict=False):
        tree = _member(model, member)
        vote = np.searchsorted(model.classes_, member.classes_[np.argmax(tree.value, axis=1)])
        if n_classes == 2:
            value = np.where(vote == 1, 2.0, -2.0)[:, None]
        else:
            value = np.full((len(vote), n_classes), -1 / (n_classes - 1))
            value[np.arange(len(vote)), vote] = 1.0
        trees.append(replace(tree, value=value, weight=float(weight)))
    n_outputs = 1 if n_classes == 2 else n_classes
    return assemble(
        trees,
        base=np.zeros(n_outputs),
        divisor=np.full(n_outputs, model.estimator_weights_.sum()),
        feature_names=feature_names(model),
        aggregation="weighted vote",
        link="logistic" if n_classes == 2 else "softmax",
        temperature=float(n_classes - 1),
        precision="float32",
        accepts_missing=accepts_missing(model),
        classes=np.asarray(model.classes_),
        source=type(model).__name__,
    )


def adaboost_regressor(model: Any) -> Forest:
    """Import AdaBoost.R2: the weighted median of the trees."""
    trees = [
        replace(_member(model, member), weight=float(weight))
        for member, weight in zip(model.estimators_, model.estimator_weights_, strict=False)
    ]
    return assemble(
        trees,
        base=np.zeros(1),
        feature_names=feature_names(model),
        aggregation="weighted median",
        precision="float32",
        accepts_missing=accepts_missing(model),
        source=type(model).__name__,
    )


def _member(model: Any, member: Any) -> Tree:
    if not hasattr(member, "tree_"):
        raise InputError(
            f"this {type(model).__name__} boosts {type(member).__name__}, which is not a tree",
            hint="boost DecisionTree or ExtraTree estimators.",
        )
    return tree_of(member)
