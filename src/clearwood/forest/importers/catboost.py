"""CatBoost: oblivious and other trees on numeric columns, from its binary file."""

import json
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.errors import InputError
from clearwood.forest.build import Trees, assemble, levels, no_trees, spans
from clearwood.forest.forest import Forest
from clearwood.forest.importers.flatbuffers import FlatTable, root
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


# Numbers of the fields in the schema of CatBoost's files (model.fbs and features.fbs).
_TREES, _INFO = 1, 2
_KEY, _VALUE = 0, 1
_SPLITS, _SIZES, _FEATURES = 1, 2, 5
_LEAVES, _WEIGHTS, _STEPS, _LEAF_OF_NODE = 8, 9, 10, 11
_FLAT_INDEX, _BORDERS, _MISSING = 2, 3, 5
_AS_TRUE = 2
_MAGIC = b"CBM1"


def catboost(model: Any) -> Forest:
    """Import a model on numeric columns; values and borders are float32, sums float64.

    CatBoost adds trees in blocks whose order it does not document, so sums agree to within one
    unit in the last place per tree rather than to the last bit.
    """
    core = _core(model)
    trees = core.table(_TREES)
    if trees is None:
        raise no_trees()
    scale, bias = model.get_scale_and_bias()
    base = np.atleast_1d(np.asarray(bias, np.float64))
    read = _oblivious if len(trees.vector(_STEPS, "<u4")) == 0 else _any_shape
    classes, link = _target(model, core, len(base))
    names = tuple(map(str, model.feature_names_))
    generated = names == tuple(map(str, range(len(names))))
    return assemble(
        read(trees, len(base), scale),
        base=base,
        feature_names=default_names(len(names)) if generated else names,
        link=link,
        precision="float32",
        classes=classes,
        source=f"CatBoost {type(model).__name__}",
    )


def _core(model: Any) -> FlatTable:
    """Return the outermost table of a model's file, which follows a mark and its own length."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.cbm"
        model.save_model(str(path), format="cbm")
        data = path.read_bytes()
    if data[:4] != _MAGIC:
        raise InputError(
            "CatBoost wrote the model in a form Clearwood does not know",
            hint="load it with CatBoost 1.2 and try again.",
        )
    return root(data[8:])


class _Splits(NamedTuple):
    feature: NDArray[Any]
    threshold: NDArray[Any]
    default_left: NDArray[Any]

    def at(self, nodes: NDArray[Any]) -> "_Splits":
        return _Splits(*(values[nodes] for values in self))


def _splits(trees: FlatTable, used: NDArray[np.bool_] | None = None) -> _Splits:
    """Read the splits: numbers of borders, counted over the columns."""
    columns = trees.tables(_FEATURES)
    borders = [column.vector(_BORDERS, "<f4") for column in columns]
    counts = [len(values) for values in borders]
    split = trees.vector(_SPLITS, "<i4")
    split = split if used is None else np.where(used, split, -1)
    if split.max(initial=-1) >= sum(counts):
        raise InputError(
            "the CatBoost model splits on categories or text, which it keeps as hashes and target "
            "statistics that cannot be written as splits of your columns",
            hint="encode categories as numbers or one-hot columns before fitting CatBoost.",
        )
    flat = [column.number(_FLAT_INDEX, "<i4", default=-1) for column in columns]
    # compared as they are, missing values exceed no border
    left = [column.number(_MISSING, "i1", default=0) != _AS_TRUE for column in columns]
    unused = [np.zeros(1, np.float32)]
    every = _Splits(
        feature=np.repeat([*flat, -1], [*counts, 1]),
        threshold=np.concatenate([*borders, *unused]),
        default_left=np.repeat([*left, False], [*counts, 1]),
    )
    return every.at(split)


def _oblivious(trees: FlatTable, n_outputs: int, scale: float) -> Trees:
    """Unfold trees with one split per level; the last split is the leaf number's top bit."""
    depth = trees.vector(_SIZES, "<i4").astype(np.int64)
    size = 2 ** (depth + 1) - 1
    start = np.cumsum(size) - size
    node = spans(np.zeros_like(size), size)
    leaf = node >= np.repeat(2**depth - 1, size)
    value = np.zeros((len(node), n_outputs))
    value[leaf] = scale * trees.vector(_LEAVES, "<f8").reshape(-1, n_outputs)
    cover = np.full(len(node), np.nan)
    weights = trees.vector(_WEIGHTS, "<f8")
    if len(weights):
        cover[leaf] = weights
    for level in range(depth.max(initial=0) - 1, -1, -1):
        deep = depth > level
        parent = spans(np.full(deep.sum(), 2**level - 1), np.full(deep.sum(), 2**level))
        first = np.repeat(start[deep], 2**level)
        below = first + 2 * parent + 1
        cover[first + parent] = cover[below] + cover[below + 1]
    # per tree its levels from the root down, each as often as it has nodes
    levels = spans(np.zeros_like(depth), depth)
    last_first = np.repeat(np.cumsum(depth) - 1, depth) - levels
    inner = _splits(trees).at(np.repeat(last_first, 2**levels))
    feature, threshold, default_left = np.zeros((3, len(node)))
    feature[~leaf], threshold[~leaf], default_left[~leaf] = inner
    return Trees(
        sizes=size,
        left=np.where(leaf, -1, 2 * node + 1),
        right=2 * node + 2,
        feature=feature,
        threshold=threshold,
        default_left=default_left,
        value=value,
        cover=cover,
    )


