"""Checks of the arrays of a forest, run once when it is constructed."""

from typing import TYPE_CHECKING

import numpy as np

from clearwood._shared.arrays import Bools
from clearwood._shared.errors import InputError
from clearwood.forest.nodes import SPLIT_ARRAYS

if TYPE_CHECKING:
    from clearwood.forest.forest import Forest

__all__ = ["check"]


def check(forest: "Forest") -> None:
    """Raise an error if the arrays do not describe trees."""
    _check_lengths(forest)
    _check_structure(forest)
    _check_splits(forest)
    _check_values(forest)


def _check_lengths(forest: "Forest") -> None:
    n_nodes, n_trees = len(forest.left), len(forest.roots)
    per_node = ("right", *SPLIT_ARRAYS, "cover", "value")
    for name, length in [(name, n_nodes) for name in per_node] + [
        ("tree_output", n_trees),
        ("tree_weight", n_trees),
        ("levels", forest.n_features),
        ("groups", forest.n_features),
    ]:
        result = len(getattr(forest, name))
        if result != length:
            raise InputError(
                f"forest array {name!r} has {result} entries; expected {length}", parameter=name
            )
    if n_trees == 0:
        raise InputError("the forest has no trees", hint="fit the model with at least one tree.")
    if forest.value.ndim != 2 or forest.base.ndim != 1 or len(forest.base) == 0:
        raise InputError(
            f"value has shape {forest.value.shape} and base {forest.base.shape}; expected nodes by "
            "columns, and one number per output",
            parameter="value" if forest.value.ndim != 2 else "base",
        )


def _first(wrong: Bools) -> int | None:
    return int(np.argmax(wrong)) if wrong.any() else None


def _check_structure(forest: "Forest") -> None:
    roots, left, right = forest.roots, forest.left, forest.right
    ends = np.append(roots[1:], np.int32(len(left)))
    if roots[0] != 0 or (roots >= ends).any():
        raise InputError(
            "the roots must start at node 0 and rise; every tree needs a node", parameter="roots"
        )
    inner = left >= 0
    if (node := _first((right >= 0) != inner)) is not None:
        raise InputError(f"node {node} has one child; nodes have two children or none")
    nodes, end = np.arange(len(left), dtype=np.int32), np.repeat(ends, ends - roots)
    for name, child in (("left", left), ("right", right)):
        if (at := _first(inner & ((child <= nodes) | (child >= end)))) is not None:
            raise InputError(
                f"the {name} child of node {at} is {int(child[at])}; children come after their "
                "parent, in the same tree",
                parameter=name,
                value=int(child[at]),
            )
    parents = np.flatnonzero(inner)
    children = np.concatenate([left.take(parents), right.take(parents)]).astype(np.intp)
    met = np.zeros(len(left), bool)
    met[children] = True
    # no child is a root, so each other node is one child where as many are met as there are
    if np.count_nonzero(met) != len(children) or len(children) != len(left) - len(roots):
        counts = np.bincount(children, minlength=len(left))
        expected = np.ones(len(left), np.int64)
        expected[roots] = 0
        node = int(np.flatnonzero(counts != expected)[0])
        raise InputError(
            f"node {node} has {int(counts[node])} parents; each node but a root has exactly one"
        )


def _check_splits(forest: "Forest") -> None:
    inner, feature = forest.left >= 0, forest.feature
    if (node := _first(inner & ((feature < 0) | (feature >= forest.n_features)))) is not None:
        raise InputError(
            f"node {node} splits on column {int(feature[node])}; "
            f"the model has {forest.n_features} columns",
            parameter="feature",
            value=int(feature[node]),
        )
    sets = np.flatnonzero(inner & (forest.category_start >= 0))
    unknown = np.isnan(forest.threshold) & inner
    unknown[sets] = False
    if (node := _first(unknown)) is not None:
        raise InputError(f"the threshold of node {node} is NaN", parameter="threshold")
    if forest.zero_missing[sets].any():
        raise InputError(
            "a categorical node cannot treat zero, which is a category, as missing",
            parameter="zero_missing",
        )
    if len(sets):
        start = forest.category_start[sets].astype(np.int64)
        size = forest.category_size[sets]
        if (size < 0).any() or (start + size > len(forest.category_words)).any():
            raise InputError(
                "the bit set of a categorical node reaches past the category words",
                parameter="category_size",
            )
    if len(forest.groups) and (
        forest.groups.min() < 0 or forest.groups.max() >= len(forest.columns)
    ):
        raise InputError(
            "a column of the model belongs to none of the user's columns", parameter="groups"
        )


def _check_values(forest: "Forest") -> None:
    finite = np.isfinite(forest.value).all(axis=1) | (forest.left >= 0)
    if (node := _first(~finite)) is not None:
        tree = int(np.searchsorted(forest.roots, node, side="right")) - 1
        raise InputError(
            f"leaf {node - int(forest.roots[tree])} of tree {tree} has the value "
            f"{forest.value[node].tolist()}; leaf values must be finite numbers",
            parameter="value",
            hint="check the targets for NaN and infinity, and whether the fit diverged.",
        )
    if not np.isfinite(forest.base).all():
        raise InputError(
            f"the base score is {forest.base.tolist()}; it must be finite",
            parameter="base",
            value=forest.base.tolist(),
        )
    if not np.isfinite(forest.tree_weight).all():
        raise InputError("the weight of a tree is not a finite number", parameter="tree_weight")
    output, n_outputs = forest.tree_output, len(forest.base)
    if (output < -1).any() or (output >= n_outputs).any():
        raise InputError(
            f"a tree adds to an output that does not exist; there are {n_outputs}",
            parameter="tree_output",
        )
    shared = output < 0
    if shared.any() and not shared.all():
        raise InputError(
            "either every tree adds to all outputs or every tree to one", parameter="tree_output"
        )
    columns = n_outputs if shared.all() else 1
    if forest.value.shape[1] != columns:
        raise InputError(
            f"leaf values have {forest.value.shape[1]} columns; expected {columns}",
            parameter="value",
        )
    if len(forest.divisor) != n_outputs or not (forest.divisor > 0).all():
        raise InputError(
            "the weights of the trees do not sum to a positive number, so their mean is undefined",
            parameter="tree_weight",
        )
    if forest.classes is not None and len(forest.classes) == 1:
        raise InputError(
            f"the model was fitted to a single class, {forest.classes.tolist()[0]!r}",
            parameter="classes",
            hint="fit it to two or more classes.",
        )
    if forest.classes is not None and len(forest.classes) != (2 if n_outputs == 1 else n_outputs):
        raise InputError(
            f"{len(forest.classes)} classes do not match {n_outputs} outputs", parameter="classes"
        )
