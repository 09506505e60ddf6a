"""XGBoost: all boosters of trees, missing values, categories, several classes and targets."""

import json
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.errors import InputError
from clearwood.forest.build import CategorySets, Trees, assemble, no_trees, spans
from clearwood.forest.forest import Forest
from clearwood.forest.inputs import default_names
from clearwood.forest.links import Link
from clearwood.kernels import UbjsonDocument, UbjsonError

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

# Objectives whose sums start from the base score itself; the others transform it first.
_STARTS_AT_BASE_SCORE = frozenset(
    {
        "reg:squarederror",
        "reg:absoluteerror",
        "reg:quantileerror",
        "reg:pseudohubererror",
        "reg:squaredlogerror",
        "multi:softmax",
        "multi:softprob",
        "rank:ndcg",
        "rank:map",
        "rank:pairwise",
    }
)

# Category codes are float32 in XGBoost, which holds no larger whole numbers exactly.
_MOST_CATEGORIES = 2**24


def xgboost(model: Any) -> Forest:
    """Import an estimator or booster; XGBoost rounds to float32 and adds trees in float32.

    An estimator stopped early uses the trees up to its best iteration, a booster all of them, as in
    XGBoost itself. Until XGBoost 3.2 a dart estimator and its booster differ in the last bits,
    there as here.
    """
    estimator = model if hasattr(model, "get_booster") else None
    booster = model if estimator is None else estimator.get_booster()
    try:
        return _read(UbjsonDocument(booster.save_raw("ubj")), estimator, type(model).__name__)
    except UbjsonError as error:
        from xgboost import __version__

        raise InputError(
            f"XGBoost {__version__} wrote the model in a form Clearwood does not know: {error}",
            hint="save the model, load it with another version of XGBoost 3 and try again.",
        ) from None


def _read(document: UbjsonDocument, estimator: Any, kind: str) -> Forest:
    learner = {
        name: document.value(document.find("learner", name))
        for name in ("feature_names", "learner_model_param", "objective")
    }
    booster = document.find("learner", "gradient_booster")
    if document.value(document.find("name", within=booster)) == "gblinear":
        raise InputError(
            "an XGBoost model with booster='gblinear' has no trees",
            hint="fit it with booster='gbtree' or 'dart'.",
        )
    # until XGBoost 3.2 dart was a booster around another, and estimators predicted with it in a way
    # of their own
    around = document.has("gbtree", within=booster)
    model = document.find(*(("gbtree", "model") if around else ("model",)), within=booster)
    records = document.find("trees", within=model)
    if document.count(records) == 0:
        raise no_trees()
    margin = _base_margin(learner)
    trees = _trees(
        document,
        records,
        output=np.asarray(document.value(document.find("tree_info", within=model))),
        weight=_weights(document, booster, model),
        start=margin if around and estimator is not None else None,
    )
    n_features = int(learner["learner_model_param"]["num_feature"])
    objective = learner["objective"]["name"]
    return assemble(
        trees if estimator is None else trees.first(_n_trees(document, model)),
        base=margin.astype(np.float64),
        feature_names=tuple(learner["feature_names"]) or default_names(n_features),
        levels=_levels(document, model, n_features),
        link=_LINKS.get(objective, "identity"),
        exponential="C",
        precision="float32",
        accumulate="float32",
        classes=_classes(estimator, objective, len(margin)),
        # XGBoost compares what it predicts with a half, even where that is the raw score
        positive_above=0.5 if objective == "binary:logitraw" else 0.0,
        missing_value=None if estimator is None else _mark(estimator.missing),
        source=f"XGBoost {kind}",
    )


def _weights(document: UbjsonDocument, booster: int, model: int) -> NDArray[np.float32] | None:
    """Return the weights of dart's trees, which are in the model since 3.4, around it before."""
    for place in (booster, model):
        if document.has("weight_drop", within=place):
            weights = document.value(document.find("weight_drop", within=place))
            return np.asarray(weights, np.float32)
    return None


