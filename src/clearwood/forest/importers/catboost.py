"""CatBoost: oblivious and other trees on numeric columns, from its JSON export."""

import json
import tempfile
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.errors import InputError
from clearwood.forest.build import Trees, assemble, spans
from clearwood.forest.forest import Forest
from clearwood.forest.inputs import default_names
from clearwood.forest.links import Link

__all__ = ["catboost"]

_LINKS: dict[str, Link] = {
    "Logloss": "logistic",
    "CrossEntropy": "logistic",
    "MultiClass": "softmax",
    "MultiClassOneVsAll": "logistic",
    "Poisson": "log",
    "Tweedie": "log",
    "LogCosh": "identity",
}


def catboost(model: Any) -> Forest:
    """Import a model on numeric columns; values and borders are float32, sums float64.

    CatBoost adds trees in blocks whose order it does not document, so sums agree to within one
    unit in the last place per tree rather than to the last bit.
    """
    content = _exported(model)
    scale, bias = content["scale_and_bias"]
    bias = np.atleast_1d(np.asarray(bias, np.float64))
    n_outputs = len(bias)
    columns = _columns(content)
    if "oblivious_trees" in content:
        trees = _oblivious(content["oblivious_trees"], columns, n_outputs)
    else:
        trees = _nested(content["trees"], columns, n_outputs)
    classes, link = _target(model, content, n_outputs)
    names = tuple(map(str, model.feature_names_))
    generated = names == tuple(map(str, range(len(names))))
    return assemble(
        replace(trees, value=scale * trees.value),
        base=bias,
        feature_names=default_names(len(names)) if generated else names,
        link=link,
        precision="float32",
        classes=classes,
        source=f"CatBoost {type(model).__name__}",
    )


def _exported(model: Any) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json")
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


class _Column(NamedTuple):
    """A numeric feature: its column in the user's table and the side of missing values."""

    position: int
    missing_left: bool


_LEAF = _Column(-1, missing_left=False)


def _columns(content: dict[str, Any]) -> dict[int, _Column]:
    """Give the columns behind CatBoost's own numbers of numeric features."""
    return {
        # compared as they are, missing values exceed no border
        feature["feature_index"]: _Column(
            feature["flat_feature_index"],
            missing_left=feature["nan_value_treatment"] != "AsTrue",
        )
        for feature in content["features_info"].get("float_features", [])
    }


def _column(split: dict[str, Any], columns: dict[int, _Column]) -> _Column:
    if split["split_type"] != "FloatFeature":
        raise InputError(
            "the CatBoost model splits on categories or text, which it keeps as hashes and target "
            "statistics that cannot be written as splits of your columns",
            hint="encode categories as numbers or one-hot columns before fitting CatBoost.",
        )
    return columns[split["float_feature_index"]]


def _oblivious(raw: list[dict[str, Any]], columns: dict[int, _Column], n_outputs: int) -> Trees:
    """Unfold trees with one split per level; the last split is the leaf number's top bit."""
    depth = np.array([len(tree["splits"] or ()) for tree in raw])
    # per tree its levels from the root down, then its leaves
    split: list[tuple[_Column, float]] = []
    for tree in raw:
        split += [(_column(one, columns), one["border"]) for one in reversed(tree["splits"] or ())]
        split.append((_LEAF, 0.0))
    width = 2 ** spans(np.zeros_like(depth), depth + 1)
    size = 2 ** (depth + 1) - 1
    start = np.cumsum(size) - size
    node = spans(np.zeros_like(size), size)
    leaf = node >= np.repeat(2**depth - 1, size)
    value = np.zeros((len(node), n_outputs))
    value[leaf] = _joined(raw, "leaf_values").reshape(-1, n_outputs)
    cover = np.full(len(node), np.nan)
    if all(tree.get("leaf_weights") is not None for tree in raw):
        cover[leaf] = _joined(raw, "leaf_weights")
        for level in range(depth.max(initial=0) - 1, -1, -1):
            deep = depth > level
            parent = spans(np.full(deep.sum(), 2**level - 1), np.full(deep.sum(), 2**level))
            first = np.repeat(start[deep], 2**level)
            below = first + 2 * parent + 1
            cover[first + parent] = cover[below] + cover[below + 1]

    def per_node(values: list[Any], dtype: type) -> NDArray[Any]:
        return np.repeat(np.array(values, dtype), width)

    return Trees(
        sizes=size,
        left=np.where(leaf, -1, 2 * node + 1),
        right=2 * node + 2,
        feature=per_node([column.position for column, _ in split], np.int64),
        threshold=per_node([border for _, border in split], np.float32),
        default_left=per_node([column.missing_left for column, _ in split], np.bool_),
        value=value,
        cover=cover,
    )


def _joined(raw: list[dict[str, Any]], key: str) -> NDArray[np.float64]:
    return np.array(list(chain.from_iterable(tree[key] for tree in raw)), np.float64)


def _nested(raw: list[dict[str, Any]], columns: dict[int, _Column], n_outputs: int) -> Trees:
    """Flatten trees of nested nodes, parents first."""
    left: list[int] = []
    split: list[tuple[_Column, float]] = []
    value: list[Any] = []
    cover: list[float] = []
    sizes: list[int] = []
    nothing = [0.0] * n_outputs if n_outputs > 1 else 0.0
    for tree in raw:
        nodes = [tree]
        start = len(left)
        for node in nodes:  # which grows
            if "split" in node:
                left.append(len(nodes))
                nodes += (node["left"], node["right"])
                split.append((_column(node["split"], columns), node["split"]["border"]))
                value.append(nothing)
                cover.append(0.0)
            else:
                left.append(-1)
                split.append((_LEAF, 0.0))
                value.append(node["value"])
                cover.append(float(node.get("weight", 0.0)))
        for parent in range(len(left) - 1, start - 1, -1):
            if left[parent] >= 0:
                child = start + left[parent]
                cover[parent] = cover[child] + cover[child + 1]
        sizes.append(len(nodes))
    return Trees(
        sizes=sizes,
        left=np.array(left),
        right=np.array(left) + 1,
        feature=np.array([column.position for column, _ in split]),
        threshold=np.array([border for _, border in split], np.float32),
        default_left=np.array([column.missing_left for column, _ in split]),
        value=np.array(value, np.float64).reshape(-1, n_outputs),
        cover=np.array(cover),
    )


def _target(
    model: Any, content: dict[str, Any], n_outputs: int
) -> tuple[NDArray[Any] | None, Link]:
    params = content["model_info"].get("params", {})
    params = json.loads(params) if isinstance(params, str) else params
    loss = params.get("loss_function", {}).get("type", "")
    link = _LINKS.get(loss, "identity")
    if loss == "RMSEWithUncertainty":
        raise InputError(
            "CatBoost's RMSEWithUncertainty predicts a mean and a variance together",
            hint="fit one of them with loss_function='RMSE'.",
        )
    classes = np.asarray(model.classes_) if link in ("logistic", "softmax") else np.empty(0)
    if len(classes) == (2 if n_outputs == 1 else n_outputs):
        return classes, link
    return None, link
