"""Rules as small trees: each condition a split, whose other side adds nothing."""

from collections.abc import Sequence

import numpy as np

from clearwood._shared.arrays import Bools, Floats
from clearwood.models.shared.conditions import Among, Rule
from clearwood.models.shared.score import TreeArrays

__all__ = ["chains"]

_LARGEST = np.finfo(np.float64).max
_Split = tuple[int, float, bool, Bools | None]


def chains(
    rules: Sequence[Rule], coefficients: Floats, X: Floats, weight: Floats
) -> TreeArrays | None:
    """Describe a sum of rules as trees, one a rule; None where there are no rules.

    Parameters
    ----------
    rules
        The rules.
    coefficients
        What each adds to the outputs, of shape (rules, outputs).
    X, weight
        Training rows, which count how much weight a node has.
    """
    if not rules:
        return None
    nodes = _Nodes(coefficients.shape[1])
    for rule, value in zip(rules, coefficients, strict=True):
        nodes.add(rule, value, X, weight)
    return nodes.arrays(X.shape[1])


class _Nodes:
    """Nodes of trees, in the order in which they are added."""

    def __init__(self, n_outputs: int) -> None:
        self.n_outputs = n_outputs
        self.roots: list[int] = []
        self.left: list[int] = []
        self.right: list[int] = []
        self.split: list[_Split] = []
        self.value: list[Floats] = []
        self.cover: list[float] = []

    def add(self, rule: Rule, value: Floats, X: Floats, weight: Floats) -> None:
        """Add the tree of a rule."""
        self.roots.append(len(self.left))
        inside = np.ones(len(X), bool)
        split: _Split
        for column, condition in rule.conditions.items():
            values = X[:, column]
            if isinstance(condition, Among):
                split = column, 0.0, bool(condition.member[-1]), condition.member
                inside = self._branch(split, inside, condition(values), weight)
                continue
            allows, missing = condition.missing, np.isnan(values)
            if np.isfinite(condition.high):
                below = np.where(missing, allows, values <= condition.high)
                split = column, condition.high, allows, None
                inside = self._branch(split, inside, below, weight)
            if condition.low > -np.inf or not np.isfinite(condition.high):
                above = np.where(missing, allows, values > condition.low)
                split = column, condition.low, not allows, None
                inside = self._branch(split, inside, above, weight, goes_on_left=False)
        self._node((-1, 0.0, False, None), value, float(weight[inside].sum()))

    def _branch(
        self,
        split: _Split,
        inside: Bools,
        met: Bools,
        weight: Floats,
        *,
        goes_on_left: bool = True,
    ) -> Bools:
        """Add a split and the leaf where the path ends, and return the rows that go on."""
        zero = np.zeros(self.n_outputs)
        node = self._node(split, zero, float(weight[inside].sum()))
        self._node((-1, 0.0, False, None), zero, float(weight[inside & ~met].sum()))
        ends, goes_on = node + 1, node + 2
        self.left[node], self.right[node] = (goes_on, ends) if goes_on_left else (ends, goes_on)
        return inside & met

    def _node(self, split: _Split, value: Floats, cover: float) -> int:
        """Add a node without children and return its position."""
        self.left.append(-1)
        self.right.append(-1)
        self.split.append(split)
        self.value.append(value)
        self.cover.append(cover)
        return len(self.left) - 1

    def arrays(self, n_features: int) -> TreeArrays:
        """Return the nodes as arrays."""
        column, threshold, default_left, members = zip(*self.split, strict=True)
        start = np.full(len(members), -1, np.int32)
        size = np.zeros(len(members), np.int32)
        unseen = np.zeros(len(members), bool)
        words: list[int] = []
        for node, member in enumerate(members):
            if member is None:
                continue
            bits = np.zeros(-(-(len(member) - 1) // 32) * 32, bool)
            bits[: len(member) - 1] = member[:-1]
            start[node], unseen[node] = len(words), member[-1]
            words += np.packbits(bits, bitorder="little").view(np.uint32).tolist()
            size[node] = len(words) - start[node]
        has_categories = bool(words)
        return TreeArrays(
            roots=np.array(self.roots, np.int32),
            left=np.array(self.left, np.int32),
            right=np.array(self.right, np.int32),
            feature=np.array(column, np.int32),
            # an infinite threshold would compare as a value that no file can hold
            threshold=np.clip(threshold, -_LARGEST, _LARGEST),
            default_left=np.array(default_left, bool),
            value=np.array(self.value, np.float64),
            cover=np.array(self.cover, np.float64),
            tree_output=np.full(len(self.roots), 0 if self.n_outputs == 1 else -1, np.int32),
            n_features=n_features,
            n_outputs=self.n_outputs,
            category_start=start if has_categories else None,
            category_size=size if has_categories else None,
            category_words=np.array(words, np.uint32) if has_categories else None,
            unseen_left=unseen if has_categories else None,
        )
