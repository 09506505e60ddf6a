"""XGBoost: all boosters of trees, missing values, categories, several classes and targets."""

import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.errors import InputError
from clearwood.forest.build import Tree, assemble, bit_words
from clearwood.forest.forest import Forest
from clearwood.forest.inputs import default_names
from clearwood.forest.links import Link

__all__ = ["xgboost"]

_LINKS: dict[str, Link] = {
    "binary:logistic": "logistic",
    "reg:logistic": "logistic",
    "count:poisson": "log",
    "reg:gamma": "log",
    "reg:tweedie": "log",
    "survival:cox": "log",
    "survival:aft": "log",
    "multi:softmax": "softmax",
    "multi:softprob": "softmax",
}


def xgboost(model: Any) -> Forest:
    """Import an estimator or booster; XGBoost rounds to float32 and adds trees in float32.

    An estimator stopped early uses the trees up to its best iteration, a booster all of them, as in
    XGBoost itself. With dart an estimator and its booster differ in the last bits, there as here.
    """
    estimator = model if hasattr(model, "get_booster") else None
    booster = model if estimator is None else estimator.get_booster()
    content = json.loads(bytes(booster.save_raw("json")))
    learner = content["learner"]
    gradient = learner["gradient_booster"]
    if gradient["name"] == "gblinear":
        raise InputError(
            "an XGBoost model with booster='gblinear' has no trees",
            hint="fit it with booster='gbtree' or 'dart'.",
        )
    weights = gradient.get("weight_drop")
    trees = gradient.get("gbtree", gradient)["model"]
    end = _end(estimator, trees)
    margin = _base_margin(content)
    categories = _levels(trees, booster.num_features())
    objective = learner["objective"]["name"]
    link = _LINKS.get(objective, "identity")
    names = booster.feature_names
    made = [
        _tree(raw, int(trees["tree_info"][i]), 1.0 if weights is None else weights[i])
        for i, raw in enumerate(trees["trees"][:end])
    ]
    if weights is not None and estimator is not None:
        made = [_beyond(tree, margin) for tree in made]
    return assemble(
        made,
        base=margin.astype(np.float64),
        feature_names=default_names(booster.num_features()) if names is None else tuple(names),
        levels=categories,
        link=link,
        exponential="C",
        precision="float32",
        accumulate="float32",
        classes=_classes(estimator, objective, len(margin)),
        # XGBoost compares what it predicts with a half, even where that is the raw score
        positive_above=0.5 if objective == "binary:logitraw" else 0.0,
        missing_value=None if estimator is None else _mark(estimator.missing),
        source=f"XGBoost {type(model).__name__}",
    )


def _beyond(tree: Tree, margin: NDArray[np.float32]) -> Tree:
    """Round a tree's values as the estimator's own way through dart does.

    It predicts one tree at a time, start included, and takes the start off again before it weighs
    what is left: the leaf, rounded to the precision of the sum.
    """
    start = margin if tree.output < 0 else margin[tree.output : tree.output + 1]
    value = tree.value.astype(np.float32)
    return replace(tree, value=((start + value) - start).astype(np.float64))


def _end(estimator: Any, trees: dict[str, Any]) -> int | None:
    """How many trees are used: those up to the best iteration of an estimator that has one."""
    try:
        best = None if estimator is None else estimator.best_iteration
    except AttributeError:  # not stopped early
        return None
    return None if best is None else int(trees["iteration_indptr"][best + 1])


def _mark(missing: Any) -> float | None:
    return None if missing is None or np.isnan(missing) else float(missing)


