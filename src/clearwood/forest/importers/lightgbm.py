"""LightGBM: all kinds of missing values, categories and several classes, from its model text."""

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.errors import InputError
from clearwood.forest.build import Tree, assemble
from clearwood.forest.forest import Forest
from clearwood.forest.inputs import default_names
from clearwood.forest.links import Link
from clearwood.forest.predict import ZERO

__all__ = ["lightgbm"]

_LINKS: dict[str, Link] = {
    "binary": "logistic",
    "cross_entropy": "logistic",
    "multiclass": "softmax",
    "multiclassova": "logistic",
    "poisson": "log",
    "gamma": "log",
    "tweedie": "log",
    "cross_entropy_lambda": "softplus",
}

# decision_type, as LightGBM packs it: bit 0 categorical, bit 1 default left, bits 2-3 what counts
# as missing (0 nothing, 1 zero, 2 NaN)
_CATEGORICAL, _DEFAULT_LEFT, _MISSING_SHIFT = 1, 2, 2
_NOTHING, _ZERO = 0, 1


def lightgbm(model: Any) -> Forest:
    """Import an estimator or booster, up to its best iteration; sums and splits are float64.

    With ``boosting_type="rf"`` the raw prediction is the mean of the trees, which is what
    LightGBM's ``predict`` gives; its own ``raw_score`` leaves the division out.
    """
    estimator = model if hasattr(model, "booster_") else None
    booster = model if estimator is None else estimator.booster_
    text = booster.model_to_string()
    header, trees = _sections(text)
    n_features = int(header["max_feature_idx"]) + 1
    per_iteration = int(header["num_tree_per_iteration"])
    objective = header.get("objective", "").split()
    link, temperature = _link(objective)
    names = tuple(header["feature_names"].split(" "))
    generated = names == tuple(f"Column_{i}" for i in range(n_features))
    return assemble(
        [_tree(raw, i % per_iteration) for i, raw in enumerate(trees)],
        base=np.zeros(per_iteration),
        feature_names=default_names(n_features) if generated else names,
        levels=_levels(text, booster, n_features),
        aggregation="mean" if "average_output" in header else "sum",
        link=link,
        exponential="C",
        temperature=temperature,
        classes=_classes(estimator, objective, per_iteration),
        source=f"LightGBM {type(model).__name__}",
    )


def _sections(text: str) -> tuple[dict[str, str], list[dict[str, str]]]:
    """Split the model text into its header and its trees, each a table of keys and values."""
    body = text[: text.index("end of trees")] if "end of trees" in text else text
    head, *trees = body.split("\nTree=")
    if not trees:
        raise InputError("the model has no trees", hint="fit it with at least one iteration.")

    def pairs(block: str) -> dict[str, str]:
        lines = (line.partition("=") for line in block.splitlines() if line.strip())
        return {key: value for key, _, value in lines}

    return pairs(head), [pairs(f"number={tree}") for tree in trees]


def _link(objective: list[str]) -> tuple[Link, float]:
    if not objective:
        return "identity", 1.0
    name, *options = objective
    if "sqrt" in options:
        return "signed root", 1.0
    sigmoid = next((o.partition(":")[2] for o in options if o.startswith("sigmoid:")), "1")
    return _LINKS.get(name, "identity"), 1.0 / float(sigmoid)


def _levels(text: str, booster: Any, n_features: int) -> tuple[tuple[Any, ...] | None, ...]:
    """Give the labels of the columns that were pandas categories, in their order."""
    tail = text.rpartition("pandas_categorical:")[2].strip()
    labels = booster.pandas_categorical or (json.loads(tail) if tail[:1] == "[" else None)
    levels: list[tuple[Any, ...] | None] = [None] * n_features
    if not labels:
        return tuple(levels)
    asked = _categorical_columns(text)
    if len(asked) != len(labels):
        raise InputError(
            "the LightGBM model does not say which columns its category labels belong to",
            hint="make every categorical column of the data frame a pandas category.",
        )
    for column, column_labels in zip(asked, labels, strict=True):
        levels[column] = tuple(column_labels)
    return tuple(levels)


