"""Trees, bagging, forests and gradient boosting of scikit-learn."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.errors import InputError
from clearwood.forest.build import Trees, assemble
from clearwood.forest.forest import Forest
from clearwood.forest.inputs import default_names

__all__ = [
    "bagging",
    "check_one_target",
    "check_trees",
    "feature_names",
    "gradient_boosting",
    "made",
    "one_tree",
    "random_forest",
    "trees_of",
    "values_of",
]


def feature_names(model: Any) -> tuple[str, ...]:
    """Return the names of the columns it was fitted with, or default names if it had none."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return default_names(model.n_features_in_)
    return tuple(map(str, names))


def check_one_target(model: Any) -> None:
    """Refuse several targets of classes; several numeric targets are outputs."""
    if getattr(model, "n_outputs_", 1) > 1 and hasattr(model, "classes_"):
        raise InputError(
            f"this {type(model).__name__} predicts {model.n_outputs_} targets of classes at once",
            hint="fit one classifier per target.",
        )


def check_trees(model: Any, members: Sequence[Any], verb: str) -> None:
    """Refuse an ensemble of anything but trees."""
    for member in members:
        if not hasattr(member, "tree_"):
            raise InputError(
                f"this {type(model).__name__} {verb} {type(member).__name__}, which is not a tree",
                hint="fit it with DecisionTree or ExtraTree estimators.",
            )


def trees_of(
    members: Sequence[Any], *, value: NDArray[Any] | None = None, **settings: Any
) -> Trees:
    """Read fitted trees; values are class shares or the means of the targets where not given."""
    trees = [member.tree_ for member in members]
    return Trees(
        sizes=[tree.node_count for tree in trees],
        left=np.concatenate([tree.children_left for tree in trees]),
        right=np.concatenate([tree.children_right for tree in trees]),
        feature=np.concatenate([tree.feature for tree in trees]),
        threshold=np.concatenate([tree.threshold for tree in trees]),
        default_left=np.concatenate([tree.missing_go_to_left for tree in trees]),
        value=np.concatenate([values_of(member) for member in members]) if value is None else value,
        cover=np.concatenate([tree.weighted_n_node_samples for tree in trees]),
        **settings,
    )


def values_of(member: Any) -> NDArray[np.float64]:
    """Return one row per node, one column per class or target."""
    value: NDArray[np.float64] = member.tree_.value
    return value[:, 0, :] if hasattr(member, "classes_") else value[:, :, 0]


def one_tree(model: Any) -> Forest:
    """Import a decision tree or extra tree."""
    check_one_target(model)
    return _averaged(model, trees_of([model]), aggregation="sum")


def random_forest(model: Any) -> Forest:
    """Import a random forest or extra trees: the mean of trees, added in order."""
    check_one_target(model)
    return _averaged(model, trees_of(model.estimators_))


def bagging(model: Any) -> Forest:
    """Import bagged trees; each may see some columns and some classes only."""
    check_one_target(model)
    members = model.estimators_
    check_trees(model, members, "bags")
    value = None
    if hasattr(model, "classes_"):
        value = np.concatenate([_shares(member, len(model.classes_)) for member in members])
    trees = trees_of(members, value=value)
    columns = [
        np.asarray(columns)[np.maximum(member.tree_.feature, 0)]
        for member, columns in zip(members, model.estimators_features_, strict=True)
    ]
    return _averaged(model, replace(trees, feature=np.concatenate(columns)))


def _shares(member: Any, n_classes: int) -> NDArray[np.float64]:
    """Return the class shares of a member that may have seen only some of the classes."""
    seen = values_of(member)
    shares = np.zeros((len(seen), n_classes))
    shares[:, np.asarray(member.classes_, np.intp)] = seen
    return shares


def _averaged(model: Any, trees: Trees, *, aggregation: str = "mean") -> Forest:
    return made(model, trees, base=np.zeros(trees.value.shape[1]), aggregation=aggregation)


def made(model: Any, trees: Trees, **settings: Any) -> Forest:
    """Build a forest with the names, classes and precision of a model of scikit-learn."""
    classes = getattr(model, "classes_", None)
    return assemble(
        trees,
        feature_names=feature_names(model),
        precision="float32",
        accepts_missing=bool(model.__sklearn_tags__().input_tags.allow_nan),
        classes=None if classes is None else np.asarray(classes),
        source=type(model).__name__,
        **settings,
    )


def gradient_boosting(model: Any) -> Forest:
    """Import gradient boosting: the start plus the learning rate times each tree, in order."""
    init = model.init_
    if not (isinstance(init, str) and init == "zero") and type(init).__name__ not in (
        "DummyClassifier",
        "DummyRegressor",
    ):
        raise InputError(
            f"this {type(model).__name__} starts from {type(init).__name__}, whose prediction "
            "differs from row to row, so that the model is not a sum of trees",
            hint="fit it with init=None or init='zero'.",
        )
    rows = np.zeros((1, model.n_features_in_), np.float32)
    start = np.asarray(model._raw_predict_init(rows), np.float64)[0]  # noqa: SLF001
    trees = trees_of(
        model.estimators_.ravel(),
        output=np.tile(np.arange(model.estimators_.shape[1]), len(model.estimators_)),
    )
    link = "logistic" if len(start) == 1 else "softmax"
    link = link if hasattr(model, "classes_") else "identity"
    # the exponential loss fits half of the log odds
    temperature = 0.5 if model.loss == "exponential" else 1.0
    return made(
        model,
        replace(trees, value=float(model.learning_rate) * trees.value),
        base=start,
        link=link,
        temperature=temperature,
        zero_is_positive=True,
    )
