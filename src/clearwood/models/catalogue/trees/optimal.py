"""The best tree of at most three levels, over questions that greedy trees find useful.

Each split of a greedy tree is the best at its place; together they need not be. Here all splits are
chosen at once. Trees of two levels need only the sums over pairs of questions, which are products
of matrices; a third level is a loop over the first question (Demirović et al. 2022). The search is
exact over its questions: those that trees grown on the rows and on bootstrap samples of them gain
most by (McTavish et al. 2022).
"""

from dataclasses import dataclass, field
from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from clearwood._shared.arrays import Bools, Floats, Index
from clearwood.models.catalogue.trees.tree import CartTree, Growth, TreeSample, bit_set
from clearwood.models.shared.response import FAMILIES, FamilyName

__all__ = ["DEPTHS", "best_tree"]

#: The depths that are searched.
DEPTHS = (2, 3)
MOST_QUESTIONS = 64
_SAMPLES = 10
_ROUNDING = 1e-10


@dataclass(frozen=True)
class _Question:
    """A column, and the numbers or categories of it that go left."""

    column: int
    threshold: float
    categories: tuple[int, ...] | None
    n_words: int


@dataclass
class _Node:
    """A node of the best tree: a question with two children, or a leaf."""

    question: int | None = None
    children: "list[_Node]" = field(default_factory=list)


def best_tree(sample: TreeSample, rows: Index, depth: int, *, seed: int) -> CartTree:
    """Return the tree of at most so many levels with the least risk on the rows.

    Parameters
    ----------
    sample
        Rows whose criterion is the squared error, a deviance or Gini's index.
    rows
        Those to fit.
    depth
        2 or 3.
    seed
        Fixes the bootstrap samples that the questions come from.
    """
    questions = _useful_questions(sample, rows, seed)
    goes_left = [_goes_left(sample, rows, question) for question in questions]
    left = np.array([side for side, _ in goes_left]).reshape(len(questions), len(rows))
    search = _Search(_sums(sample, rows), left, sample.growth)
    root = search.best(depth)
    missing = [missing_left for _, missing_left in goes_left]
    return _as_tree(sample, rows, root, questions, left, missing)


def _useful_questions(sample: TreeSample, rows: Index, seed: int) -> list[_Question]:
    """Return the questions that trees of the rows and of samples of them gain most by."""
    rng = np.random.default_rng(seed)
    gains: dict[_Question, float] = {}
    for drawn in [rows, *(rng.choice(rows, len(rows)) for _ in range(_SAMPLES))]:
        times = np.bincount(drawn, minlength=len(sample.target)).astype(np.float64)
        tree = sample.grow(times)
        nodes = tree.nodes
        for node in np.flatnonzero(~tree.is_leaf).tolist():
            is_set = nodes["first_word"][node] >= 0
            question = _Question(
                int(nodes["column"][node]),
                float(nodes["threshold"][node]),
                tree.category_set(nodes, node) if is_set else None,
                int(nodes["n_words"][node]),
            )
            gains[question] = gains.get(question, 0.0) + float(nodes["gain"][node])
    return sorted(gains, key=lambda question: -gains[question])[:MOST_QUESTIONS]


def _goes_left(sample: TreeSample, rows: Index, question: _Question) -> tuple[Bools, bool]:
    """Return which rows go left, missing values with the majority, and which side that is."""
    values = sample.X[rows, question.column]
    if question.categories is None:
        left = values <= question.threshold
    else:
        left = np.isin(values, question.categories)
    known = ~np.isnan(values)
    cover = sample.cover[rows]
    majority_left = bool(cover[known & left].sum() >= cover[known & ~left].sum())
    return np.where(known, left, majority_left), majority_left