def _n_trees(document: UbjsonDocument, model: int) -> int | None:
    """How many trees there are up to the best iteration, where the fit was stopped early."""
    attributes = document.value(document.find("learner", "attributes"))
    if "best_iteration" not in attributes:
        return None
    ends = document.value(document.find("iteration_indptr", within=model))
    return int(ends[int(attributes["best_iteration"]) + 1])


def _mark(missing: Any) -> float | None:
    return None if missing is None or np.isnan(missing) else float(missing)


def _base_margin(learner: dict[str, Any]) -> NDArray[np.float32]:
    """Return the values that the sums start from.

    The file keeps the base score on the target's scale. Where the objective transforms it, XGBoost
    predicts with a model that has no trees, which gives its own rounding to the last bit.
    """
    params = learner["learner_model_param"]
    n_outputs = max(int(params["num_class"]), int(params.get("num_target", 1)), 1)
    if learner["objective"]["name"] in _STARTS_AT_BASE_SCORE:
        score = np.array(json.loads(params["base_score"]), np.float32)
        return np.resize(score, n_outputs)
    import xgboost

    trees = {
        "gbtree_model_param": {"num_parallel_tree": "1", "num_trees": "0"},
        "iteration_indptr": [0],
        "tree_info": [],
        "trees": [],
        "cats": {"enc": [], "feature_segments": [], "sorted_idx": []},
    }
    empty = {
        "learner": {
            "attributes": {},
            "feature_names": [],
            "feature_types": [],
            "gradient_booster": {"name": "gbtree", "model": trees},
            # the score is as it is: without trees XGBoost would otherwise still want to estimate it
            "learner_model_param": params | {"boost_from_average": "0", "num_feature": "1"},
            "objective": learner["objective"],
        },
        "version": list(map(int, xgboost.__version__.split(".")[:3])),
    }
    probe = xgboost.Booster()
    probe.load_model(bytearray(json.dumps(empty), "utf-8"))
    return np.asarray(probe.predict(_one_row(), output_margin=True), np.float32).ravel()


@cache
def _one_row() -> Any:
    from xgboost import DMatrix

    return DMatrix(np.zeros((1, 1), np.float32))


def _levels(
    document: UbjsonDocument, model: int, n_features: int
) -> tuple[tuple[Any, ...] | None, ...]:
    """Return the labels a model was fitted to; None where it was fitted to codes."""
    encoded: list[dict[str, Any]] = []
    if document.has("cats", within=model):
        encoded = document.value(document.find("cats", "enc", within=model))
    if not encoded:
        return (None,) * n_features
    levels: list[tuple[Any, ...] | None] = []
    for column in encoded:
        if "offsets" in column:
            text = column["values"].astype(np.uint8).tobytes()
            if not text.isascii():
                # XGBoost counts characters where it means bytes, so labels run into each other
                raise InputError(
                    "XGBoost writes category labels with letters outside ASCII wrongly into its "
                    "models, so it is not known which category is which",
                    hint="fit it to labels without them, or to category codes.",
                )
            labels = [text[a:b].decode() for a, b in pairwise(column["offsets"].tolist())]
            levels.append(tuple(labels) or None)
        else:
            levels.append(tuple(column["values"].tolist()) or None)
    return tuple(levels)


def _trees(
    document: UbjsonDocument,
    records: int,
    *,
    output: NDArray[np.int64],
    weight: NDArray[np.float32] | None,
    start: NDArray[np.float32] | None,
) -> Trees:
    """Read the trees; with a start, their values are rounded as dart's are."""
    left, sizes = document.column(records, "left_children")

    def nodes(name: str) -> NDArray[Any]:
        values, counts = document.column(records, name)
        if not np.array_equal(counts, sizes):
            raise UbjsonError(f"{name!r} does not have one entry per node")
        return values

    right, condition = nodes("right_children"), nodes("split_conditions")
    if condition.dtype != np.float32:
        raise UbjsonError("'split_conditions' are not of single precision")
    leaf = left < 0
    value: NDArray[np.float32] = condition
    if (size := _leaf_size(document, records)) > 1:
        value = _vector_leaves(document, records, size, right=right, leaf=leaf, sizes=sizes)
        output = np.full(len(sizes), -1)
    # until XGBoost 3.1 trees with vectors in their leaves did not keep it
    has_cover = document.has("sum_hessian", within=records + 1)
    if start is not None:
        value = _beyond(value, start, output, sizes)
    sets = _sets(document, records, sizes)
    return Trees(
        sizes=sizes,
        left=left,
        right=right,
        feature=nodes("split_indices"),
        threshold=_just_below(condition),
        default_left=nodes("default_left"),
        value=value,
        cover=nodes("sum_hessian") if has_cover else np.full(len(leaf), np.nan),
        sets=sets,
        unseen_left=None if sets is None else nodes("split_type"),
        output=output,
        weight=1.0 if weight is None else weight,
    )


