"""The part of a condensed tree whose questions separate rows of a table."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from clearwood._shared.errors import InputError
from clearwood._shared.numbers import count
from clearwood._shared.results import Result
from clearwood.condensing.tree.certificate import Region
from clearwood.condensing.tree.diagram import Diagram
from clearwood.condensing.tree.fingerprint import of_diagram
from clearwood.forest import SPLIT_ARRAYS, from_model, supports

if TYPE_CHECKING:
    from clearwood.condensing.condensed import Condensed

__all__ = ["Pruned", "prune"]

_MOST_VISITS = 5_000_000


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Pruned(Result):
    """A tree pruned to some rows; it no longer equals the ensemble everywhere.

    Parameters
    ----------
    tree
        The smaller tree, which predicts, reads and exports as any condensed tree. Its certificate
        covers the rows it was pruned to.
    n_leaves_before
        How many leaves the whole tree has.
    n_rows
        How many rows it was pruned to; on these it agrees with the ensemble.
    """

    tree: "Condensed"
    n_leaves_before: int
    n_rows: int

    _derived: ClassVar[tuple[str, ...]] = ("n_leaves",)
    _omitted: ClassVar[tuple[str, ...]] = ("tree",)

    @property
    def n_leaves(self) -> int:
        """How many leaves the smaller tree has."""
        return self.tree.n_leaves

    def agreement(self, model: Any, data: Any) -> float:
        """Return the share of rows on which it predicts what the ensemble predicts.

        Parameters
        ----------
        model
            The ensemble, or the whole condensed tree.
        data
            Rows, preferably others than it was pruned to.
        """
        if supports(model):
            model = from_model(model)  # reads tables, and every library's predictions alike
        pruned, whole = self.tree.predict(data), np.asarray(model.predict(data))
        same = pruned == whole if pruned.ndim == 1 else (pruned == whole).all(axis=1)
        return float(np.mean(same))

    def __repr__(self) -> str:
        return (
            f"Pruned to {count(self.n_rows, 'row')}: {self.n_leaves:,} of "
            f"{self.n_leaves_before:,} leaves; no longer equal everywhere"
        )


def prune(condensed: "Condensed", data: Any) -> Pruned:
    """Remove every question that does not separate rows of a table.

    This is the pruning of Vidal and Schiffer (2020): a question with all the rows on one side is
    replaced by that side. Predictions for these rows stay the same; for others the tree may now
    differ from the ensemble.

    Parameters
    ----------
    data
        The rows that matter, such as the training rows.

    Examples
    --------
    >>> import clearwood as cw
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(10, max_depth=2, random_state=0).fit(X, y)
    >>> small = prune(cw.condense(forest), X)
    >>> small.tree.n_leaves < small.n_leaves_before, small.agreement(forest, X)
    (True, 1.0)
    """
    matrix = condensed.matrix(data)
    if len(matrix) == 0:
        raise InputError(
            "there are no rows to prune to", parameter="data", hint="pass the training rows."
        )
    diagram = condensed.diagram
    visits = 0
    # new nodes: (old node, left, right); looked up by these, so that equal branches stay shared
    nodes: list[tuple[int, int, int]] = []
    known: dict[tuple[int, int, int], int] = {}

    def make(old: int, left: int, right: int) -> int:
        if left >= 0 and left == right:
            return left
        key = (old, left, right) if left >= 0 else (-1 - old, -1, -1)
        if key not in known:
            known[key] = len(nodes)
            nodes.append((old, left, right))
        return known[key]

    # Children are created before parents: each entry is visited twice.
    stack: list[tuple[int, Any, bool]] = [(0, np.arange(len(matrix)), False)]
    done: list[int] = []
    while stack:
        node, rows, closing = stack.pop()
        visits += 1
        if visits > _MOST_VISITS:
            raise InputError(
                "there are too many rows and branches to prune",
                parameter="data",
                hint="pass a sample of the rows.",
            )
        if closing:
            right, left = done.pop(), done.pop()
            done.append(make(node, left, right))
            continue
        if diagram.is_leaf[node]:
            done.append(make(node, -1, -1))
            continue
        column = int(diagram.feature[node])
        goes = diagram.goes_left(np.full(len(rows), node), matrix[rows, column])
        if goes.all() or not goes.any():
            child = diagram.left[node] if goes.all() else diagram.right[node]
            stack.append((int(child), rows, False))
            continue
        stack.append((node, rows, True))
        stack.append((int(diagram.right[node]), rows[~goes], False))
        stack.append((int(diagram.left[node]), rows[goes], False))
    smaller = _renumbered(diagram, nodes)
    certificate = replace(
        condensed.certificate,
        region=Region.ROWS,
        optimal=False,
        n_leaves=smaller.n_leaves,
        depth=smaller.depth,
        n_nodes=smaller.n_nodes,
        diagram=of_diagram(smaller),
        n_rows=len(matrix),
        share_certified=None,
    )
    fallback = None if smaller.certified.all() else condensed.fallback
    own = replace(condensed, surrogates=(), outline=None)  # those of the tree before
    tree = replace(own, diagram=smaller, certificate=certificate, fallback=fallback)
    return Pruned(tree=tree, n_leaves_before=condensed.n_leaves, n_rows=len(matrix))


def _renumbered(diagram: Diagram, nodes: list[tuple[int, int, int]]) -> Diagram:
    """Lay new nodes out parents first: they were created children first, the root last."""
    old, left, right = np.array(nodes[::-1]).T
    kept = (*SPLIT_ARRAYS, "outcome", "value", "low", "high", "certified")
    return replace(
        diagram,
        left=np.where(left < 0, -1, len(old) - 1 - left).astype(np.int32),
        right=np.where(right < 0, -1, len(old) - 1 - right).astype(np.int32),
        **{name: getattr(diagram, name)[old] for name in kept},
    )