def _any_shape(trees: FlatTable, n_outputs: int, scale: float) -> Trees:
    """Read trees of any shape, their nodes in the order of the levels.

    A node has the distances to its two children. A distance of zero ends at the node itself, which
    is a leaf where both are zero and has a leaf on one side where one is.
    """
    sizes = trees.vector(_SIZES, "<i4").astype(np.int64)
    steps = trees.vector(_STEPS, "<u4").view("<u2").astype(np.int64).reshape(-1, 2)
    n_written = len(steps)
    one_sided = np.flatnonzero((steps > 0).sum(axis=1) == 1)
    node = np.concatenate([np.arange(n_written), one_sided])  # leaves on one side come last
    tree = np.repeat(np.arange(len(sizes)), sizes)[node]
    children = np.full((len(node), 2), -1)
    children[:n_written] = np.where(steps > 0, node[:n_written, None] + steps, -1)
    ends_right = steps[one_sided, 0] > 0
    children[one_sided, ends_right.astype(int)] = np.arange(n_written, len(node))
    left, right = children.T
    leaf = left < 0
    leaf_number = trees.vector(_LEAF_OF_NODE, "<u4")[node[leaf]] // n_outputs
    value = np.zeros((len(node), n_outputs))
    value[leaf] = scale * trees.vector(_LEAVES, "<f8").reshape(-1, n_outputs)[leaf_number]
    cover = np.full(len(node), np.nan)
    weights = trees.vector(_WEIGHTS, "<f8")
    if len(weights):
        cover[leaf] = weights[leaf_number]
    by_level = levels(left, right, np.cumsum(sizes) - sizes)
    for level in reversed(by_level):
        inner = level[~leaf[level]]
        cover[inner] = cover[left[inner]] + cover[right[inner]]
    order = np.concatenate(by_level)
    order = order[np.argsort(tree[order], kind="stable")]
    n_nodes = np.bincount(tree, minlength=len(sizes))
    place = np.empty(len(node) + 1, np.int64)  # the last is of no child
    place[order] = spans(np.zeros_like(n_nodes), n_nodes)
    place[-1] = -1
    splits = _splits(trees, ~leaf[:n_written]).at(node[order])
    return Trees(
        sizes=n_nodes,
        left=place[left[order]],
        right=place[right[order]],
        feature=splits.feature,
        threshold=splits.threshold,
        default_left=splits.default_left,
        value=value[order],
        cover=cover[order],
    )


def _target(model: Any, core: FlatTable, n_outputs: int) -> tuple[NDArray[Any] | None, Link]:
    info = {entry.text(_KEY): entry.text(_VALUE) for entry in core.tables(_INFO)}
    params = json.loads(info.get("params", "{}"))
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