def _sums(sample: TreeSample, rows: Index) -> Floats:
    """Return what is added up over rows: counts, weights, then targets or the other classes."""
    weight, target = sample.weight[rows], sample.target[rows]
    if sample.growth.n_classes:
        codes = np.arange(sample.growth.n_classes)
        return np.vstack([np.ones(len(rows)), (target == codes[:, None]) * weight])
    mean = weight @ target / weight.sum()
    if sample.growth.criterion == "squared":
        # targets around their mean, so that squares of sums keep their digits
        relative = target - mean
    else:
        relative = target / mean if mean > 0 else target
    return np.vstack([np.ones(len(rows)), weight, weight * relative])


class _Search:
    """The search over trees of a set of rows.

    A leaf with sums s has the score Σ s²/w, which is the weight minus the risk (classes), or the
    squares of the targets minus it (numbers); with a deviance it is minus the risk, up to what is
    the same for every tree. The best tree has the largest sum of scores.
    """

    def __init__(self, sums: Floats, left: Bools, growth: Growth) -> None:
        self._sums = sums
        self._left = left.astype(np.float64)
        self._least = growth.min_samples_leaf
        self._criterion = growth.criterion
        self._of_classes = growth.n_classes > 0
        if self._criterion == "squared":
            spread = (sums[2] ** 2 / sums[1]).sum()
        else:
            spread = sums[1:].sum() if self._of_classes else sums[1].sum()
        self._margin = _ROUNDING * float(spread)  # a tree is better only by more than rounding

    def best(self, depth: int) -> _Node:
        """Return the best tree of at most so many levels."""
        if not len(self._left):
            return _Node()
        pairs, total = self._pairs(np.arange(self._sums.shape[1])), self._sums.sum(axis=1)
        if depth < 3:
            return self._two_levels(pairs, total)[1]
        best_score, best = self._two_levels(pairs, total)
        for at, side in enumerate(self._left):
            inside = np.flatnonzero(side)
            if not self._least <= len(inside) <= len(side) - self._least:
                continue
            own, own_total = self._pairs(inside), self._sums[:, inside].sum(axis=1)
            left_score, left = self._two_levels(own, own_total)
            right_score, right = self._two_levels(pairs - own, total - own_total)
            if left_score + right_score > best_score + self._margin:
                best_score, best = left_score + right_score, _Node(at, [left, right])
        return best

    def _pairs(self, rows: Index) -> Floats:
        """Return the sums over rows that go left at both of two questions."""
        left = self._left[:, rows]
        return np.array([(left * sums[rows]) @ left.T for sums in self._sums])

    def _scores(self, sums: Floats) -> Floats:
        """Return the score of leaves with given sums; minus infinity where rows are too few."""
        parts = sums[1:] if self._of_classes else sums[2:]
        weight = parts.sum(axis=0) if self._of_classes else sums[1]
        total = np.maximum(parts[0], 0.0)  # of numbers; that of no rows is zero up to rounding
        match self._criterion:
            case "poisson":
                score = 2 * xlogy(total, total / np.where(weight > 0, weight, 1.0))
            case "tweedie":
                score = -8 * np.sqrt(total * np.maximum(weight, 0.0))
            case "gamma":
                known = (total > 0) & (weight > 0)
                ratio = np.divide(weight, total, out=np.ones_like(total), where=known)
                score = 2 * weight * np.log(ratio)
            case _:
                score = (parts**2).sum(axis=0) / np.where(weight > 0, weight, 1.0)
        # counts are sums of ones, exact up to rounding of the products
        return np.where(sums[0] > self._least - 0.5, score, -np.inf)

    def _two_levels(self, pairs: Floats, total: Floats) -> tuple[float, _Node]:
        """Return the score of the best tree of at most two levels, and the tree."""
        alone = np.diagonal(pairs, axis1=1, axis2=2)  # (sums, questions)
        best_score, best = float(self._scores(total[:, None])[0]), _Node()
        sides = []
        for side, both in ((alone, pairs), (total[:, None] - alone, alone[:, None, :] - pairs)):
            as_leaf = self._scores(side)
            split = self._scores(both) + self._scores(side[:, :, None] - both)
            second = split.argmax(axis=1)
            gained = split[np.arange(len(second)), second]
            is_split = gained > as_leaf + self._margin
            sides.append((np.where(is_split, gained, as_leaf), np.where(is_split, second, -1)))
        score = sides[0][0] + sides[1][0]
        at = int(np.argmax(score))
        if score[at] > best_score + self._margin:
            children = [
                _Node() if second[at] < 0 else _Node(int(second[at]), [_Node(), _Node()])
                for _, second in sides
            ]
            best_score, best = float(score[at]), _Node(at, children)
        return best_score, best


