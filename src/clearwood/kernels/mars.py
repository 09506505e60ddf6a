"""The forward pass of multivariate adaptive regression splines (MARS)."""

from dataclasses import dataclass
from typing import SupportsIndex

import numpy as np
from numpy.typing import NDArray

from clearwood.kernels import _core
from clearwood.kernels.parallelism import threads

__all__ = ["HINGE_KINDS", "HingeSearch", "search_hinges"]

#: What a term multiplies its parent by: codes of ``HingeSearch.kind``.
HINGE_KINDS = ("constant", "line", "up", "down", "levels", "missing")


@dataclass(frozen=True, eq=False)
class HingeSearch:
    """The terms that a forward pass found, in the order in which they were added.

    Parameters
    ----------
    parent
        The term that each one multiplies; -1 for the constant, which comes first.
    column
        The column of its own function; -1 for the constant.
    kind
        Position in `HINGE_KINDS` of that function.
    knot
        The hinge's knot, or the value at which a line is zero.
    subset
        For "levels": which codes (and, last, missing) have the value one.
    basis
        The terms' values, of shape (terms, rows), times the root of the row's weight.
    """

    parent: NDArray[np.int32]
    column: NDArray[np.int32]
    kind: NDArray[np.int32]
    knot: NDArray[np.float64]
    subset: NDArray[np.bool_]
    basis: NDArray[np.float64]


def search_hinges(
    X: NDArray[np.float64],
    response: NDArray[np.float64],
    weight: NDArray[np.float64],
    *,
    levels: NDArray[np.int32],
    max_terms: int,
    degree: int = 1,
    threshold: float = 0.001,
    min_span: float = 0,
    end_span: float = 0,
    max_knots: int = 200,
    n_parents: int = 20,
    n_jobs: SupportsIndex | None = 1,
) -> HingeSearch:
    """Add the product that lowers the sum of squares most, step by step.

    Parameters
    ----------
    X
        Rows by columns; NaN is missing; codes from 0 in columns with levels.
    response
        Of shape (rows, responses); gains are added up over responses.
    weight
        Positive, adding up to the number of rows that they stand for.
    levels
        Number of levels of each column of codes; 0 for numbers.
    max_terms
        Terms at most, with the constant.
    degree
        Columns in a product at most.
    threshold
        The search ends once a step adds less than this to R².
    min_span, end_span
        Rows between knots, and beyond the outermost ones; 0 for Friedman's rules.
    max_knots
        Knots of a column at most.
    n_parents
        Terms that a step tries to extend; 0 for all.
    n_jobs
        Number of threads; the result does not depend on it.

    Examples
    --------
    >>> x = np.arange(100.0)
    >>> search = search_hinges(
    ...     x[:, None], np.maximum(x - 50, 0)[:, None], np.ones(100),
    ...     levels=np.zeros(1, np.int32), max_terms=3, min_span=1,
    ... )
    >>> [(HINGE_KINDS[kind], float(knot)) for kind, knot in zip(search.kind, search.knot)]
    [('constant', 0.0), ('up', 50.0), ('down', 50.0)]
    """
    n_rows = len(X)
    parent, column, kind = (np.empty(max_terms, np.int32) for _ in range(3))
    knot = np.empty(max_terms)
    subset = np.zeros((max_terms, int(levels.max(initial=0)) + 1), np.uint8)
    basis = np.empty((max_terms, n_rows))
    n_terms = _core.mars_forward(
        columns=np.ascontiguousarray(X.T),
        levels=levels,
        response=np.ascontiguousarray(response.T),
        weight=weight,
        degree=degree,
        threshold=threshold,
        min_span=min_span,
        end_span=end_span,
        max_knots=max_knots,
        n_parents=n_parents,
        parent=parent,
        column=column,
        kind=kind,
        knot=knot,
        subset=subset,
        basis=basis,
        n_threads=threads(n_jobs),
    )
    return HingeSearch(
        parent[:n_terms],
        column[:n_terms],
        kind[:n_terms],
        knot[:n_terms],
        subset[:n_terms].astype(bool),
        basis[:n_terms],
    )
