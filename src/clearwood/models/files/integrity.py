"""Checks of loaded models, where a library does not check its own arrays.

Trees of scikit-learn follow node numbers without checking that they lie inside
the arrays: a tampered file could make a prediction read outside of memory. skops therefore leaves
trees to its caller; here they are loaded and then looked at. Classes of our own that follow numbers
inside their arrays have a method ``__clearwood_sound__``.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Bools
from clearwood.files import damaged

__all__ = ["check_structure", "objects", "replace"]


# Traversing the objects that an estimator consists of.


def replace(root: Any, swap: Callable[[Any], Any]) -> Any:
    """Return the same estimator with some parts swapped, leaving the original untouched.

    Only what holds a swapped part is copied. A part met twice is swapped once, so that what was
    shared stays shared.

    Examples
    --------
    >>> parts = {"steps": [("scale", 1), ("model", 2)]}
    >>> replace(parts, lambda part: 3 if part == 2 else part)
    {'steps': [('scale', 1), ('model', 3)]}
    >>> parts
    {'steps': [('scale', 1), ('model', 2)]}
    """
    done: dict[int, tuple[Any, Any]] = {}  # the part is kept, so that its id stays its own

    def visit(part: Any) -> Any:
        if id(part) in done:
            return done[id(part)][1]
        done[id(part)] = (part, part)
        new = swap(part)
        if new is part:
            new = rebuilt(part)
        done[id(part)] = (part, new)
        return new

    def rebuilt(part: Any) -> Any:
        if isinstance(part, dict):
            values = {key: visit(value) for key, value in part.items()}
            if all(values[key] is part[key] for key in part):
                return part
            copy = type(part)()
            copy.update(values)
            return copy
        if type(part) in (list, tuple):
            items = [visit(item) for item in part]
            return part if _same(items, part) else type(part)(items)
        if isinstance(part, np.ndarray):
            return _rebuilt_array(part, visit)
        if _is_ours_to_open(part):
            attributes = {name: visit(value) for name, value in vars(part).items()}
            if all(attributes[name] is value for name, value in vars(part).items()):
                return part
            copy = object.__new__(type(part))
            vars(copy).update(attributes)
            return copy
        return part

    return visit(root)


def _rebuilt_array(part: np.ndarray[Any, Any], visit: Callable[[Any], Any]) -> Any:
    if part.dtype != object:
        return part
    items = [visit(item) for item in part.flat]
    if _same(items, part.flat):
        return part
    copy = np.empty(part.shape, dtype=object)
    copy.flat[:] = items
    return copy


def _same(items: list[Any], originals: Any) -> bool:
    return all(new is old for new, old in zip(items, originals, strict=True))


def objects(root: Any) -> Iterator[Any]:
    """Go over everything an estimator holds, each object once."""
    seen: dict[int, Any] = {}
    waiting = [root]
    while waiting:
        part = waiting.pop()
        if id(part) in seen or part is None or isinstance(part, str | int | float):
            continue
        seen[id(part)] = part
        yield part
        if isinstance(part, dict):
            waiting.extend(part.values())
        elif isinstance(part, list | tuple):
            waiting.extend(part)
        elif isinstance(part, np.ndarray):
            if part.dtype == object:
                waiting.extend(part.flat)
        elif _is_ours_to_open(part):
            waiting.extend(vars(part).values())


def _is_ours_to_open(part: Any) -> bool:
    return hasattr(part, "__dict__") and not isinstance(part, type) and not callable(part)


#: A set of up to 256 categories, as histogram boosting keeps it: eight words of 32 bits.
_WORDS = 8


def check_structure(model: Any) -> None:
    """Raise where a tree inside a loaded estimator leads outside of its arrays.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> tree = DecisionTreeRegressor().fit([[0.0], [1.0]], [0.0, 1.0])
    >>> check_structure(tree)
    """
    for part in objects(model):
        own = getattr(type(part), "__clearwood_sound__", None)
        check = _CHECKS.get(f"{type(part).__module__}.{type(part).__name__}", own)
        if check is not None and not check(part):
            raise damaged(
                f"the model in the file is damaged: a {type(part).__name__} points outside of its "
                "own arrays"
            )
        _check_columns(part)


def _check_columns(estimator: Any) -> None:
    """Raise where a tree reads columns that the estimator around it does not have."""
    width = getattr(estimator, "n_features_in_", None)
    if not isinstance(width, int):
        return
    mapper = getattr(estimator, "_bin_mapper", None)
    if mapper is not None:  # histogram boosting looks its columns up in here
        width = min(width, len(mapper.is_categorical_))
    read = max(_columns_read(estimator), default=0)
    if read > width:
        raise damaged(
            f"the model in the file is damaged: a tree reads {read} columns, the model has {width}"
        )


def _columns_read(estimator: Any) -> Iterator[int]:
    members = getattr(estimator, "estimators_", ())
    members = members.flat if isinstance(members, np.ndarray) else members
    for member in (estimator, *members):
        tree = getattr(member, "tree_", None)
        if tree is not None:
            yield int(tree.n_features)
    for predictors in getattr(estimator, "_predictors", ()):
        for predictor in predictors:
            yield int(predictor.nodes["feature_idx"].max(initial=-1)) + 1


def _tree_is_sound(tree: Any) -> bool:
    left, right = tree.children_left, tree.children_right
    inner = left != -1
    return (
        tree.node_count > 0
        and bool(np.all((right != -1) == inner))
        and _leads_onward(left, right, inner)
        and _within(tree.feature[inner], tree.n_features)
    )


def _histogram_tree_is_sound(predictor: Any) -> bool:
    nodes = predictor.nodes
    inner = nodes["is_leaf"] == 0
    categorical = inner & (nodes["is_categorical"] != 0)
    bitsets = (predictor.binned_left_cat_bitsets, predictor.raw_left_cat_bitsets)
    return (
        len(nodes) > 0
        and all(bits.ndim == 2 and bits.shape[1] == _WORDS for bits in bitsets)
        and _leads_onward(nodes["left"].astype(np.int64), nodes["right"].astype(np.int64), inner)
        and _within(nodes["bitset_idx"][categorical], min(map(len, bitsets)))
        and bool(np.all(nodes["feature_idx"][inner] >= 0))
    )


def _search_tree_is_sound(tree: Any) -> bool:
    data, order, nodes, bounds = (np.asarray(part) for part in tree.get_arrays())
    start, end = nodes["idx_start"], nodes["idx_end"]
    inner = np.flatnonzero(nodes["is_leaf"] == 0)
    return (
        _within(order, len(data))
        and bool(np.all((start >= 0) & (start <= end) & (end <= len(order))))
        and len(nodes) > 0
        # the children of node i are 2i + 1 and 2i + 2
        and _within(2 * inner + 2, len(nodes))
        and bounds.shape[1:] == (len(nodes), data.shape[1])
    )


def _leads_onward(left: NDArray[Any], right: NDArray[Any], inner: Bools) -> bool:
    """Whether both children of every inner node come later and exist: no loop, no way out."""
    here = np.flatnonzero(inner)
    return all(
        bool(np.all(child[inner] > here)) and _within(child[inner], len(inner))
        for child in (left, right)
    )


def _within(numbers: NDArray[Any], length: int) -> bool:
    return bool(np.all((numbers >= 0) & (numbers < length)))


_CHECKS = {
    "sklearn.tree._tree.Tree": _tree_is_sound,
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor": _histogram_tree_is_sound,
    "sklearn.neighbors._kd_tree.KDTree": _search_tree_is_sound,
    "sklearn.neighbors._ball_tree.BallTree": _search_tree_is_sound,
}
