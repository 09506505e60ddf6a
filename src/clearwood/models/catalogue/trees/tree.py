"""One decision tree as plain arrays, and how it is grown."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Bools, Floats, Index
from clearwood.kernels import cart_leaves, grow_cart, weakest_links
from clearwood.models.shared.score import TreeArrays

__all__ = ["MOST_NODES", "CartTree", "Growth", "Presorted", "TreeSample", "bit_set", "plain_tree"]


# A tree with surrogates as a tree of ordinary splits, with the same prediction for every row.
#
# A split with surrogates is a chain of ordinary ones: is the value known? If it is, the split
# itself; if not, is the value of the first surrogate known? And so on. Each end of the chain
# needs its own copy of the subtree below, but a copy leaves out what the chain has settled: a
# column known to be missing is not tested again, nor a threshold that an earlier one implies.


#: Trees that would have more ordinary nodes than this stay as they are.
MOST_NODES = 20_000

#: What is known about a column on a path: "missing", or the range or set its value is in.
_Range = tuple[float, float]
_Known = str | _Range | frozenset[int]


@dataclass(frozen=True)
class _Question:
    """The column a split or surrogate tests, and what goes left."""

    column: int
    threshold: float
    categories: frozenset[int] | None
    n_words: int
    flipped: bool

    def sides(self, known: _Known) -> tuple[_Known | None, _Known | None]:
        """Return what is known left and right of it where there is a value; None: no value."""
        if self.categories is not None:
            inside: Any = frozenset(range(32 * self.n_words)) if isinstance(known, tuple) else known
            parts: list[Any] = [inside & self.categories, inside - self.categories]
            left, right = (part or None for part in parts)
        else:
            assert isinstance(known, tuple)
            low, high = known
            left = (
                (low, min(high, self.threshold))
                if low < self.threshold or np.isneginf(low)
                else None
            )
            right = (max(low, self.threshold), high) if high > self.threshold else None
        return (right, left) if self.flipped else (left, right)


#: A number about which nothing is known but that it is there. The lower end of a range does not
#: belong to it, except for minus infinity.
_ANYTHING: _Range = (-np.inf, np.inf)


@dataclass
class _Plain:
    """Arrays of the ordinary nodes, as they are added."""

    feature: list[int] = field(default_factory=list)
    threshold: list[float] = field(default_factory=list)
    default_left: list[bool] = field(default_factory=list)
    sets: list[tuple[frozenset[int], int] | None] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    right: list[int] = field(default_factory=list)
    origin: list[int] = field(default_factory=list)

    def add(
        self,
        origin: int,
        column: int = -1,
        threshold: float = 0.0,
        categories: tuple[frozenset[int], int] | None = None,
        *,
        missing_left: bool = False,
    ) -> int:
        """Add a node and return its number."""
        self.origin.append(origin)
        self.feature.append(column)
        self.threshold.append(threshold)
        self.sets.append(categories)
        self.default_left.append(missing_left)
        self.left.append(-1)
        self.right.append(-1)
        return len(self.left) - 1


def plain_tree(tree: "CartTree", *, most_nodes: int = MOST_NODES) -> TreeArrays | None:
    """Return the tree as ordinary splits; None where they would be more than ``most_nodes``.

    The weight of the training rows is known for trees without surrogates only.
    """
    nodes = tree.nodes
    questions = [_questions(tree, node) for node in range(tree.n_nodes)]
    made = _Plain()
    # the node of the tree, the first question that is still open, what is known, and where the
    # result is a child
    tasks: list[tuple[int, int, Mapping[int, _Known], int, bool]] = [(0, 0, {}, -1, False)]
    while tasks:
        node, first, known, parent, is_left = tasks.pop()
        while True:  # down to a question that is not settled yet
            settled = _settled(
                questions[node], first, known, missing_left=bool(nodes["missing_left"][node])
            )
            if nodes["left"][node] < 0 or not isinstance(settled, bool):
                break
            node, first = int(nodes["left" if settled else "right"][node]), 0
        if nodes["left"][node] < 0:
            at = made.add(node)
        else:
            assert not isinstance(settled, bool)
            at = _add_split(made, tasks, tree, node, questions[node], settled, known)
        if parent >= 0:
            (made.left if is_left else made.right)[parent] = at
        if len(made.left) > most_nodes:
            return None
    return _arrays(made, tree)


def _questions(tree: "CartTree", node: int) -> list[_Question]:
    """Return the split of a node and its surrogates, in the order they are tried."""
    if tree.nodes["left"][node] < 0:
        return []
    first, count = (int(tree.nodes[key][node]) for key in ("first_surrogate", "n_surrogates"))
    held = [(tree.nodes, node)] + [(tree.surrogates, at) for at in range(first, first + count)]
    return [
        _Question(
            int(source["column"][at]),
            float(source["threshold"][at]),
            frozenset(tree.category_set(source, at)) if source["first_word"][at] >= 0 else None,
            int(source["n_words"][at]),
            bool(source["flipped"][at]) if "flipped" in source else False,
        )
        for source, at in held
    ]


def _settled(
    questions: list[_Question], first: int, known: Mapping[int, _Known], *, missing_left: bool
) -> bool | int:
    """Return the side that is certain (True: left), or the number of the first open question."""
    for at in range(first, len(questions)):
        of_column = known.get(questions[at].column)
        if of_column is None:
            return at
        if isinstance(of_column, str):
            continue
        left, right = questions[at].sides(of_column)
        if left is not None and right is not None:
            return at
        return left is not None
    return missing_left


def _add_split(
    made: _Plain,
    tasks: list[tuple[int, int, Mapping[int, _Known], int, bool]],
    tree: "CartTree",
    node: int,
    questions: list[_Question],
    at: int,
    known: Mapping[int, _Known],
) -> int:
    """Add the node of an open question; its children are put on the list of tasks."""
    question = questions[at]
    column, is_number = question.column, question.categories is None
    all_levels = None if is_number else frozenset(range(32 * question.n_words))
    missing_left = bool(tree.nodes["missing_left"][node])
    children = (int(tree.nodes["left"][node]), int(tree.nodes["right"][node]))
    of_column = known.get(column)
    if of_column is None:
        rest = _settled(questions, at + 1, {**known, column: "missing"}, missing_left=missing_left)
        anything: _Known = _ANYTHING if all_levels is None else all_levels
        if not isinstance(rest, bool):
            # where the value is missing other questions follow: ask for that first
            sets = None if all_levels is None else (all_levels, question.n_words)
            new = made.add(node, column, np.inf, sets, missing_left=False)
            tasks.append((node, at + 1, {**known, column: "missing"}, new, False))
            tasks.append((node, at, {**known, column: anything}, new, True))
            return new
        left, right = question.sides(anything)
        goes_left = rest
    else:
        left, right = question.sides(of_column)
        goes_left = None
    new = made.add(
        node,
        column,
        question.threshold,
        None if question.categories is None else (question.categories, question.n_words),
        missing_left=bool(goes_left) != question.flipped,
    )
    for child, of_side, is_left in ((children[1], right, False), (children[0], left, True)):
        # where missing values go too, nothing is known of the column
        stays_open = goes_left is is_left
        below = dict(known)
        if not stays_open and of_side is not None:
            below[column] = of_side
        tasks.append((child, 0, below, new, is_left != question.flipped))
    return new


def _arrays(made: _Plain, tree: "CartTree") -> TreeArrays:
    """Return the arrays of a single tree that adds to all outputs."""
    n_nodes = len(made.left)
    start, size = np.full(n_nodes, -1, np.int32), np.zeros(n_nodes, np.int32)
    words: list[NDArray[np.uint32]] = []
    used = 0
    for node, held in enumerate(made.sets):
        if held is not None:
            start[node], size[node] = used, held[1]
            words.append(bit_set(*held))
            used += held[1]
    has_surrogates = bool(tree.nodes["n_surrogates"].any())
    origin = np.array(made.origin)
    cover = np.full(n_nodes, np.nan) if has_surrogates else tree.nodes["cover"][origin]
    default_left = np.array(made.default_left)
    return TreeArrays(
        roots=np.zeros(1, np.int32),
        left=np.array(made.left, np.int32),
        right=np.array(made.right, np.int32),
        feature=np.array(made.feature, np.int32),
        threshold=np.array(made.threshold),
        default_left=default_left,
        value=tree.value[origin],
        cover=cover,
        tree_output=np.full(1, -1, np.int32),
        n_features=tree.n_features,
        n_outputs=tree.value.shape[1],
        category_start=start,
        category_size=size,
        category_words=np.concatenate(words) if words else np.empty(0, np.uint32),
        unseen_left=default_left & (start >= 0),
    )


def bit_set(categories: Iterable[int], n_words: int) -> NDArray[np.uint32]:
    """Return a set of categories as bits.

    Examples
    --------
    >>> bit_set({1, 33}, 2)
    array([2, 2], dtype=uint32)
    """
    words = np.zeros(n_words, np.uint32)
    for category in categories:
        words[category // 32] |= np.uint32(1) << np.uint32(category % 32)
    return words


#: Of several classes, every subset of so many levels is tried; of more, ranges of their order.
MOST_SUBSET_LEVELS = 10


@dataclass(frozen=True, eq=False)
class CartTree:
    """A tree with surrogate splits.

    Nodes come before their left subtree, and that before the right one. A number up to a node's
    threshold goes left, and so does a category in its set. Where the value is missing the first
    surrogate whose own value is known decides; where none is, ``missing_left``.

    Parameters
    ----------
    nodes
        Arrays with an entry for each node: ``left``, ``right``, ``column``, ``threshold``,
        ``first_word``, ``n_words``, ``missing_left``, ``gain``, ``risk``, ``weight``, ``cover``,
        ``n_rows``, ``first_surrogate``, ``n_surrogates``.
    surrogates
        Arrays with an entry for each surrogate: ``column``, ``threshold``, ``first_word``,
        ``n_words``, ``flipped`` (small values go right), ``agreement`` and ``gain``, the agreement
        above the majority rule, from 0 to 1.
    words
        Sets of categories: bit ``c % 32`` of word ``c // 32`` is category ``c``.
    value
        Of shape (nodes, outputs).
    n_features
        Columns of the rows it was grown on.
    """

    nodes: Mapping[str, NDArray[Any]]
    surrogates: Mapping[str, NDArray[Any]]
    words: NDArray[np.uint32]
    value: Floats
    n_features: int

    def __getstate__(self) -> dict[str, Any]:
        # what is cached is computed again
        return {item.name: getattr(self, item.name) for item in fields(self)}

    @property
    def n_nodes(self) -> int:
        """Number of nodes, leaves included."""
        return len(self.nodes["left"])

    @property
    def is_leaf(self) -> Bools:
        """Which nodes are leaves."""
        return np.asarray(self.nodes["left"] < 0)

    @property
    def parent(self) -> Index:
        """The node above each node; -1 at the root."""
        above = np.full(self.n_nodes, -1)
        inner = np.flatnonzero(~self.is_leaf)
        above[self.nodes["left"][inner]] = above[self.nodes["right"][inner]] = inner
        return above

    @cached_property
    def plain(self) -> TreeArrays | None:
        """The same tree as ordinary splits; None where there would be too many of them."""
        return plain_tree(self)

    def leaves(self, X: Floats) -> NDArray[np.int32]:
        """Return the leaf that each row reaches."""
        return cart_leaves(X, nodes=self.nodes, surrogates=self.surrogates, words=self.words)

    def __clearwood_sound__(self) -> bool:
        """Whether the arrays, which may be of a file, lead from node to node and nowhere else."""
        try:  # the kernel looks at every array before it follows one
            self.leaves(np.zeros((1, self.n_features)))
        except (KeyError, RuntimeError, TypeError, ValueError):
            return False
        return bool(self.value.ndim == 2 and len(self.value) == self.n_nodes)

    def levels(self) -> Floats:
        """Return the penalty per leaf from which each node is a leaf (Hiabu 2024, section 5.2)."""
        risk = self.nodes["risk"] / self.nodes["weight"][0]
        return weakest_links(self.nodes["left"], self.nodes["right"], risk)

    def pruned(self, penalty: float) -> "CartTree":
        """Return the subtree with the smallest risk plus penalty for each leaf."""
        is_leaf = self.levels() <= penalty
        kept = np.ones(self.n_nodes, bool)
        for node, above in enumerate(self.parent.tolist()):
            if above >= 0:
                kept[node] = kept[above] and not is_leaf[above]
        place = np.cumsum(kept) - 1
        is_leaf = is_leaf[kept]
        nodes = {name: array[kept] for name, array in self.nodes.items()}
        for name in ("left", "right"):
            nodes[name] = np.where(is_leaf, -1, place[nodes[name]]).astype(np.int32)
        for name in ("column", "first_word"):
            nodes[name] = np.where(is_leaf, -1, nodes[name]).astype(np.int32)
        nodes["n_surrogates"] = np.where(is_leaf, 0, nodes["n_surrogates"]).astype(np.int32)
        first, count = nodes["first_surrogate"], nodes["n_surrogates"]
        used = np.concatenate(
            [np.empty(0, np.intp)]
            + [np.arange(a, a + n) for a, n in zip(first, count, strict=True) if n]
        )
        nodes["first_surrogate"] = (np.cumsum(count) - count).astype(np.int32)
        surrogates = {name: array[used] for name, array in self.surrogates.items()}
        return replace(self, nodes=nodes, surrogates=surrogates, value=self.value[kept])

    def category_set(self, question: Mapping[str, NDArray[Any]], at: int) -> tuple[int, ...]:
        """Return the categories in the set of a node or surrogate."""
        first, size = int(question["first_word"][at]), int(question["n_words"][at])
        words = np.ascontiguousarray(self.words[first : first + size], "<u4")
        bits = np.unpackbits(words.view(np.uint8), bitorder="little")
        return tuple(int(category) for category in np.flatnonzero(bits))


@dataclass(frozen=True)
class Growth:
    """How a tree is grown.

    Parameters
    ----------
    criterion
        "squared" (also Gini's index of two classes coded 0 and 1), "poisson", "tweedie", "gamma",
        "gini" or "entropy".
    n_classes
        0 where the target is a number.
    costs
        For Gini's index of several classes: what it costs to take one class for another.
    prior_mean, prior_weight
        Values of numbers are shrunk towards the mean as if by rows of that weight.
    risk_scale
        The factor of the risk that is reported for nodes.
    max_depth, min_samples_leaf, surrogates
        Limits.
    """

    criterion: str
    n_classes: int = 0
    costs: Floats | None = None
    prior_mean: float = 0.0
    prior_weight: float = 0.0
    risk_scale: float = 1.0
    max_depth: int | None = None
    min_samples_leaf: int = 1
    surrogates: int = 5


class Presorted:
    """Rows whose columns are sorted once, for any number of trees on samples of them.

    Parameters
    ----------
    X
        The rows; NaN is missing.
    categorical
        Positions of columns that hold codes of categories.
    monotone
        1 or -1 for columns that predictions rise or fall with, else 0; empty for none.

    Examples
    --------
    >>> rows = Presorted(np.array([[1.0], [2.0], [5.0], [6.0]]))
    >>> y, weight = np.array([0.0, 0.0, 1.0, 1.0]), np.ones(4)
    >>> tree = rows.grow(Growth("squared"), y, weight, weight)
    >>> tree.leaves(np.array([[3.0], [4.0]]))
    array([1, 2], dtype=int32)
    """

    def __init__(
        self, X: Floats, *, categorical: Sequence[int] = (), monotone: Sequence[int] = ()
    ) -> None:
        n_columns = X.shape[1]
        self.columns = np.ascontiguousarray(X.T)
        missing = np.isnan(self.columns)
        self.has_missing: Bools = np.asarray(missing.any(axis=1))
        self.n_levels = np.zeros(n_columns, np.int32)
        self.order = np.zeros(self.columns.shape, np.int32)
        for j in range(n_columns):
            if j in categorical:
                codes = self.columns[j][~missing[j]]
                self.n_levels[j] = int(codes.max()) + 1 if len(codes) else 0
            if self.n_levels[j] == 0:
                self.order[j] = np.argsort(self.columns[j], kind="stable")
        self.monotone = np.zeros(n_columns, np.int8)
        self.monotone[: len(monotone)] = monotone

    def grow(self, growth: Growth, target: Floats, weight: Floats, cover: Floats) -> CartTree:
        """Grow a tree on the rows whose cover is above zero.

        Parameters
        ----------
        growth
            Criterion and limits.
        target
            Numbers, or codes of classes.
        weight
            Weights in the criterion: those of the rows, times those of the classes.
        cover
            Weights of the rows.
        """
        costs = np.empty((0, 0)) if growth.costs is None else growth.costs
        grown = grow_cart(
            columns=self.columns,
            order=self.order,
            n_levels=self.n_levels,
            monotone=self.monotone,
            surrogates=self.has_missing,
            target=target.astype(np.float64),
            weight=weight.astype(np.float64),
            cover=cover.astype(np.float64),
            criterion=growth.criterion,
            costs=np.ascontiguousarray(costs, np.float64),
            n_classes=growth.n_classes,
            prior_mean=growth.prior_mean,
            prior_weight=growth.prior_weight,
            max_depth=-1 if growth.max_depth is None else growth.max_depth,
            min_rows=growth.min_samples_leaf,
            max_surrogates=growth.surrogates,
            max_subset_levels=MOST_SUBSET_LEVELS,
        )
        value = grown["nodes"].pop("value").reshape(-1, max(growth.n_classes, 1))
        grown["nodes"]["risk"] *= growth.risk_scale
        n_features = len(self.columns)
        return CartTree(grown["nodes"], grown["surrogates"], grown["words"], value, n_features)


@dataclass(frozen=True)
class TreeSample:
    """Rows, sorted once, with their target and their weights."""

    X: Floats
    rows: Presorted
    target: Floats
    weight: Floats  # in the criterion
    cover: Floats  # of the rows
    growth: Growth

    def grow(self, times: Floats) -> CartTree:
        """Grow a full tree on rows that count so many times their weight."""
        return self.rows.grow(self.growth, self.target, self.weight * times, self.cover * times)