def _categorical_columns(text: str) -> list[int]:
    key = "[categorical_feature:"
    line = next((line for line in text.splitlines() if line.startswith(key)), key)
    return [int(word) for word in line[len(key) :].strip(" ]").split(",") if word]


def _numbers(raw: dict[str, str], key: str, dtype: type) -> NDArray[Any]:
    return np.array(raw.get(key, "").split(), dtype=np.float64).astype(dtype)


def _tree(raw: dict[str, str], output: int) -> Tree:
    """Read one tree: LightGBM numbers splits from 0 and leaves from -1 downwards."""
    if raw.get("is_linear", "0") == "1":
        raise InputError(
            "the LightGBM model has linear functions in its leaves (linear_tree=True), so it is "
            "not piecewise constant",
            hint="fit it with linear_tree=False.",
        )
    n_leaves = int(raw["num_leaves"])
    n_splits = n_leaves - 1
    leaf_value = _exact(raw, "leaf_value")
    value = np.concatenate([np.zeros(n_splits), leaf_value])[:, None]
    leaf_cover = _numbers(raw, "leaf_count", np.float64)
    if len(leaf_cover) != n_leaves:
        leaf_cover = np.full(n_leaves, np.nan)
    if n_splits == 0:
        nothing = np.full(1, -1)
        return Tree(
            left=nothing,
            right=nothing,
            feature=nothing,
            threshold=np.zeros(1),
            default_left=np.zeros(1, bool),
            value=value,
            cover=leaf_cover,
            output=output,
        )

    def child(key: str) -> NDArray[np.int64]:
        index = _numbers(raw, key, np.int64)
        inner = np.where(index >= 0, index, n_splits + ~index)
        return np.concatenate([inner, np.full(n_leaves, -1)])

    def padded(values: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([values, np.zeros(n_leaves, values.dtype)])

    threshold = _exact(raw, "threshold")
    decision = _numbers(raw, "decision_type", np.int64)
    missing = (decision >> _MISSING_SHIFT) & 3
    categorical = (decision & _CATEGORICAL) > 0
    # where nothing counts as missing, NaN is compared as zero; categories never default left
    default_left = np.where(missing == _NOTHING, threshold >= 0.0, (decision & _DEFAULT_LEFT) > 0)
    return Tree(
        left=child("left_child"),
        right=child("right_child"),
        feature=padded(_numbers(raw, "split_feature", np.int64)),
        threshold=padded(np.where(categorical, 0.0, _beside_zero(threshold))),
        default_left=padded(default_left & ~categorical),
        value=value,
        cover=np.concatenate([_numbers(raw, "internal_count", np.float64), leaf_cover]),
        categories=_categories(raw, categorical, threshold),
        zero_missing=padded((missing == _ZERO) & ~categorical),
        output=output,
    )


def _beside_zero(threshold: NDArray[np.float64]) -> NDArray[np.float64]:
    """Move thresholds out of the band around zero in which LightGBM reads every value as zero."""
    inside = np.abs(threshold) <= ZERO
    beside = np.where(threshold >= 0, ZERO, np.nextafter(-ZERO, -np.inf))
    return np.where(inside, beside, threshold)


def _exact(raw: dict[str, str], key: str) -> NDArray[np.float64]:
    return np.array([float(word) for word in raw.get(key, "").split()])


def _categories(
    raw: dict[str, str], categorical: NDArray[np.bool_], threshold: NDArray[np.float64]
) -> dict[int, NDArray[np.uint32]]:
    if not categorical.any():
        return {}
    bounds = _numbers(raw, "cat_boundaries", np.int64)
    words = _numbers(raw, "cat_threshold", np.uint32)
    sets = {}
    for node in np.flatnonzero(categorical):
        index = int(threshold[node])
        sets[int(node)] = words[bounds[index] : bounds[index + 1]]
    return sets


def _classes(estimator: Any, objective: list[str], n_outputs: int) -> NDArray[Any] | None:
    name = objective[0] if objective else ""
    classes = getattr(estimator, "classes_", None) if hasattr(estimator, "_classes") else None
    if classes is not None and name in ("binary", "multiclass", "multiclassova"):
        return np.asarray(classes)
    if name in ("multiclass", "multiclassova"):
        return np.arange(n_outputs)
    return None
