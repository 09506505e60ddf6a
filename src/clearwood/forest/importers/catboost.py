"""CatBoost: oblivious and other trees on numeric columns, from its JSON export."""

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.errors import InputError
from clearwood.forest.build import Tree, assemble
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
    columns, missing_left = _columns(content)
    n_outputs = len(bias)
    if "oblivious_trees" in content:
        trees = [
            _oblivious(raw, columns, missing_left, n_outputs, scale)
            for raw in content["oblivious_trees"]
        ]
    else:
        trees = [_nested(raw, columns, missing_left, n_outputs, scale) for raw in content["trees"]]
    classes, link = _target(model, content, n_outputs)
    names = tuple(map(str, model.feature_names_))
    generated = names == tuple(map(str, range(len(names))))
    return assemble(
        trees,
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


def _columns(content: dict[str, Any]) -> tuple[dict[int, int], dict[int, bool]]:
    """Give, per numeric feature, its column in the user's table and the side of missing values."""
    columns, missing_left = {}, {}
    for feature in content["features_info"].get("float_features", []):
        index = feature["feature_index"]
        columns[index] = feature["flat_feature_index"]
        # compared as they are, missing values exceed no border
        missing_left[index] = feature["nan_value_treatment"] != "AsTrue"
    return columns, missing_left


def _split(
    split: dict[str, Any], columns: dict[int, int], missing_left: dict[int, bool]
) -> tuple[int, float, bool]:
    if split["split_type"] != "FloatFeature":
        raise InputError(
            "the CatBoost model splits on categories or text, which it keeps as hashes and target "
            "statistics that cannot be written as splits of your columns",
            hint="encode categories as numbers or one-hot columns before fitting CatBoost.",
        )
    index = split["float_feature_index"]
    return columns[index], float(np.float32(split["border"])), missing_left[index]


def _oblivious(
    raw: dict[str, Any],
    columns: dict[int, int],
    missing_left: dict[int, bool],
    n_outputs: int,
    scale: float,
) -> Tree:
    """Unfold a tree that asks one question per level; the last is the leaf number's top bit."""
    splits = [_split(split, columns, missing_left) for split in raw["splits"] or []]
    depth = len(splits)
    n_inner = 2**depth - 1
    level = np.repeat(np.arange(depth), 2 ** np.arange(depth))
    asked = [splits[depth - 1 - k] for k in level] + [(-1, 0.0, False)] * (n_inner + 1)
    feature, threshold, default_left = (np.array(part) for part in zip(*asked, strict=True))
    node = np.arange(2 * n_inner + 1)
    cover = np.zeros(2 * n_inner + 1)
    weights = raw.get("leaf_weights")
    cover[n_inner:] = np.nan if weights is None else weights
    for parent in range(n_inner - 1, -1, -1):
        cover[parent] = cover[2 * parent + 1] + cover[2 * parent + 2]
    value = np.zeros((2 * n_inner + 1, n_outputs))
    value[n_inner:] = scale * np.asarray(raw["leaf_values"], np.float64).reshape(-1, n_outputs)
    return Tree(
        left=np.where(node < n_inner, 2 * node + 1, -1),
        right=np.where(node < n_inner, 2 * node + 2, -1),
        feature=feature,
        threshold=threshold,
        default_left=default_left,
        value=value,
        cover=cover,
    )


def _nested(
    raw: dict[str, Any],
    columns: dict[int, int],
    missing_left: dict[int, bool],
    n_outputs: int,
    scale: float,
) -> Tree:
    """Flatten a tree of nested nodes, parents first."""
    nodes: list[dict[str, Any]] = [raw]
    left: list[int] = []
    right: list[int] = []
    asked: list[tuple[int, float, bool]] = []
    value: list[NDArray[np.float64]] = []
    at = 0
    while at < len(nodes):
        node = nodes[at]
        if "split" in node:
            left.append(len(nodes))
            right.append(len(nodes) + 1)
            nodes += [node["left"], node["right"]]
            asked.append(_split(node["split"], columns, missing_left))
            value.append(np.zeros(n_outputs))
        else:
            left.append(-1)
            right.append(-1)
            asked.append((-1, 0.0, False))
            value.append(scale * np.atleast_1d(np.asarray(node["value"], np.float64)))
        at += 1
    cover = np.array([float(node.get("weight", 0.0)) for node in nodes])
    for parent in range(len(nodes) - 1, -1, -1):
        if left[parent] >= 0:
            cover[parent] = cover[left[parent]] + cover[right[parent]]
    feature, threshold, default_left = (np.array(part) for part in zip(*asked, strict=True))
    return Tree(
        left=np.array(left),
        right=np.array(right),
        feature=feature,
        threshold=threshold,
        default_left=default_left,
        value=np.array(value),
        cover=cover,
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
