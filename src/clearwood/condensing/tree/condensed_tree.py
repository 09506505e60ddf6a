"""One tree that stands for an ensemble: what it holds and what it predicts."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Bools, Floats
from clearwood._shared.choices import Effort, Equal, Objective
from clearwood._shared.errors import InputError, Option, words
from clearwood._shared.results import Result
from clearwood.condensing.tree.certificate import Certificate
from clearwood.condensing.tree.diagram import Diagram
from clearwood.forest import Forest, links

__all__ = ["CondensedTree", "SurrogateSplit", "bare", "shell_of"]


def shell_of(forest: Forest, *, columns: NDArray[np.int32] | None = None) -> Forest:
    """Return a forest without its trees: how tables are read and raw predictions shown.

    One tree of zeros is left, so that it is still a forest. It splits on ``columns``, so that
    values which it cannot read there are refused.
    """
    columns = np.empty(0, np.int32) if columns is None else columns
    # a chain: one split a column, then leaves
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


@dataclass(frozen=True)
class SurrogateSplit:
    """A split that stands in for another where its value is missing.

    Parameters
    ----------
    where
        The conditions that lead to the split; empty at the root.
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

    where: tuple[str, ...]
    split: str
    surrogate: str
    agreement: float
    gain: float


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CondensedTree(Result):
    """What a condensed tree holds; `clearwood.condensing.Condensed` describes the fields."""

    diagram: Diagram
    shell: Forest
    equal: Equal
    effort: Effort
    objective: Objective
    certificate: Certificate
    tolerance: float | None = None
    fallback: Forest | None = None
    surrogates: tuple[SurrogateSplit, ...] = ()
    outline: Diagram | None = None

    def __post_init__(self) -> None:
        if self.fallback is None and not self.diagram.certified.all():
            raise InputError("leaves that are not certified need the ensemble to predict there")
        if self.equal == "class" and self.shell.classes is None:
            raise InputError("the ensemble predicts numbers, so no class can be equal")

    # What it holds

    @property
    def n_leaves(self) -> int:
        """How many leaves it has as a tree."""
        return self.diagram.n_leaves

    @property
    def depth(self) -> int:
        """The number of questions on the longest path."""
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
        """Names of the model's columns; ``diagram.feature`` holds positions among them."""
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

    def matrix(self, X: Any) -> Floats:
        """Return a table as the model's columns: numbers, category codes, NaN for missing."""
        try:
            return self._reader.matrix(X)
        except InputError as error:
            if self.shell.encoder is None and self.columns != self.feature_names:
                raise InputError(
                    error.message,
                    parameter=error.parameter,
                    value=error.value,
                    hint="the steps of the pipeline are not kept in a file; pass the columns that "
                    "they make: pipeline[:-1].transform(X).",
                ) from error
            raise

    @cached_property
    def _reader(self) -> Forest:
        """The ensemble's way of reading tables, with the columns that matter for a prediction."""
        used = self.diagram.feature[~self.diagram.is_leaf]
        if self.fallback is not None:
            used = np.append(used, self.fallback.features_used)
        return shell_of(self.shell, columns=np.unique(used))

    def apply(self, X: Any) -> NDArray[np.int32]:
        """Return the leaf each row reaches, as a node of ``diagram``."""
        return self.diagram.apply(self.matrix(X))

    def is_certified(self, X: Any) -> Bools:
        """Return which rows reach a certified leaf; the ensemble predicts the others."""
        return self.diagram.certified[self.apply(X)]

    def predict_raw(self, X: Any) -> Floats:
        """Return the ensemble's raw prediction; only where the values are equal.

        Returns
        -------
        ndarray of shape (n_rows,), or (n_rows, n_outputs) where there are several outputs
        """
        if self.equal != "value":
            raise InputError(
                "this tree holds the ensemble's class, not its score",
                hint=words("condense with ", Option("equal", "value"), " for both."),
            )
        matrix = self.matrix(X)
        leaves = self.diagram.apply(matrix)
        raw = self.diagram.value[leaves]
        rest = ~self.diagram.certified[leaves]
        if rest.any() and self.fallback is not None:
            rest_raw = bare(self.fallback).predict_raw(matrix[rest])
            raw[rest] = rest_raw.reshape(len(rest_raw), -1)
        return raw[:, 0] if self.shell.n_outputs == 1 else raw

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the prediction: labels for classifiers, else numbers on the target's scale."""
        if self.equal == "value":
            return links.predict(self.shell, self.predict_raw(X))
        matrix = self.matrix(X)
        leaves = self.diagram.apply(matrix)
        assert self.shell.classes is not None  # checked above
        labels = self.shell.classes[np.maximum(self.diagram.outcome[leaves], 0)]
        rest = ~self.diagram.certified[leaves]
        if rest.any() and self.fallback is not None:
            labels[rest] = bare(self.fallback).predict(matrix[rest])
        return np.asarray(labels)

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class; only where the values are equal."""
        return links.probabilities(self.shell, self.predict_raw(X))


def bare(forest: Forest) -> Forest:
    """Return the forest that reads a matrix of its own columns as it is."""
    return replace(forest, encoder=None, missing_value=None, levels=(None,) * forest.n_features)