def _just_below(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the largest float32 below each value: x < t in float32 is x <= that.

    Floats of one sign are ordered as their bits are; `numpy.nextafter` takes several times as long.
    """
    bits = values.view(np.int32)
    below = np.where(values > 0, bits - np.int32(1), bits + np.int32(1))
    below[values == 0] = np.float32(-1e-45).view(np.int32)
    below[np.isneginf(values)] = np.float32(-np.inf).view(np.int32)
    return below.view(np.float32)


def _leaf_size(document: UbjsonDocument, records: int) -> int:
    """How many numbers a leaf holds, the same in all trees of a model."""
    first = records + 1
    return int(document.value(document.find("tree_param", "size_leaf_vector", within=first)))


def _beyond(
    value: NDArray[Any], start: NDArray[np.float32], output: NDArray[Any], sizes: NDArray[Any]
) -> NDArray[Any]:
    """Round the trees' values as estimators did with dart until XGBoost 3.2.

    They predicted one tree at a time, start included, and took the start off again before weighing
    what was left: the leaf, rounded to the precision of the sum.
    """
    begins = start if value.ndim > 1 else np.repeat(start[output], sizes)
    return np.asarray((begins + value) - begins)


def _vector_leaves(
    document: UbjsonDocument,
    records: int,
    size: int,
    *,
    right: NDArray[Any],
    leaf: NDArray[np.bool_],
    sizes: NDArray[Any],
) -> NDArray[np.float32]:
    """Read one vector per leaf."""
    if document.has("leaf_weights", within=records + 1):
        # numbered in the leaves' right children
        vectors, counts = document.column(records, "leaf_weights")
        n_vectors, at = counts // size, right
    else:  # until XGBoost 3.1: one vector per node
        vectors, counts = document.column(records, "base_weights")
        n_vectors, at = counts // size, spans(np.zeros_like(sizes), sizes)
    inside = (at >= 0) & (at < np.repeat(n_vectors, sizes))
    if len(vectors) != size * n_vectors.sum() or not inside[leaf].all():
        raise UbjsonError("the trees do not have one vector per leaf")
    at = at + np.repeat(np.cumsum(n_vectors) - n_vectors, sizes)
    value = np.zeros((len(leaf), size), np.float32)
    value[leaf] = vectors.reshape(-1, size)[at[leaf]]
    return value


def _sets(document: UbjsonDocument, records: int, sizes: NDArray[Any]) -> CategorySets | None:
    """Read the categories that go left: XGBoost lists those that go right, seen or not."""
    node, n_sets = document.column(records, "categories_nodes")
    if len(node) == 0:
        return None
    count, n_counts = document.column(records, "categories_sizes")
    begin, n_begins = document.column(records, "categories_segments")
    categories, n_categories = document.column(records, "categories")
    tree = np.repeat(np.arange(len(sizes)), n_sets)
    if (
        not (np.array_equal(n_counts, n_sets) and np.array_equal(n_begins, n_sets))
        or ((count < 0) | (begin < 0) | (begin + count > n_categories[tree])).any()
        or ((node < 0) | (node >= sizes[tree])).any()
        or categories.min(initial=0) < 0
        or categories.max(initial=0) >= _MOST_CATEGORIES
    ):
        raise UbjsonError("the categories of the nodes are not within their lists")
    first = (np.cumsum(n_categories) - n_categories)[tree] + begin
    node = (np.cumsum(sizes) - sizes)[tree] + node
    sets = CategorySets.of_categories(node, count, categories[spans(first, count)])
    return CategorySets(sets.node, sets.size, ~sets.words)


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
