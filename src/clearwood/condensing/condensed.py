"""The result of condensing: one tree, what it equals, and where."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.errors import InputError
from clearwood.condensing.diagram import Diagram
from clearwood.condensing.proof.certificate import Certificate
from clearwood.condensing.reading.reading import Readable
from clearwood.forest import Forest
from clearwood.forest.links import predict as on_scale

__all__ = ["Condensed", "Effort", "Equal", "Objective", "bare", "shell_of"]

Equal = Literal["class", "value"]
Effort = Literal["fast", "good", "optimal"]
Objective = Literal["leaves", "depth", "questions"]


def shell_of(forest: Forest, *, asking: NDArray[np.int32] | None = None) -> Forest:
    """Give a forest without its trees: how tables are read and raw predictions shown.

    One tree of zeros is left, so that it is still a forest.

    Parameters
    ----------
    forest
        The ensemble.
    asking
        Columns that the tree of zeros asks about, for the refusal of values that it cannot read
        there; none where it is left out.
    """
    columns = np.empty(0, np.int32) if asking is None else asking
    # a chain: one question a column, then leaves
    inner, n = len(columns), 2 * len(columns) + 1
    chain = np.arange(inner)
    nowhere = np.full(inner + 1, -1)
    return replace(
        forest,
        roots=np.zeros(1, np.int32),
        left=np.append(chain + inner, nowhere).astype(np.int32),
        right=np.append(np.append(chain[1:], n - 1)[:inner], nowhere).astype(np.int32),
        feature=np.append(columns, nowhere).astype(np.int32),
        threshold=np.zeros(n),
        value=np.zeros((n, forest.value.shape[1])),
        cover=np.full(n, np.nan),
        default_left=np.zeros(n, bool),
        zero_missing=np.zeros(n, bool),
        category_start=np.full(n, -1, np.int32),
        category_size=np.zeros(n, np.int32),
        category_words=np.empty(0, np.uint32),
        unseen_left=np.zeros(n, bool),
        tree_output=forest.tree_output[:1],
        tree_weight=np.ones(1),
    )


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Condensed(Readable):
    """One tree that predicts what an ensemble predicts; made by `clearwood.condense`.

    Parameters
    ----------
    diagram
        The tree, with equal branches kept once.
    shell
        The ensemble without its trees: names, levels and encoder of the user's columns, classes
        and link. What `predict` reads tables and shows predictions with.
    equal
        What is equal: "class", the predicted label; or "value", the raw prediction (margin, mean,
        shares of votes) and with it everything computed from it.
    effort, objective
        What was asked for.
    tolerance
        How far a leaf's value may be from the ensemble's raw prediction; None where it is exact.
    fallback
        The ensemble, cut down to where leaves are not certified, which it answers; None where all
        leaves are.
    certificate
        What is proved, where and how.

    See Also
    --------
    clearwood.certify : A separate checker of the equality.

    Examples
    --------
    >>> import clearwood as cw
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(10, max_depth=2, random_state=0).fit(X, y)
    >>> one = cw.condense(forest)
    >>> bool((one.predict(X) == forest.predict(X)).all())
    True
    """

    diagram: Diagram
    shell: Forest
    equal: Equal
    effort: Effort
    objective: Objective
    certificate: Certificate
    tolerance: float | None = None
    fallback: Forest | None = None

    def __post_init__(self) -> None:
        if self.fallback is None and not self.diagram.certified.all():
            raise InputError("leaves that are not certified need the ensemble to answer them")
        if self.equal == "class" and self.shell.classes is None:
            raise InputError("the ensemble predicts numbers, so there is no class to be equal")

    # What it holds

    @property
    def n_leaves(self) -> int:
        """How many leaves it has as a tree."""
        return self.diagram.n_leaves

    @property
    def depth(self) -> int:
        """The most questions any row is asked."""
        return self.diagram.depth

    @property
    def n_nodes(self) -> int:
        """How many nodes it has, leaves included, with equal branches kept once."""
        return self.diagram.n_nodes

    @property
    def classes(self) -> NDArray[Any] | None:
        """The labels of a classifier."""
        return self.shell.classes

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the model's columns, which ``diagram.feature`` counts."""
        return self.shell.feature_names

    @property
    def columns(self) -> tuple[str, ...]:
        """The user's columns, from which the model's are made."""
        return self.shell.columns

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of the ensemble it is equal to."""
        return self.certificate.forest

    @cached_property
    def is_exact(self) -> bool:
        """Whether every leaf is certified and none is off by a tolerance."""
        return self.fallback is None and self.tolerance is None

    # What it predicts

    def matrix(self, X: Any) -> NDArray[np.float64]:
        """Give a table as the model's columns: numbers, category codes, NaN for missing."""
        try:
            return self._reader.matrix(X)
        except InputError as error:
            if self.shell.encoder is None and self.columns != self.feature_names:
                raise InputError(
                    error.message,
                    hint="the steps of the pipeline are not kept in a file; give the columns that "
                    "they make: pipeline[:-1].transform(X).",
                ) from error
            raise

    @cached_property
    def _reader(self) -> Forest:
        """The ensemble's way of reading tables; it knows which columns are asked about."""
        asked = self.diagram.feature[~self.diagram.is_leaf]
        if self.fallback is not None:
            asked = np.append(asked, self.fallback.features_used)
        return shell_of(self.shell, asking=np.unique(asked))

    def apply(self, X: Any) -> NDArray[np.int32]:
        """Give the leaf each row reaches, as a node of ``diagram``."""
        return self.diagram.apply(self.matrix(X))

    def is_certified(self, X: Any) -> NDArray[np.bool_]:
        """Say which rows reach a certified leaf; the others are answered by the ensemble."""
        return self.diagram.certified[self.apply(X)]

    def predict_raw(self, X: Any) -> NDArray[np.float64]:
        """Give the ensemble's raw prediction; only where the values are equal.

        Returns
        -------
        ndarray of shape (n_rows,), or (n_rows, n_outputs) where there are several outputs
        """
        if self.equal != "value":
            raise InputError(
                "this tree gives the ensemble's class, not its score",
                hint='condense with equal="value" for a (larger) tree that gives both.',
            )
        matrix = self.matrix(X)
        leaves = self.diagram.apply(matrix)
        raw = self.diagram.value[leaves]
        rest = ~self.diagram.certified[leaves]
        if rest.any() and self.fallback is not None:
            answered = bare(self.fallback).predict_raw(matrix[rest])
            raw[rest] = answered.reshape(len(answered), -1)
        return raw[:, 0] if self.shell.n_outputs == 1 else raw

    def predict(self, X: Any) -> NDArray[Any]:
        """Give the prediction: labels for classifiers, else numbers on the target's scale."""
        if self.equal == "value":
            return on_scale(self.shell, self.predict_raw(X))
        matrix = self.matrix(X)
        leaves = self.diagram.apply(matrix)
        assert self.shell.classes is not None  # checked when it was made
        labels = self.shell.classes[np.maximum(self.diagram.outcome[leaves], 0)]
        rest = ~self.diagram.certified[leaves]
        if rest.any() and self.fallback is not None:
            labels[rest] = bare(self.fallback).predict(matrix[rest])
        return np.asarray(labels)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Give the probability of each class; only where the values are equal."""
        from clearwood.forest.links import probabilities

        return probabilities(self.shell, self.predict_raw(X))

    # How it is shown

    def __repr__(self) -> str:
        leaves = f"{self.n_leaves:,} {'leaf' if self.n_leaves == 1 else 'leaves'}"
        nodes = f"{self.n_nodes:,} {'node' if self.n_nodes == 1 else 'nodes'}"
        shape = f"{leaves}, depth {self.depth}, {nodes} when shared"
        return f"Condensed {self.shell.source}: {shape}; {self.certificate.statement}"


def bare(forest: Forest) -> Forest:
    """Give the forest that reads a matrix of its own columns as it is."""
    return replace(forest, encoder=None, missing_value=None, levels=(None,) * forest.n_features)
