"""Which splits stand in for others where a value is missing, in the user's columns.

A condensed tree has these splits as questions of its own, after "is known". Texts and pictures show
the tree without them and list them: which split each stands in for, and how often the two agree.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.numbers import percent
from clearwood.condensing.reading.wording import Condition, Wording
from clearwood.condensing.tree.condensed_tree import CondensedTree, SurrogateSplit
from clearwood.condensing.tree.diagram import Diagram
from clearwood.models import CartTree

__all__ = ["drawn", "surrogate_lines", "with_surrogates"]


Tree = TypeVar("Tree", bound=CondensedTree)


def with_surrogates(condensed: Tree, model: Any) -> Tree:
    """Return the tree with the surrogates of the model's splits, where it has some."""
    tree = getattr(getattr(model, "estimator_", model), "tree_", None)
    if not isinstance(tree, CartTree) or not tree.nodes["n_surrogates"].any():
        return condensed
    inner = np.flatnonzero(~tree.is_leaf)
    splits = dict(zip(inner.tolist(), _sides(condensed, tree, tree.nodes, inner), strict=True))
    others = _sides(condensed, tree, tree.surrogates, np.arange(len(tree.surrogates["column"])))
    where: dict[int, tuple[str, ...]] = {0: ()}
    result = []
    for node, (left, right) in splits.items():  # parents come first
        where[int(tree.nodes["left"][node])] = (*where[node], left)
        where[int(tree.nodes["right"][node])] = (*where[node], right)
        first = int(tree.nodes["first_surrogate"][node])
        for at in range(first, first + int(tree.nodes["n_surrogates"][node])):
            agreement, gain = (float(tree.surrogates[key][at]) for key in ("agreement", "gain"))
            result.append(SurrogateSplit(where[node], left, others[at][0], agreement, gain))
    return replace(condensed, surrogates=tuple(result), outline=_outline(condensed, tree))


def drawn(condensed: CondensedTree) -> CondensedTree:
    """Return what texts and pictures show: the tree itself, whose surrogates they list."""
    return condensed if condensed.outline is None else replace(condensed, diagram=condensed.outline)


def _outline(condensed: CondensedTree, tree: CartTree) -> Diagram:
    """Return the tree without its surrogates."""
    n_nodes, nodes = tree.n_nodes, tree.nodes
    is_set = nodes["first_word"] >= 0
    of_class = condensed.equal == "class"
    value = np.empty((n_nodes, 0)) if of_class else tree.value
    return replace(
        condensed.diagram,
        feature=np.where(tree.is_leaf, -1, nodes["column"]),
        threshold=nodes["threshold"],
        default_left=nodes["missing_left"],
        zero_missing=np.zeros(n_nodes, bool),
        category_start=np.where(is_set, nodes["first_word"], -1),
        category_size=np.where(is_set, nodes["n_words"], 0),
        category_words=tree.words,
        unseen_left=nodes["missing_left"] & is_set,
        left=nodes["left"],
        right=nodes["right"],
        outcome=np.where(tree.is_leaf & of_class, tree.value.argmax(axis=1), -1),
        value=value,
        low=value,
        high=value,
        certified=np.ones(n_nodes, bool),
    )


def _sides(
    condensed: CondensedTree, tree: CartTree, source: Mapping[str, NDArray[Any]], at: NDArray[Any]
) -> list[tuple[str, str]]:
    """Write the conditions to go left and right at questions, by a diagram that chains them."""
    n = len(at)
    chain = np.arange(n)
    empty = np.full((n + 2, condensed.diagram.n_outputs), 0.0)

    def padded(values: Any, filler: Any) -> NDArray[Any]:
        return np.append(values, [filler, filler])

    is_set = source["first_word"][at] >= 0
    diagram = replace(
        condensed.diagram,
        feature=padded(source["column"][at], -1),
        threshold=padded(source["threshold"][at], 0.0),
        default_left=np.zeros(n + 2, bool),
        zero_missing=np.zeros(n + 2, bool),
        category_start=padded(np.where(is_set, source["first_word"][at], -1), -1),
        category_size=padded(np.where(is_set, source["n_words"][at], 0), 0),
        category_words=tree.words,
        unseen_left=np.zeros(n + 2, bool),
        left=padded(np.full(n, n), -1),
        right=padded(np.append(chain[1:], n + 1), -1),
        outcome=np.full(n + 2, 0 if condensed.equal == "class" else -1),
        value=empty,
        low=empty,
        high=empty,
        certified=np.ones(n + 2, bool),
    )
    wording = Wording(replace(condensed, diagram=diagram, fallback=None))
    flipped = source["flipped"][at] if "flipped" in source else np.zeros(n, bool)
    result = []
    for node in range(n):
        question = wording.questions[node]
        assert question is not None
        known = Condition(question.column, missing=False, unseen=False)
        left, right = (wording.condition(known.and_also(question, left=x)) for x in (True, False))
        result.append((right, left) if flipped[node] else (left, right))
    return result


def surrogate_lines(condensed: CondensedTree) -> list[str]:
    """Write a line for each split that has surrogates.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> split = SurrogateSplit(("age ≤ 30",), "bmi ≤ 27", "bp ≤ 94", 0.8, 0.5)
    >>> surrogate_lines(SimpleNamespace(surrogates=(split,)))
    ['bmi ≤ 27 (where age ≤ 30): bp ≤ 94 (80 % agree)']
    """
    lines: dict[tuple[tuple[str, ...], str], list[str]] = {}
    for item in condensed.surrogates:
        text = f"{item.surrogate} ({percent(item.agreement)} agree)"
        lines.setdefault((item.where, item.split), []).append(text)
    return [
        f"{split}{_where(where)}: {', then '.join(others)}"
        for (where, split), others in lines.items()
    ]


def _where(conditions: tuple[str, ...]) -> str:
    """Write which rows a split is for."""
    return f" (where {' and '.join(conditions)})" if conditions else ""
