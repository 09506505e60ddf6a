"""A tree ensemble as plain arrays that predicts what the library it came from predicts."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.errors import InputError, unknown_choice
from clearwood.forest import check as _check
from clearwood.forest import files as _files
from clearwood.forest import inputs as _inputs
from clearwood.forest import links as _links
from clearwood.forest import parts as _parts
from clearwood.forest import predict as _predict
from clearwood.forest import summary as _summary
from clearwood.forest.nodes import SPLIT_ARRAYS, NodeArrays
from clearwood.kernels import PackedForest

__all__ = ["Aggregation", "Forest", "Link", "Precision"]

Aggregation = Literal["sum", "mean", "hard vote", "weighted vote", "weighted median"]
Link = _links.Link
Exponential = _links.Exponential
Precision = Literal["float32", "float64"]

_ARRAYS: dict[str, type | None] = {
    **SPLIT_ARRAYS,
    "roots": np.int32,
    "left": np.int32,
    "right": np.int32,
    "value": np.float64,
    "cover": np.float64,
    "base": np.float64,
    "tree_output": np.int32,
    "tree_weight": np.float64,
    "category_words": np.uint32,
}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Forest(NodeArrays):
    """A tree ensemble as plain arrays.

    The trees lie one after another: tree ``t`` owns the nodes from ``roots[t]`` up to
    ``roots[t + 1]``, its first node is its root, and children come after their parent. All arrays
    are read-only.

    A row goes **left** at a numeric node where ``x <= threshold``. A missing value (NaN) goes left
    where ``default_left``. A categorical node (``category_start >= 0``) holds a bit set: a row
    whose category is in the set goes left, one within the set's range but not in it goes right,
    and one outside the range goes left where ``unseen_left``. `goes_left` is this rule in code.

    The raw prediction of output ``k`` adds, tree by tree in order and in the precision
    ``accumulate``, ``tree_weight * value[leaf]`` to ``base[k]``; "mean" and the votes then divide
    by the sum of the weights. That order is the library's own, so the sums agree to the last bit.

    Parameters
    ----------
    roots
        First node of each tree.
    left, right
        Children of each node; -1 at leaves.
    feature
        The model's column that each node splits on; -1 at leaves.
    threshold
        Largest value that goes left.
    value
        Value of each node; only those of leaves are used. One column where each tree belongs to one
        output (``tree_output``), else one column per output.
    cover
        Weight of the training rows that reached each node; NaN where it is unknown.
    base
        The value each output starts from.
    feature_names
        Names of the model's columns.
    default_left
        Whether a missing value goes left.
    zero_missing
        Whether the node treats zero as missing (LightGBM's ``zero_as_missing``).
    category_start, category_size
        Where a categorical node's bit set starts in ``category_words`` and its length in words;
        -1 and 0 at other nodes.
    category_words
        Bit sets of all categorical nodes: bit ``c % 32`` of word ``c // 32`` is category ``c``.
    unseen_left
        Whether a category outside the bit set's range goes left.
    tree_output
        The output each tree adds to; -1 where it adds to all.
    tree_weight
        The factor of each tree's values.
    divisor
        The number each output's sum is divided by: one for sums; for means and votes the total
        weight of the output's trees, computed where it is left out.
    aggregation
        How the values of the trees are combined.
    link
        The function that turns the raw prediction into the prediction.
    temperature
        The raw prediction is divided by it before the link.
    exponential
        The exponential function of the link: NumPy's or the C library's, which differ in the last
        bit.
    precision
        Values are rounded to this before they are compared.
    accumulate
        Precision of the sum.
    classes
        Labels, for classifiers.
    zero_is_positive
        Whether a raw prediction of exactly zero means the second class, for two classes and one
        output.
    positive_above
        Raw predictions above it mean the second class, for two classes, one output and a score
        that is not a log odds.
    missing_value
        A number that stands for a missing value, besides NaN.
    accepts_missing
        Whether the model has a rule for missing values; if not, they raise an error.
    levels
        Per column: the labels that codes 0, 1, ... stand for; None for numeric columns. Labels
        unknown to the model count as missing.
    columns
        The user's columns, where the model's columns are derived from them (pipelines, learners).
    groups
        The user's column that each column of the model comes from: the players of a decomposition.
    encoder
        Computes the model's columns from the user's (anything with ``transform``).
    source
        The kind of model it was imported from, for display.

    Examples
    --------
    >>> import clearwood as cw
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = RandomForestRegressor(20, max_depth=3, random_state=0).fit(X, y)
    >>> forest = cw.forest.from_model(model)
    >>> forest
    Forest of 20 trees: 160 leaves, depth 3, 10 of 10 columns used; RandomForestRegressor
    >>> bool((forest.predict(X) == model.predict(X)).all())
    True
    """

    roots: NDArray[np.int32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    value: NDArray[np.float64]
    cover: NDArray[np.float64]
    base: NDArray[np.float64]
    feature_names: tuple[str, ...]
    default_left: NDArray[np.bool_]
    zero_missing: NDArray[np.bool_]
    category_start: NDArray[np.int32]
    category_size: NDArray[np.int32]
    category_words: NDArray[np.uint32]
    unseen_left: NDArray[np.bool_]
    tree_output: NDArray[np.int32]
    tree_weight: NDArray[np.float64]
    divisor: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    aggregation: Aggregation = "sum"
    link: Link = "identity"
    temperature: float = 1.0
    exponential: Exponential = "numpy"
    precision: Precision = "float64"
    accumulate: Precision = "float64"
    classes: NDArray[Any] | None = None
    zero_is_positive: bool = False
    positive_above: float = 0.0
    missing_value: float | None = None
    accepts_missing: bool = True
    levels: tuple[tuple[Any, ...] | None, ...] = ()
    columns: tuple[str, ...] = ()
    groups: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    encoder: Any = None
    source: str = "arrays"

    def __post_init__(self) -> None:
        self._freeze(_ARRAYS)
        if self.value.ndim == 1:
            object.__setattr__(self, "value", self.value[:, None])
        if not self.levels:
            object.__setattr__(self, "levels", (None,) * len(self.feature_names))
        if not self.columns:
            object.__setattr__(self, "columns", tuple(self.feature_names))
            object.__setattr__(self, "groups", np.arange(len(self.columns), dtype=np.int32))
        if len(self.divisor) == 0:
            object.__setattr__(self, "divisor", self._total_weight())
        self._freeze({"groups": np.int32, "divisor": np.float64})
        if self.classes is not None:
            self._freeze({"classes": None})
        for name, choices in (
            ("aggregation", get_args(Aggregation)),
            ("link", get_args(Link)),
            ("exponential", get_args(Exponential)),
            ("precision", get_args(Precision)),
            ("accumulate", get_args(Precision)),
        ):
            if getattr(self, name) not in choices:
                raise unknown_choice(name, getattr(self, name), choices)
        _check.check(self)

    def _total_weight(self) -> NDArray[np.float64]:
        if self.aggregation == "sum":
            return np.ones(self.n_outputs)
        if (self.tree_output < 0).all():
            return np.full(self.n_outputs, self.tree_weight.sum())
        totals = [self.tree_weight[self.tree_output == k].sum() for k in range(self.n_outputs)]
        return np.array(totals)

    # What it holds

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.roots)

    @property
    def n_nodes(self) -> int:
        """Number of nodes of all trees, leaves included."""
        return len(self.left)

    @property
    def n_outputs(self) -> int:
        """Number of values in the raw prediction of a row."""
        return len(self.base)

    @property
    def n_features(self) -> int:
        """Number of columns of the model."""
        return len(self.feature_names)

    @cached_property
    def is_leaf(self) -> NDArray[np.bool_]:
        """Which nodes are leaves."""
        return np.asarray(self.left < 0)

    @property
    def n_leaves(self) -> int:
        """Number of leaves of all trees."""
        return int(self.is_leaf.sum())

    @cached_property
    def node_tree(self) -> NDArray[np.int32]:
        """The tree each node belongs to."""
        sizes = np.diff(np.append(self.roots, self.n_nodes))
        return np.repeat(np.arange(self.n_trees, dtype=np.int32), sizes)

    @cached_property
    def node_depth(self) -> NDArray[np.int32]:
        """Number of splits above each node."""
        depth = np.zeros(self.n_nodes, np.int32)
        level = self.roots
        while len(level := level[~self.is_leaf[level]]):
            children = np.concatenate([self.left[level], self.right[level]])
            depth[children] = np.tile(depth[level] + 1, 2)
            level = children
        return depth

    @property
    def depth(self) -> int:
        """Largest number of splits on a path from root to leaf."""
        return int(self.node_depth.max(initial=0))

    @cached_property
    def features_used(self) -> NDArray[np.int32]:
        """The model's columns that some node splits on, in order."""
        return np.unique(self.feature[~self.is_leaf])

    @property
    def columns_used(self) -> tuple[str, ...]:
        """The user's columns that some node splits on, in order."""
        return tuple(self.columns[i] for i in np.unique(self.groups[self.features_used]))

    @property
    def has_cover(self) -> bool:
        """Whether the weight of the training rows is known for every node."""
        return not bool(np.isnan(self.cover).any())

    @property
    def is_linear(self) -> bool:
        """Whether the raw prediction is a sum over the trees (all but the weighted median)."""
        return self.aggregation != "weighted median"

    @cached_property
    def leaf_value(self) -> NDArray[np.float64]:
        """What each node adds to each output of the raw prediction, of shape (nodes, outputs).

        Weights and the division of means and votes are included, so ``base`` plus the rows of one
        leaf per tree is the raw prediction up to rounding. Internal nodes are zero.
        """
        if not self.is_linear:
            raise InputError(
                "the weighted median of trees is not a sum over trees",
                hint="explain the model by sampling, or use another ensemble than AdaBoost.R2.",
            )
        weight = self.tree_weight[self.node_tree]
        if self.accumulate == "float32":
            narrow = self.value.astype(np.float32) * weight.astype(np.float32)[:, None]
            weighed = narrow.astype(np.float64)
        else:
            weighed = self.value * weight[:, None]
        weighed[~self.is_leaf] = 0.0
        if weighed.shape[1] == self.n_outputs:
            spread = weighed
        else:  # each tree adds to one of several outputs
            spread = np.zeros((self.n_nodes, self.n_outputs))
            spread[np.arange(self.n_nodes), self.tree_output[self.node_tree]] = weighed[:, 0]
        if self.aggregation != "sum":
            spread /= self.divisor
        spread.flags.writeable = False
        return spread

    @cached_property
    def packed(self) -> PackedForest:
        """The trees laid out for the prediction kernel."""
        return _predict.pack(self)

    select = _parts.select

    # What it predicts

    def matrix(self, X: Any) -> NDArray[np.float64]:
        """Return the model's columns of a table: numbers, category codes, NaN for missing.

        Parameters
        ----------
        X
            A clearwood table, a data frame (columns are matched by name, in any order), or an array
            with the columns in order.

        Returns
        -------
        ndarray of shape (n_rows, n_features)
        """
        return _inputs.matrix(self, X).astype(np.float64, copy=False)

    def goes_left(self, node: int, x: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Whether each value of a node's column goes left; raises an error for leaves."""
        if self.is_leaf[node]:
            raise InputError(
                f"node {node} is a leaf, which has no split", parameter="node", value=node
            )
        x = np.asarray(x, np.float64).ravel()
        return _predict.goes_left(self, np.full(len(x), node), _predict.rounded(self, x))

    def apply(self, X: Any, *, n_jobs: int = 1) -> NDArray[np.int32]:
        """Return the leaf each row reaches in each tree, as a position in the node arrays.

        Returns
        -------
        ndarray of shape (n_rows, n_trees)
        """
        return _predict.apply(self, _inputs.matrix(self, X), n_jobs=n_jobs)

    def predict_raw(self, X: Any, *, n_jobs: int = 1) -> NDArray[np.float64]:
        """Return the raw prediction: the library's margin, score, mean or shares of votes.

        Parameters
        ----------
        X
            A table, data frame or array.
        n_jobs
            Number of threads; -1 for all cores. The result does not depend on it.

        Returns
        -------
        ndarray of shape (n_rows,), or (n_rows, n_outputs) where there are several outputs
        """
        return _predict.predict_raw(self, _inputs.matrix(self, X), n_jobs=n_jobs)

    def predict(self, X: Any, *, n_jobs: int = 1) -> NDArray[Any]:
        """Return predictions: labels for classifiers, else numbers on the target's scale."""
        return _links.predict(self, self.predict_raw(X, n_jobs=n_jobs))

    def predict_proba(self, X: Any, *, n_jobs: int = 1) -> NDArray[np.float64]:
        """Return the probability of each class, in the order of ``classes``."""
        return _links.probabilities(self, self.predict_raw(X, n_jobs=n_jobs))

    # How it is shown and kept

    __repr__ = _summary.line
    _repr_html_ = _summary.html
    summary = _summary.facts
    to_json = _summary.to_json
    save = _files.save
    __clearwood_file__ = _files.contents
