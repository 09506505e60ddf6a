"""A forest as the few arrays with which the page's script walks it."""

from typing import Any

import numpy as np

from clearwood._shared.arrays import Floats, Index
from clearwood.explanation import TreeGame
from clearwood.forest import Forest
from clearwood.reporting.browser.columns import (
    NotCarriedError,
    Probe,
    encoded,
    encoding,
    mixed_rows,
)
from clearwood.reporting.page.pack import packed

__all__ = ["forest_in_page", "packed_questions"]

_DEFAULT_LEFT, _ZERO_MISSING, _CATEGORICAL, _UNSEEN_LEFT = 1, 2, 4, 8

#: Paths that ask about more columns than a whole number has bits are not carried.
_LONGEST_PATH = 30


def forest_in_page(probe: Probe, *, is_float32: bool, seed: int) -> dict[str, Any]:
    """Return a forest as plain arrays.

    Trees lie one after another, each in the order in which it is walked to the left first: the
    left child of a node is the next one, and what is a leaf tells the page where the right one is.
    A node holds 0 for a leaf, else the number of its question from 1. Questions are kept once.
    The model's library may add up in single precision; a game adds up in double.
    """
    game = probe.game
    assert isinstance(game, TreeGame)
    forest = game.forest
    if game.order > _LONGEST_PATH:
        raise NotCarriedError(
            f"one of its trees uses {game.order} columns on the way to a leaf, more than the "
            f"{_LONGEST_PATH} that the page can handle"
        )
    used = forest.features_used.astype(np.intp)
    if not len(used):
        raise NotCarriedError("no tree uses a column: every row gets the same prediction")
    columns = encoding(probe, used)
    _check_encoding(probe, columns, used, seed)
    order = _walked(forest)
    number, questions = packed_questions(forest, used)
    nodes = number[order]
    leaves = order[nodes == 0]
    return {
        "kind": "forest",
        "columns": columns,
        "width": len(used),
        "nodes": packed(nodes),
        "questions": questions,
        "player": packed(game.groups[used]),
        "tree_output": packed(forest.tree_output + 1),
        "values": packed(_weighed(forest)[leaves]),
        "n_trees": forest.n_trees,
        "base": forest.base.tolist(),
        "divisor": forest.divisor.tolist(),
        "divides": forest.aggregation != "sum",
        "float32": is_float32,
        "precision": forest.precision,
    }


def _check_encoding(probe: Probe, columns: list[dict[str, Any]], used: Index, seed: int) -> None:
    """Refuse an encoding that the entries do not repeat, on the page's rows and on others."""
    for table in (probe.table, mixed_rows(probe, 300, seed)):
        repeated = encoded(probe, columns, table, len(used))
        own = probe.of(table)[:, used]
        if not np.allclose(repeated, own, rtol=1e-12, atol=0, equal_nan=True):
            raise NotCarriedError(
                "the page cannot repeat how the steps before the trees transform the columns"
            )


def _walked(forest: Forest) -> Index:
    """Return the nodes in the order of walking left first, tree by tree."""
    left, right = forest.left.tolist(), forest.right.tolist()
    order: list[int] = []
    for root in forest.roots.tolist():
        stack = [root]
        while stack:
            node = stack.pop()
            order.append(node)
            if left[node] >= 0:
                stack += [right[node], left[node]]
    return np.array(order, np.intp)


def packed_questions(nodes: Any, used: Index) -> tuple[Index, dict[str, Any]]:
    """Number the questions of a forest's or a diagram's nodes, each kept once.

    Both hold questions in arrays of the same names; ``used`` are the model's columns that the page
    makes, in increasing order. Returns the question of each node, from 1, 0 at leaves; and the
    questions as packed arrays.
    """
    inner = np.flatnonzero(nodes.left >= 0)
    sets = nodes.category_start[inner] >= 0
    flags = (
        _DEFAULT_LEFT * nodes.default_left[inner]
        + _ZERO_MISSING * nodes.zero_missing[inner]
        + _CATEGORICAL * sets
        + _UNSEEN_LEFT * nodes.unseen_left[inner]
    )
    threshold = np.where(sets, 0.0, nodes.threshold[inner])
    where = np.zeros(len(inner))
    words: list[int] = []
    starts: dict[tuple[int, ...], int] = {}
    sizes: list[int] = []
    for place in np.flatnonzero(sets).tolist():
        node = inner[place]
        first, size = int(nodes.category_start[node]), int(nodes.category_size[node])
        held = tuple(nodes.category_words[first : first + size].tolist())
        if held not in starts:
            starts[held] = len(sizes) + 1
            sizes.append(size)
            words += held
        where[place] = starts[held]
    feature = np.searchsorted(used, nodes.feature[inner])
    table = np.column_stack([feature, flags, where, threshold])
    unique, number = np.unique(table, axis=0, return_inverse=True)
    numbers = np.zeros(len(nodes.left), np.intp)
    numbers[inner] = number.ravel() + 1
    return numbers, {
        "feature": packed(unique[:, 0].astype(np.int64)),
        "flags": packed(unique[:, 1].astype(np.int64)),
        "set": packed(unique[:, 2].astype(np.int64)),
        "threshold": packed(unique[:, 3]),
        "set_size": packed(np.array(sizes, np.int64)),
        "words": packed(np.array(words, np.int64)),
    }


def _weighed(forest: Forest) -> Floats:
    """Return what each node adds to the sum of its output, before any division."""
    return np.asarray(forest.value * forest.tree_weight[forest.node_tree][:, None])
