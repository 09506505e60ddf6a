"""Conditions on one column, rules that join them, and rules as small trees."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from clearwood._shared.arrays import Bools, Floats
from clearwood._shared.numbers import number
from clearwood.models.shared.rows import in_levels
from clearwood.models.shared.score import TreeArrays

__all__ = ["Among", "Between", "Condition", "Line", "Rule", "chains"]


@dataclass(frozen=True)
class Between:
    """A value above ``low`` and at most ``high``.

    Parameters
    ----------
    low, high
        The bounds, infinite where there is none; both plus infinity for missing values only.
    missing
        Whether a missing value meets the condition.

    Examples
    --------
    >>> Between(1.0, 3.0, missing=True)(np.array([1.0, 3.0, 4.0, np.nan]))
    array([False,  True, False,  True])
    """

    low: float
    high: float
    missing: bool

    def __call__(self, values: Floats) -> Bools:
        """Return which values meet the condition."""
        inside = (values > self.low) & (values <= self.high)
        return inside | np.isnan(values) if self.missing else inside

    def joined(self, other: "Between") -> "Between":
        """Require both conditions."""
        both = self.missing and other.missing
        return Between(max(self.low, other.low), min(self.high, other.high), missing=both)

    @property
    def size(self) -> int:
        """Number of bounds."""
        return max(math.isfinite(self.low) + math.isfinite(self.high), 1)

    def written(self, name: str, levels: tuple[str, ...] = (), *, gaps: bool = True) -> str:  # noqa: ARG002
        """Write the condition for a column of this name; missing values only if it has ``gaps``."""
        low, high = number(self.low, 4), number(self.high, 4)
        if self.low == math.inf:
            return f"{name} is missing"
        if math.isinf(self.low) and math.isinf(self.high):
            return f"{name} is not missing"
        if math.isinf(self.low):
            text = f"{name} ≤ {high}"
        elif math.isinf(self.high):
            text = f"{name} > {low}"
        else:
            text = f"{low} < {name} ≤ {high}"
        return f"({text} or missing)" if self.missing and gaps else text


@dataclass(frozen=True, eq=False)
class Among:
    """A category in a set of levels.

    Parameters
    ----------
    member
        For each code, and last for missing values and unseen levels, whether it is in the set.

    Examples
    --------
    >>> Among(np.array([True, False, False]))(np.array([0.0, 1.0, np.nan]))
    array([ True, False, False])
    """

    member: Bools

    def __call__(self, values: Floats) -> Bools:
        """Return which values meet the condition."""
        return in_levels(self.member, values)

    def joined(self, other: "Among") -> "Among":
        """Require both conditions."""
        return Among(self.member & other.member)

    @property
    def size(self) -> int:
        """Number of conditions that it reads as."""
        return 1

    def written(self, name: str, levels: tuple[str, ...] = (), *, gaps: bool = True) -> str:
        """Write the condition for a column of this name; missing values only if it has ``gaps``."""

        def names(codes: Bools) -> list[str]:
            known = np.flatnonzero(codes[:-1])
            listed = [levels[code] if code < len(levels) else str(code) for code in known]
            return [*listed, *(["missing"] if codes[-1] and gaps else [])]

        inside, outside = names(self.member), names(~self.member)
        if outside and len(outside) < len(inside):
            return f"{name} is not {' or '.join(outside)}"
        return f"{name} is {' or '.join(inside)}"


Condition = Between | Among


@dataclass(frozen=True, eq=False)
class Rule:
    """Conditions that must all hold.

    Parameters
    ----------
    conditions
        By position of the column.
    """

    conditions: Mapping[int, Condition]

    def __call__(self, X: Floats) -> Bools:
        """Return which rows meet the rule."""
        inside = np.ones(len(X), bool)
        for column, condition in self.conditions.items():
            inside &= condition(X[:, column])
        return inside

    def joined(self, column: int, condition: Condition) -> "Rule":
        """Add a condition; conditions on the same column become one."""
        known = self.conditions.get(column)
        # a column has numbers or categories, so both are of one kind
        both = condition if known is None else known.joined(condition)  # type: ignore[arg-type]
        return Rule({**self.conditions, column: both})

    @property
    def size(self) -> int:
        """How long the rule reads."""
        return sum(condition.size for condition in self.conditions.values())


@dataclass(frozen=True)
class Line:
    """A column cut off at outer quantiles, less its centre; 0 where missing.

    Examples
    --------
    >>> Line(0.0, 10.0, 4.0)(np.array([-5.0, 6.0, 99.0, np.nan])).ravel()
    array([-4.,  2.,  6.,  0.])
    """

    low: float
    high: float
    centre: float

    def __call__(self, values: Floats) -> Floats:
        """Compute the line, of shape (rows, 1)."""
        cut = np.clip(values, self.low, self.high) - self.centre
        return np.where(np.isnan(values), 0.0, cut)[:, None]

    def written(self, name: str) -> str:
        """Write the line for a column of this name."""
        sign, centre = "+" if self.centre < 0 else "−", number(abs(self.centre), 4)
        low, high = number(self.low, 4), number(self.high, 4)
        return f"({name} {sign} {centre}), {name} held within {low} and {high}"


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
