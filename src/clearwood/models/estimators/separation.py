"""Classes that columns separate: without a penalty there are no finite coefficients."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Bools, Floats, Index
from clearwood._shared.errors import Setting, words
from clearwood._shared.messages import tell
from clearwood._shared.weights import counted

__all__ = ["warn_of_separation"]

#: Columns that a warning names.
_MOST_NAMED = 3


def warn_of_separation(
    name: str,
    estimator: Any,
    encoded: Floats,
    target: Index,
    weight: Floats | None,
    *,
    sources: Sequence[str],
    classes: NDArray[Any],
) -> None:
    """Warn where the likelihood of a fitted linear model of classes has no maximum.

    There is none if a class has one side of a plane to itself, where rows may lie on the plane
    (Albert and Anderson 1984). Each plane that is looked at proves it: those of single columns, and
    those of the model's own scores, which an ever larger likelihood leads to. Planes through rows
    that only several columns together define are not found.

    Parameters
    ----------
    name
        Of the learner.
    estimator
        Fitted to the rows, with a ``decision_function``.
    encoded, target, weight
        The rows: encoded columns, positions of classes and weights.
    sources
        The column of the table that each encoded one is made from.
    classes
        The classes by position.
    """
    rows = counted(weight, len(target))[0]
    encoded, target = encoded[rows], target[rows]
    for k in range(len(classes)) if len(classes) > 2 else [1]:
        is_own = target == k
        if is_own.all() or not is_own.any():
            continue
        alone = list(
            dict.fromkeys(sources[int(j)] for j in np.flatnonzero(_sides(encoded, is_own)))
        )
        if alone:
            who = _named(alone)
        elif any(
            _sides(one, is_own, strictly=True).any() for one in _planes(estimator, encoded, k)
        ):
            who = "a combination of columns"
        else:
            continue
        tell(
            words(
                f"learner {name!r}: {who} separates all or some rows of class {str(classes[k])!r} "
                "from the other classes, so that without a penalty some coefficients have no "
                "finite value; they are where the solver stopped, and their standard errors mean "
                "nothing. Set ",
                Setting("penalty", "l2"),
                "." if len(classes) > 2 else ", or use 'bayes', whose priors keep them finite.",
            )
        )
        return


def _named(columns: Sequence[str]) -> str:
    if len(columns) == 1:
        return f"column {columns[0]!r} alone"
    more = len(columns) - _MOST_NAMED
    listed = ", ".join(map(repr, columns[:_MOST_NAMED]))
    return f"each of the columns {listed}{f' and {more} more' if more > 0 else ''} alone"


def _planes(estimator: Any, encoded: Floats, k: int) -> Iterator[Floats]:
    """Give the heights of rows above planes through the score of one class, as columns."""
    scores = np.asarray(estimator.decision_function(encoded))
    if scores.ndim == 1:
        yield scores[:, None]
        return
    yield scores[:, [k]]
    yield scores[:, [k]] - np.delete(scores, k, axis=1)


def _sides(values: Floats, is_own: Bools, *, strictly: bool = False) -> Bools:
    """Return the columns by which a class has one side of a value to itself.

    Strictly, the value is 0, the class lies above it and no row on it.
    """
    own, other = values[is_own], values[~is_own]
    if strictly:
        return np.asarray((own.min(axis=0) > 0) & (other.max(axis=0) < 0))
    above = own.min(axis=0) >= other.max(axis=0)
    below = own.max(axis=0) <= other.min(axis=0)
    return np.asarray((above | below) & (np.ptp(values, axis=0) > 0))
