"""Trees, bagging, forests and gradient boosting of scikit-learn."""

from typing import Any

import numpy as np

from clearwood._shared.errors import InputError
from clearwood.forest.build import Tree, assemble
from clearwood.forest.forest import Forest
from clearwood.forest.inputs import default_names

__all__ = [
    "accepts_missing",
    "bagging",
    "check_one_target",
    "feature_names",
    "gradient_boosting",
    "one_tree",
    "random_forest",
    "tree_of",
]


def feature_names(model: Any) -> tuple[str, ...]:
    """Give the names of the columns it was fitted with, or positions where it saw none."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return default_names(model.n_features_in_)
    return tuple(map(str, names))


def accepts_missing(model: Any) -> bool:
    """Whether scikit-learn lets the model predict rows with missing values."""
    return bool(model.__sklearn_tags__().input_tags.allow_nan)


def check_one_target(model: Any) -> None:
    """Refuse several targets of classes; several numeric targets are outputs."""
    if getattr(model, "n_outputs_", 1) > 1 and hasattr(model, "classes_"):
        raise InputError(
            f"this {type(model).__name__} predicts {model.n_outputs_} targets of classes at once",
            hint="fit one classifier per target.",
        )


def tree_of(fitted: Any, **settings: Any) -> Tree:
    """Read one fitted tree; values are class shares or the means of the targets."""
    tree = fitted.tree_
    classify = hasattr(fitted, "classes_")
    value = tree.value[:, 0, :] if classify else tree.value[:, :, 0]
    return Tree(
        left=tree.children_left,
        right=tree.children_right,
        feature=tree.feature,
        threshold=tree.threshold,
        default_left=tree.missing_go_to_left.astype(bool),
        value=value,
        cover=tree.weighted_n_node_samples,
        **settings,
    )


def one_tree(model: Any) -> Forest:
    """Import a decision tree or extra tree."""
    check_one_target(model)
    return _averaged(model, [tree_of(model)], aggregation="sum")


def random_forest(model: Any) -> Forest:
    """Import a random forest or extra trees: the mean of trees, added in order."""
    check_one_target(model)
    return _averaged(model, [tree_of(member) for member in model.estimators_])


def bagging(model: Any) -> Forest:
    """Import bagged trees; each may see some columns and some classes only."""
    check_one_target(model)
    trees = []
    for member, columns in zip(model.estimators_, model.estimators_features_, strict=True):
        if not hasattr(member, "tree_"):
            raise InputError(
                f"this {type(model).__name__} bags {type(member).__name__}, which is not a tree",
                hint="bag DecisionTree or ExtraTree estimators.",
            )
        tree = tree_of(member)
        value = tree.value
        if hasattr(model, "classes_"):
            value = np.zeros((len(tree.value), len(model.classes_)))
            value[:, np.asarray(member.classes_, np.intp)] = tree.value
        inner = np.asarray(tree.left) >= 0
        feature = np.where(inner, np.asarray(columns)[np.where(inner, tree.feature, 0)], -1)
        trees.append(
            Tree(
                left=tree.left,
                right=tree.right,
                feature=feature,
                threshold=tree.threshold,
                default_left=tree.default_left,
                value=value,
                cover=tree.cover,
            )
        )
    return _averaged(model, trees)


def _averaged(model: Any, trees: list[Tree], *, aggregation: str = "mean") -> Forest:
    classes = getattr(model, "classes_", None)
    return assemble(
        trees,
        base=np.zeros(trees[0].value.shape[1]),
        feature_names=feature_names(model),
        aggregation=aggregation,
        precision="float32",
        accepts_missing=accepts_missing(model),
        classes=None if classes is None else np.asarray(classes),
        source=type(model).__name__,
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
    classes = getattr(model, "classes_", None)
    rows = np.zeros((1, model.n_features_in_), np.float32)
    start = np.asarray(model._raw_predict_init(rows), np.float64)[0]  # noqa: SLF001
    trees = [
        tree_of(member, output=output)
        for stage in model.estimators_
        for output, member in enumerate(stage)
    ]
    rate = float(model.learning_rate)
    scaled = [
        Tree(
            left=tree.left,
            right=tree.right,
            feature=tree.feature,
            threshold=tree.threshold,
            default_left=tree.default_left,
            value=rate * tree.value,
            cover=tree.cover,
            output=tree.output,
        )
        for tree in trees
    ]
    link = "identity" if classes is None else ("logistic" if len(start) == 1 else "softmax")
    # the exponential loss fits half of the log odds
    temperature = 0.5 if model.loss == "exponential" else 1.0
    return assemble(
        scaled,
        base=start,
        feature_names=feature_names(model),
        link=link,
        temperature=temperature,
        precision="float32",
        classes=None if classes is None else np.asarray(classes),
        zero_is_positive=True,
        accepts_missing=accepts_missing(model),
        source=type(model).__name__,
    )