def _as_tree(
    sample: TreeSample,
    rows: Index,
    root: _Node,
    questions: list[_Question],
    left: Bools,
    missing_left: list[bool],
) -> CartTree:
    """Return the arrays of a tree, its values those of the rows."""
    columns: dict[str, list[float]] = {name: [] for name in _TYPES}
    words: list[NDArray[np.uint32]] = []
    values: list[Floats] = []

    def add(node: _Node, inside: Index) -> int:
        at = len(values)
        value, risk = _leaf(sample, rows[inside])
        values.append(value)
        entry = {
            "column": -1,
            "first_word": -1,
            "left": -1,
            "right": -1,
            "risk": risk * sample.growth.risk_scale,
            "weight": sample.weight[rows[inside]].sum(),
            "cover": sample.cover[rows[inside]].sum(),
            "n_rows": len(inside),
        }
        if node.question is not None:
            question = questions[node.question]
            entry |= {"column": question.column, "threshold": question.threshold}
            entry["missing_left"] = missing_left[node.question]
            if question.categories is not None:
                entry |= {"first_word": sum(map(len, words)), "n_words": question.n_words}
                words.append(bit_set(question.categories, question.n_words))
        for name, column in columns.items():
            column.append(float(entry.get(name, 0)))
        if node.question is not None:
            goes_left = left[node.question, inside]
            for name, child, part in zip(
                ("left", "right"), node.children, (goes_left, ~goes_left), strict=True
            ):
                columns[name][at] = add(child, inside[part])
            children = [int(columns[name][at]) for name in ("left", "right")]
            columns["gain"][at] = columns["risk"][at] - sum(columns["risk"][c] for c in children)
        return at

    add(root, np.arange(len(rows)))
    return CartTree(
        {name: np.array(columns[name]).astype(kind) for name, kind in _TYPES.items()},
        {name: np.empty(0, kind) for name, kind in _SURROGATES.items()},
        np.concatenate(words) if words else np.empty(0, np.uint32),
        np.array(values),
        sample.X.shape[1],
    )


_TYPES = {
    "left": np.int32,
    "right": np.int32,
    "column": np.int32,
    "threshold": np.float64,
    "first_word": np.int32,
    "n_words": np.int32,
    "missing_left": np.bool_,
    "gain": np.float64,
    "risk": np.float64,
    "weight": np.float64,
    "cover": np.float64,
    "n_rows": np.int32,
    "first_surrogate": np.int32,
    "n_surrogates": np.int32,
}
_SURROGATES = {
    "column": np.int32,
    "threshold": np.float64,
    "first_word": np.int32,
    "n_words": np.int32,
    "flipped": np.bool_,
    "agreement": np.float64,
    "gain": np.float64,
}


def _leaf(sample: TreeSample, rows: Index) -> tuple[Floats, float]:
    """Return the value and the risk of rows as a leaf."""
    weight, target = sample.weight[rows], sample.target[rows]
    if sample.growth.n_classes:
        totals = np.bincount(target.astype(np.intp), weight, sample.growth.n_classes)
        return totals / totals.sum(), float(totals.sum() - (totals**2).sum() / totals.sum())
    growth, total = sample.growth, weight.sum()
    mean = weight @ target / total
    if growth.criterion == "squared":
        return np.array([mean]), float(weight @ (target - mean) ** 2)
    value = (total * mean + growth.prior_weight * growth.prior_mean) / (total + growth.prior_weight)
    if mean == 0:
        return np.array([value]), 0.0
    family = FAMILIES[cast("FamilyName", growth.criterion)]
    return np.array([value]), float(weight @ family.deviance(target, np.log(mean)))
