"""What a readable model's score is made of: products of curves, and trees.

Splines, tensors, hinges and lines are sums of products of functions of one column each,
f(x) = c + Σ_m β_m Π_{j∈S_m} u_mj(x_j). Rules, planted leaves and boosted trees are trees. An
estimator that says so, by an attribute ``parts_``, is decomposed exactly, with bands where it
knows how far its coefficients vary from sample to sample.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats
from clearwood._shared.choices import SpreadSource
from clearwood.kernels import PackedForest

__all__ = [
    "Basis",
    "Link",
    "ProductTerm",
    "ScoreParts",
    "Spread",
    "SumOfProducts",
    "TermFacts",
    "TreeArrays",
]

#: Functions of one column of the encoded matrix: from values (NaN where missing) to
#: (rows, functions). It must be a class with plain attributes, so that it can be saved.
Basis = Callable[[Floats], Floats]
Link = Literal["identity", "log", "logistic", "softmax"]


class TermFacts(TypedDict):
    """Facts about a term besides its curve; ``term_table_`` is a list of these.

    ``columns`` are positions in the encoded matrix, ``edf`` the effective degrees of freedom, and
    ``p_value`` belongs to the hypothesis that the term is zero, None where it is not tested.
    """

    columns: tuple[int, ...]
    edf: float
    p_value: float | None


@dataclass(frozen=True, eq=False)
class ProductTerm:
    """A sum of products of functions of a few columns.

    Parameters
    ----------
    columns
        Positions in the encoded matrix, distinct, at most three.
    bases
        The functions of each column.
    coefficients
        Of shape (functions of each column..., outputs).

    Examples
    --------
    >>> line = lambda values: values[:, None]
    >>> term = ProductTerm((0, 1), (line, line), np.array([[[2.0]]]))
    >>> term(np.array([[3.0, 5.0]]))
    array([[30.]])
    """

    columns: tuple[int, ...]
    bases: tuple[Basis, ...]
    coefficients: Floats

    def __call__(self, matrix: Floats) -> Floats:
        """Compute what the term adds to rows, of shape (rows, outputs)."""
        total = np.tensordot(self.bases[0](matrix[:, self.columns[0]]), self.coefficients, (1, 0))
        for column, basis in zip(self.columns[1:], self.bases[1:], strict=True):
            total = np.einsum("nk,nk...->n...", basis(matrix[:, column]), total)
        return np.asarray(total)


@dataclass(frozen=True, eq=False)
class SumOfProducts:
    """A constant, of shape (outputs,), and terms."""

    constant: Floats
    terms: tuple[ProductTerm, ...] = ()

    def __call__(self, matrix: Floats) -> Floats:
        """Compute the sum for rows, of shape (rows, outputs)."""
        total = np.repeat(np.asarray(self.constant, np.float64)[None, :], len(matrix), axis=0)
        for term in self.terms:
            total += term(matrix)
        return total


@dataclass(frozen=True, eq=False, kw_only=True)
class TreeArrays:
    """Trees as plain arrays, one after another; fields are those of `clearwood.forest.Forest`.

    The sum over trees has no constant and no link. `clearwood.forest.from_model` reads it.

    Parameters
    ----------
    roots
        First node of each tree; children come after their parent.
    left, right
        Children, counted over all trees; -1 at leaves.
    feature, threshold
        The column a node splits on (-1 at leaves); values up to the threshold go left.
    default_left
        Whether a missing value goes left.
    value
        Of shape (nodes, 1) where every tree has one output, else (nodes, outputs).
    cover
        Weight of the training rows in each node.
    tree_output
        The output each tree adds to; -1 for all.
    n_features, n_outputs
        Columns of the matrix, and outputs.
    category_start, category_size, category_words, unseen_left
        Sets of category codes that go left; None where no node splits on categories.
    """

    roots: NDArray[np.int32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    default_left: NDArray[np.bool_]
    value: NDArray[np.float64]
    cover: NDArray[np.float64]
    tree_output: NDArray[np.int32]
    n_features: int
    n_outputs: int
    category_start: NDArray[np.int32] | None = None
    category_size: NDArray[np.int32] | None = None
    category_words: NDArray[np.uint32] | None = None
    unseen_left: NDArray[np.bool_] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields; what they are packed into is made again where it is needed."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def split_arrays(self) -> Mapping[str, NDArray[Any]]:
        """Return every array of nodes and trees, those of categories filled in."""
        n_nodes = len(self.left)
        empty = {
            "category_start": np.full(n_nodes, -1, np.int32),
            "category_size": np.zeros(n_nodes, np.int32),
            "category_words": np.empty(0, np.uint32),
            "unseen_left": np.zeros(n_nodes, bool),
        }
        held = {field.name: getattr(self, field.name) for field in fields(self)}
        arrays = {key: empty.get(key) if array is None else array for key, array in held.items()}
        return {key: array for key, array in arrays.items() if isinstance(array, np.ndarray)}

    @cached_property
    def _packed(self) -> PackedForest:
        arrays = {key: array for key, array in self.split_arrays().items() if key != "cover"}
        return PackedForest(
            **arrays,
            zero_missing=np.zeros(len(self.left), bool),
            n_features=self.n_features,
            n_outputs=self.n_outputs,
            compare_float32=False,
            add_float32=False,
        )

    def __call__(self, matrix: Floats, *, n_jobs: int = 1) -> Floats:
        """Add up the leaves that rows reach, of shape (rows, outputs)."""
        return self._packed.sum(matrix, base=np.zeros(self.n_outputs), n_jobs=n_jobs)


@dataclass(frozen=True, eq=False)
class ScoreParts:
    """The score of an estimator before its link: products plus trees.

    Parameters
    ----------
    products
        Curves, tensors, hinges, lines; the constant is theirs.
    trees
        What is added to them; None where there is nothing.
    link
        Turns the score into the prediction.
    spread
        How far the score varies from sample to sample; None where that is not known.
    """

    products: SumOfProducts
    trees: TreeArrays | None = None
    link: Link = "identity"
    spread: "Spread | None" = None

    def __call__(self, matrix: Floats) -> Floats:
        """Compute the score of rows, of shape (rows, outputs)."""
        score = self.products(matrix)
        return score if self.trees is None else score + self.trees(matrix)


@dataclass(frozen=True, eq=False)
class Spread:
    """Deviations whose squares add up to the variance of a score, and of anything linear in it.

    For a covariance V = L Lᵀ of coefficients they are the columns of L; for a jackknife over K
    groups, sqrt((K − 1) / K) times what each of the K models differs from their mean by.

    Parameters
    ----------
    parts
        The deviations as outputs: output ``o`` of the model has those from ``o * count`` on.
    count
        Deviations of each output.
    freedom
        Degrees of freedom of the t distribution that bands use; infinite for the normal one.
    source
        What they come from: the covariance of coefficients, or models of folds or of bootstrap
        samples.
    further
        Further deviations, independent of these, with degrees of freedom of their own.
    """

    parts: ScoreParts
    count: int
    freedom: float
    source: SpreadSource
    further: "Spread | None" = None

    def variance(self, matrix: Floats) -> Floats:
        """Compute the variance of the score of rows, of shape (rows, outputs)."""
        own = self.parts(matrix)
        total: Floats = (own.reshape(len(own), -1, self.count) ** 2).sum(axis=2)
        return total if self.further is None else total + self.further.variance(matrix)
