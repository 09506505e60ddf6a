"""Histogram gradient boosting of scikit-learn, with missing values and native categories."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood.forest.build import CategorySets, Trees, assemble, no_trees
from clearwood.forest.forest import Forest
from clearwood.forest.importers.sklearn import feature_names

__all__ = ["hist_gradient"]


def hist_gradient(model: Any) -> Forest:
    """Import a model: the baseline plus each tree, in order; values are compared in float64."""
    baseline = np.asarray(model._baseline_prediction, np.float64).ravel()  # noqa: SLF001
    column, levels = _columns(model)
    stages = model._predictors  # noqa: SLF001
    known = model._bin_mapper.make_known_categories_bitsets()  # noqa: SLF001
    trees = _trees([tree for stage in stages for tree in stage], column, known)
    classes = getattr(model, "classes_", None)
    if classes is not None:
        link = "logistic" if len(baseline) == 1 else "softmax"
    else:
        link = "log" if model.loss in ("poisson", "gamma") else "identity"
    return assemble(
        replace(trees, output=np.tile(np.arange(len(baseline)), len(stages))),
        base=baseline,
        feature_names=feature_names(model),
        levels=levels,
        link=link,
        classes=None if classes is None else np.asarray(classes),
        source=type(model).__name__,
    )


def _columns(model: Any) -> tuple[NDArray[np.intp], tuple[tuple[Any, ...] | None, ...]]:
    """Return the user's column of each column of the trees, and the labels of the codes."""
    n = model.n_features_in_
    if model.is_categorical_ is None:
        return np.arange(n), (None,) * n
    categorical = np.flatnonzero(model.is_categorical_)
    numeric = np.flatnonzero(~np.asarray(model.is_categorical_))
    encoder = model._preprocessor.named_transformers_["encoder"]  # noqa: SLF001
    levels: list[tuple[Any, ...] | None] = [None] * n
    for column, categories in zip(categorical, encoder.categories_, strict=True):
        # a missing level, always the last, is encoded as NaN
        labels = [label for label in categories.tolist() if label is not None and label == label]
        levels[column] = tuple(labels)
    return np.concatenate([categorical, numeric]), tuple(levels)


def _trees(
    predictors: list[Any],
    column: NDArray[np.intp],
    known: tuple[NDArray[np.uint32], NDArray[np.uint32]],
) -> Trees:
    if not predictors:
        raise no_trees()
    sizes = np.array([len(predictor.nodes) for predictor in predictors])
    # as bytes: NumPy would compare the fields of each pair of arrays before it joins them
    layout = predictors[0].nodes.dtype
    plain = f"V{layout.itemsize}"
    nodes = np.concatenate([predictor.nodes.view(plain) for predictor in predictors]).view(layout)
    leaf = nodes["is_leaf"] > 0
    missing_left = nodes["missing_go_to_left"] > 0
    return Trees(
        sizes=sizes,
        left=np.where(leaf, -1, nodes["left"].astype(np.int64)),
        right=nodes["right"].astype(np.int64),
        feature=column[nodes["feature_idx"]],
        threshold=nodes["num_threshold"],
        default_left=missing_left,
        value=nodes["value"],
        cover=nodes["count"],
        sets=_sets(predictors, nodes, sizes, known),
        unseen_left=missing_left,
    )


def _sets(
    predictors: list[Any],
    nodes: NDArray[Any],
    sizes: NDArray[Any],
    known: tuple[NDArray[np.uint32], NDArray[np.uint32]],
) -> CategorySets | None:
    node = np.flatnonzero((nodes["is_categorical"] > 0) & (nodes["is_leaf"] == 0))
    if len(node) == 0:
        return None
    bitsets = [predictor.raw_left_cat_bitsets for predictor in predictors]
    n_bitsets = np.array([len(sets) for sets in bitsets])
    first = np.repeat(np.cumsum(n_bitsets) - n_bitsets, sizes)[node]
    words = np.concatenate(bitsets)[first + nodes["bitset_idx"][node]].astype(np.uint32)
    known_sets, row_of_feature = known
    # categories unknown to the model go where missing values go
    unknown = ~known_sets[row_of_feature[nodes["feature_idx"][node]]].astype(np.uint32)
    words |= np.where(nodes["missing_go_to_left"][node, None] > 0, unknown, np.uint32(0))
    return CategorySets(node, np.full(len(node), words.shape[1]), words.ravel())
