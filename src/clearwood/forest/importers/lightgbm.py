"""LightGBM: all kinds of missing values, categories and several classes, from its model text."""

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.errors import InputError
from clearwood.forest.build import CategorySets, Trees, assemble, no_trees, spans
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
        _trees(trees, per_iteration),
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
        raise no_trees()

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
    """Return the labels of the columns that were pandas categories, in their order."""
    tail = text.rpartition("pandas_categorical:")[2].strip()
    labels = booster.pandas_categorical or (json.loads(tail) if tail[:1] == "[" else None)
    levels: list[tuple[Any, ...] | None] = [None] * n_features
    if not labels:
        return tuple(levels)
    categorical = _categorical_columns(text)
    if len(categorical) != len(labels):
        raise InputError(
            "it is unknown which columns the category labels of the LightGBM model belong to",
            hint="make every categorical column of the data frame a pandas category.",
        )
    for column, column_labels in zip(categorical, labels, strict=True):
        levels[column] = tuple(column_labels)
    return tuple(levels)


def _categorical_columns(text: str) -> list[int]:
    key = "[categorical_feature:"
    line = next((line for line in text.splitlines() if line.startswith(key)), key)
    return [int(word) for word in line[len(key) :].strip(" ]").split(",") if word]


def _trees(raw: list[dict[str, str]], per_iteration: int) -> Trees:
    """Read the trees; LightGBM numbers splits from 0 and leaves from -1 downwards."""
    if any(tree.get("is_linear", "0") == "1" for tree in raw):
        raise InputError(
            "the LightGBM model has linear functions in its leaves (linear_tree=True), so it is "
            "not piecewise constant",
            hint="fit it with linear_tree=False.",
        )
    n_leaves = np.array([int(tree["num_leaves"]) for tree in raw])
    n_splits = n_leaves - 1
    is_split = np.repeat(
        np.tile([True, False], len(raw)), np.column_stack([n_splits, n_leaves]).ravel()
    )

    def of_splits(values: NDArray[Any], fill: Any = 0) -> NDArray[Any]:
        padded = np.full(len(is_split), fill, values.dtype)
        padded[is_split] = values
        return padded

    def children(key: str) -> NDArray[Any]:
        index = _numbers(raw, key, n_splits, np.int64)
        return of_splits(np.where(index >= 0, index, np.repeat(n_splits, n_splits) + ~index), -1)

    threshold = _numbers(raw, "threshold", n_splits, np.float64)
    decision = _numbers(raw, "decision_type", n_splits, np.int64)
    missing = (decision >> _MISSING_SHIFT) & 3
    categorical = (decision & _CATEGORICAL) > 0
    # where nothing counts as missing, NaN is compared as zero; categories never default left
    default_left = np.where(missing == _NOTHING, threshold >= 0.0, (decision & _DEFAULT_LEFT) > 0)
    value = np.zeros(len(is_split))
    value[~is_split] = _numbers(raw, "leaf_value", n_leaves, np.float64)
    cover = of_splits(_numbers(raw, "internal_count", n_splits, np.float64))
    cover[~is_split] = _leaf_cover(raw, n_leaves)
    return Trees(
        sizes=n_splits + n_leaves,
        left=children("left_child"),
        right=children("right_child"),
        feature=of_splits(_numbers(raw, "split_feature", n_splits, np.int64)),
        threshold=of_splits(np.where(categorical, 0.0, _beside_zero(threshold))),
        default_left=of_splits(default_left & ~categorical),
        value=value,
        cover=cover,
        sets=_sets(raw, of_splits(categorical), of_splits(threshold), n_splits + n_leaves),
        zero_missing=of_splits((missing == _ZERO) & ~categorical),
        output=np.arange(len(raw)) % per_iteration,
    )


def _numbers(
    raw: list[dict[str, str]], key: str, counts: NDArray[np.int64] | None, dtype: type
) -> NDArray[Any]:
    """Read the numbers that all trees have under a key, one tree after another."""
    lines = [tree.get(key, "") for tree in raw]
    if counts is not None:
        # a tree of one leaf has no splits, yet some versions write something for them
        lines = [line if count else "" for line, count in zip(lines, counts.tolist(), strict=True)]
    numbers: NDArray[Any] = np.fromstring(" ".join(lines), dtype, sep=" ")
    wrong = counts is not None and _counts(lines) != counts.tolist()
    if wrong or len(numbers) != sum(_counts(lines)):
        raise InputError(f"the LightGBM model does not have one number per node under {key!r}")
    return numbers


def _counts(lines: list[str]) -> list[int]:
    return [len(line.split()) for line in lines]


def _leaf_cover(raw: list[dict[str, str]], n_leaves: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the weight of the rows in each leaf; NaN in trees that do not record it."""
    known = [
        tree if len(tree.get("leaf_count", "").split()) == n else {"leaf_count": "nan " * n}
        for tree, n in zip(raw, n_leaves.tolist(), strict=True)
    ]
    return _numbers(known, "leaf_count", n_leaves, np.float64)


def _beside_zero(threshold: NDArray[np.float64]) -> NDArray[np.float64]:
    """Move thresholds out of the band around zero in which LightGBM reads every value as zero."""
    inside = np.abs(threshold) <= ZERO
    beside = np.where(threshold >= 0, ZERO, np.nextafter(-ZERO, -np.inf))
    return np.where(inside, beside, threshold)


def _sets(
    raw: list[dict[str, str]],
    categorical: NDArray[np.bool_],
    threshold: NDArray[np.float64],
    sizes: NDArray[np.int64],
) -> CategorySets | None:
    """Read the bit sets; the threshold of a categorical split is the number of its set."""
    node = np.flatnonzero(categorical)
    if len(node) == 0:
        return None
    tree = np.repeat(np.arange(len(sizes)), sizes)[node]
    n_words = np.array(_counts([block.get("cat_threshold", "") for block in raw]))
    n_bounds = np.array(_counts([block.get("cat_boundaries", "") for block in raw]))
    bounds = _numbers(raw, "cat_boundaries", None, np.int64)
    words = _numbers(raw, "cat_threshold", None, np.int64)
    at = (np.cumsum(n_bounds) - n_bounds)[tree] + threshold[node].astype(np.int64)
    size = bounds[at + 1] - bounds[at]
    first = (np.cumsum(n_words) - n_words)[tree] + bounds[at]
    return CategorySets(node, size, words[spans(first, size)].astype(np.uint32))


def _classes(estimator: Any, objective: list[str], n_outputs: int) -> NDArray[Any] | None:
    name = objective[0] if objective else ""
    classes = getattr(estimator, "classes_", None) if hasattr(estimator, "_classes") else None
    if classes is not None and name in ("binary", "multiclass", "multiclassova"):
        return np.asarray(classes)
    if name in ("multiclass", "multiclassova"):
        return np.arange(n_outputs)
    return None
