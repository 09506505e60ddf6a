"""Histogram gradient boosting of scikit-learn, with missing values and native categories."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood.forest.build import Tree, assemble
from clearwood.forest.forest import Forest
from clearwood.forest.importers.sklearn import feature_names

__all__ = ["hist_gradient"]


def hist_gradient(model: Any) -> Forest:
    """Import a model: the baseline plus each tree, in order; values are compared in float64."""
    baseline = np.asarray(model._baseline_prediction, np.float64).ravel()  # noqa: SLF001
    column, levels = _columns(model)
    known, known_row = model._bin_mapper.make_known_categories_bitsets()  # noqa: SLF001
    trees = [
        _tree(predictor, column, known, known_row, output)
        for stage in model._predictors  # noqa: SLF001
        for output, predictor in enumerate(stage)
    ]
    classes = getattr(model, "classes_", None)
    if classes is not None:
        link = "logistic" if len(baseline) == 1 else "softmax"
    else:
        link = "log" if model.loss in ("poisson", "gamma") else "identity"
    return assemble(
        trees,
        base=baseline,
        feature_names=feature_names(model),
        levels=levels,
        link=link,
        classes=None if classes is None else np.asarray(classes),
        source=type(model).__name__,
    )


def _columns(model: Any) -> tuple[NDArray[np.intp], tuple[tuple[Any, ...] | None, ...]]:
    """Give the user's column behind each column of the trees, and the labels behind the codes."""
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


def _tree(
    predictor: Any,
    column: NDArray[np.intp],
    known: NDArray[np.uint32],
    known_row: NDArray[np.uint32],
    output: int,
) -> Tree:
    nodes = predictor.nodes
    leaf = nodes["is_leaf"].astype(bool)
    missing_left = nodes["missing_go_to_left"].astype(bool)
    categories = {}
    for node in np.flatnonzero(nodes["is_categorical"].astype(bool) & ~leaf):
        words = predictor.raw_left_cat_bitsets[nodes["bitset_idx"][node]].astype(np.uint32)
        if missing_left[node]:
            # categories unknown to the model go where missing values go
            words = words | ~known[known_row[nodes["feature_idx"][node]]].astype(np.uint32)
        categories[int(node)] = words
    return Tree(
        left=np.where(leaf, -1, nodes["left"].astype(np.int64)),
        right=np.where(leaf, -1, nodes["right"].astype(np.int64)),
        feature=np.where(leaf, -1, column[nodes["feature_idx"].astype(np.int64)]),
        threshold=nodes["num_threshold"],
        default_left=missing_left,
        value=nodes["value"][:, None],
        cover=nodes["count"],
        categories=categories,
        unseen_left=missing_left,
        output=output,
    )
