"""Which splits stand in for others where a value is missing, in the user's columns.

A condensed tree has these splits as questions of its own, after "is known". The list of them says
which split each stands in for, and how often the two agree.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.numbers import percent
from clearwood.condensing.reading.wording import Condition, Wording
from clearwood.models import CartTree

if TYPE_CHECKING:
    from clearwood.condensing.condensed import Condensed

__all__ = ["SurrogateSplit", "surrogate_lines", "with_surrogates"]


@dataclass(frozen=True)
class SurrogateSplit:
    """A split that stands in for another where its value is missing.

    Parameters
    ----------
    split
        The condition under which a row goes left.
    surrogate
        The condition that replaces it where the value is missing, and so is that of better
        surrogates.
    agreement
        Share of the training rows with a known value that both send the same way.
    gain
        The same above the rule that sends all rows with the majority: 0 is as good as that, 1 is
        perfect.
    """

    split: str
    surrogate: str
    agreement: float
    gain: float


def with_surrogates(condensed: "Condensed", model: Any) -> "Condensed":
    """Return the tree with the surrogates of the model's splits, where it has some."""
    tree = getattr(getattr(model, "estimator_", model), "tree_", None)
    if not isinstance(tree, CartTree) or not tree.nodes["n_surrogates"].any():
        return condensed
    found = []
    nodes = np.flatnonzero(tree.nodes["n_surrogates"])
    owner = np.repeat(nodes, tree.nodes["n_surrogates"][nodes])
    splits = _conditions(condensed, tree, tree.nodes, owner)
    first = tree.nodes["first_surrogate"][nodes]
    count = tree.nodes["n_surrogates"][nodes]
    places = np.concatenate([np.arange(a, a + n) for a, n in zip(first, count, strict=True)])
    others = _conditions(condensed, tree, tree.surrogates, places)
    for split, other, at in zip(splits, others, places.tolist(), strict=True):
        agreement, gain = (float(tree.surrogates[key][at]) for key in ("agreement", "gain"))
        item = SurrogateSplit(split, other, agreement, gain)
        if item not in found:
            found.append(item)
    return replace(condensed, surrogates=tuple(found))


def _conditions(
    condensed: "Condensed", tree: CartTree, source: Mapping[str, NDArray[Any]], at: NDArray[Any]
) -> list[str]:
    """Write the conditions under which rows go left, by a diagram that is a chain of them."""
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
    conditions = []
    for node in range(n):
        question = wording.questions[node]
        assert question is not None
        condition = Condition(question.column, missing=False, unseen=False)
        conditions.append(wording.condition(condition.and_also(question, left=not flipped[node])))
    return conditions


def surrogate_lines(condensed: "Condensed") -> list[str]:
    """Write a line for each split that has surrogates.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> splits = (SurrogateSplit("bmi ≤ 27", "bp ≤ 94", 0.8, 0.5),)
    >>> surrogate_lines(SimpleNamespace(surrogates=splits))
    ['bmi ≤ 27: bp ≤ 94 (80 % agree)']
    """
    lines: dict[str, list[str]] = {}
    for item in condensed.surrogates:
        text = f"{item.surrogate} ({percent(item.agreement)} agree)"
        lines.setdefault(item.split, []).append(text)
    return [f"{split}: {', then '.join(others)}" for split, others in lines.items()]
