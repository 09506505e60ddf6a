"""One decision tree as plain arrays, and how it is grown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Bools, Floats, Index
from clearwood.kernels import cart_leaves, grow_cart, weakest_links
from clearwood.models.catalogue.trees.plain import plain_tree
from clearwood.models.shared.score import TreeArrays

__all__ = ["CartTree", "Growth", "Presorted"]

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