def _base_margin(content: dict[str, Any]) -> NDArray[np.float32]:
    """Give what sums start from: the prediction once all leaves are zero.

    The file keeps the base score on the target's scale; asking XGBoost for the margin gives its
    own rounding of the link to the last bit.
    """
    import xgboost

    empty = json.loads(json.dumps(content))
    gradient = empty["learner"]["gradient_booster"]
    trees = gradient.get("gbtree", gradient)["model"]
    for tree in trees["trees"]:
        if "leaf_weights" in tree:
            tree["leaf_weights"] = [0.0] * len(tree["leaf_weights"])
        tree["split_conditions"] = [
            0.0 if left < 0 else condition
            for left, condition in zip(tree["left_children"], tree["split_conditions"], strict=True)
        ]
        tree["base_weights"] = [0.0] * len(tree["base_weights"])
    probe = xgboost.Booster()
    probe.load_model(bytearray(json.dumps(empty), "utf-8"))
    probe.feature_names = probe.feature_types = None
    n_features = int(empty["learner"]["learner_model_param"]["num_feature"])
    row = xgboost.DMatrix(np.zeros((1, n_features), np.float32))
    return np.asarray(probe.predict(row, output_margin=True), np.float32).ravel()


def _levels(trees: dict[str, Any], n_features: int) -> tuple[tuple[Any, ...] | None, ...]:
    """Give the labels a model was fitted to; empty where it was fitted to codes."""
    encoded = trees.get("cats", {}).get("enc", [])
    if not encoded:
        return (None,) * n_features
    levels: list[tuple[Any, ...] | None] = []
    for column in encoded:
        if "offsets" in column:
            text = bytes(byte % 256 for byte in column["values"])
            ends = column["offsets"]
            if not text.isascii():
                # XGBoost counts characters where it means bytes, so labels run into each other
                raise InputError(
                    "XGBoost writes category labels with letters outside ASCII wrongly into its "
                    "models, so it is not known which category is which",
                    hint="fit it to labels without them, or to category codes.",
                )
            labels = [text[a:b].decode() for a, b in pairwise(ends)]
            levels.append(tuple(labels) or None)
        else:
            levels.append(tuple(column["values"]) or None)
    return tuple(levels)


def _tree(raw: dict[str, Any], output: int, weight: float) -> Tree:
    left = np.array(raw["left_children"], np.int64)
    leaf = left < 0
    condition = np.array(raw["split_conditions"], np.float32)
    vector = int(raw["tree_param"]["size_leaf_vector"])
    if vector > 1:
        value, output = _vector_leaves(raw, vector, leaf), -1
    else:
        value = condition.astype(np.float64)[:, None]
    categorical = np.array(raw["split_type"], bool) if raw["split_type"] else np.zeros_like(leaf)
    categories = {}
    for node, start, size in zip(
        raw["categories_nodes"], raw["categories_segments"], raw["categories_sizes"], strict=True
    ):
        # XGBoost's set goes right, everything else left, seen or not
        goes_right = raw["categories"][start : start + size]
        categories[int(node)] = ~bit_words(goes_right, max(goes_right) + 1)
    return Tree(
        left=left,
        right=np.array(raw["right_children"], np.int64),
        feature=np.array(raw["split_indices"], np.int64),
        # x < t in float32 is x <= the float32 just below t
        threshold=np.nextafter(condition, np.float32(-np.inf)).astype(np.float64),
        default_left=np.array(raw["default_left"], bool),
        value=value,
        cover=np.array(raw["sum_hessian"], np.float64),
        categories=categories,
        unseen_left=categorical,
        output=output,
        weight=float(np.float32(weight)),
    )


def _vector_leaves(raw: dict[str, Any], size: int, leaf: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Read one vector per leaf, which the file numbers in the leaves' right children."""
    vectors = np.array(raw["leaf_weights"], np.float32).reshape(-1, size)
    value = np.zeros((len(leaf), size))
    value[leaf] = vectors[np.array(raw["right_children"], np.int64)[leaf]]
    return value


def _classes(estimator: Any, objective: str, n_outputs: int) -> NDArray[Any] | None:
    if estimator is not None and hasattr(estimator, "n_classes_"):
        classes = np.asarray(estimator.classes_)
        if objective.startswith("binary:") and n_outputs > 1:
            raise InputError(
                f"this {type(estimator).__name__} predicts {n_outputs} labels at once",
                hint="fit one classifier per label.",
            )
        return classes
    if objective.startswith("multi:"):
        return np.arange(n_outputs)
    return None
