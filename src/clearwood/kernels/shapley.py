"""Shapley values, interactions and components of trees, exactly, on plain arrays.

The order of work: prepare the trees once, count a background once, explain rows::

    trees = Trees.of(forest)
    background = Background.of(trees, chunk_1) + Background.of(trees, chunk_2)
    interventional(trees, X, background).values

Rows are matrices of the model's columns (``forest.matrix(X)``). All values are on the scale of the
raw prediction. Axes are always rows, then players (or sets), then outputs.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.errors import InputError
from clearwood.kernels import _core
from clearwood.kernels.parallelism import threads
from clearwood.kernels.trees import Trees

__all__ = [
    "Background",
    "Progress",
    "ShapleyValues",
    "interventional",
    "path_dependent",
    "run_kernel",
]

Floats = NDArray[np.float64]
#: Called with the number of rows explained since the last call.
Progress = Callable[[int], object]

# Rows explained by one call of a kernel: enough to make preparing tables cheap, few enough that
# codes and scratch stay small beside the result.
_ROWS_PER_CHUNK = 1 << 16


@dataclass(frozen=True, eq=False)
class ShapleyValues:
    """Shapley values of rows, and their interactions if requested.

    Parameters
    ----------
    values
        Shape (rows, players, outputs). With the baseline they add up to the raw prediction.
    baseline
        Shape (outputs,): the value of the empty coalition.
    interactions
        Shape (rows, players, players, outputs), symmetric. Off the diagonal, half of the pair's
        Shapley interaction index, so that the two entries of a pair together are the index; on the
        diagonal what is left, so that every row of the matrix adds up to the player's Shapley value
        (the convention of TreeSHAP; Lundberg et al. 2020).
    """

    values: Floats
    baseline: Floats
    interactions: Floats | None = None


@dataclass(frozen=True, eq=False)
class Background:
    """Background rows as the kernels need them; those of chunks add up with ``+``.

    For trees with short paths it holds the total weight of each pattern of split outcomes, whose
    size does not grow with the rows. Trees with long paths have too many patterns: for them the
    rows are kept, as codes of two bytes.

    Parameters
    ----------
    trees
        The trees it belongs to.
    counts
        Summed weights per pattern, for all trees that are counted.
    codes, weights
        Chunks of encoded rows and their weights; empty if every tree is counted.
    n_rows
        How many rows were added.
    total_weight
        Sum of their weights.
    """

    trees: Trees
    counts: Floats
    codes: tuple[NDArray[np.uint16], ...]
    weights: tuple[Floats, ...]
    n_rows: int
    total_weight: float
    # Tables for Shapley values (False) and interactions (True), where they are small.
    _tables: dict[bool, _core.ShapleyTables] = field(default_factory=dict, init=False, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        # compiled objects stay in their process and are built again where they are needed
        return self.__dict__ | {"_tables": {}}

    @classmethod
    def of(
        cls,
        trees: Trees,
        X: Floats,
        *,
        weights: Floats | None = None,
        n_jobs: SupportsIndex | None = 1,
    ) -> "Background":
        """Count rows, each with weight one unless weights are given."""
        X = np.asarray(X, np.float64)
        weight = np.ones(len(X)) if weights is None else np.ascontiguousarray(weights, np.float64)
        if weight.shape != (len(X),):
            raise InputError(f"{len(X)} background rows have {weight.size} weights")
        if not (np.isfinite(weight).all() and (weight >= 0).all()):
            raise InputError("weights of background rows must be finite and not negative")
        counts = np.zeros(trees.kernel.n_counts)
        kept: list[NDArray[np.uint16]] = []
        for first, last in _chunks(len(X)):
            codes = trees.encode(X[first:last], n_jobs=n_jobs)
            trees.kernel.count(codes, weight[first:last], counts, threads(n_jobs))
            if trees.kernel.needs_rows:
                kept.append(codes)
        return cls(
            trees=trees,
            counts=counts,
            codes=tuple(kept),
            weights=(weight,) if kept else (),
            n_rows=len(X),
            total_weight=float(weight.sum()),
        )

    def __add__(self, other: "Background") -> "Background":
        if other.trees is not self.trees:
            raise InputError(
                "these backgrounds were counted for different trees",
                hint="make both from the same Trees object.",
            )
        return Background(
            trees=self.trees,
            counts=self.counts + other.counts,
            codes=self.codes + other.codes,
            weights=self.weights + other.weights,
            n_rows=self.n_rows + other.n_rows,
            total_weight=self.total_weight + other.total_weight,
        )

    def rows(self) -> tuple[NDArray[np.uint16], Floats]:
        """Return the kept codes and weights in one piece each."""
        n_codes = self.trees.n_codes
        if not self.codes:
            return np.empty((0, n_codes), np.uint16, order="F"), np.empty(0)
        if len(self.codes) == 1:
            return self.codes[0], self.weights[0]
        codes = np.empty((sum(map(len, self.codes)), n_codes), np.uint16, order="F")
        np.concatenate(self.codes, out=codes)
        return codes, np.concatenate(self.weights)

    def tables(
        self,
        *,
        pairs: bool = False,
        sets: tuple[NDArray[np.int64], NDArray[np.int32]] | None = None,
        n_jobs: SupportsIndex | None = 1,
    ) -> _core.ShapleyTables:
        """Return the tables that the kernel looks rows up in.

        Tables for Shapley values and interactions are built once, unless they take much memory.
        """
        if sets is None and pairs in self._tables:
            return self._tables[pairs]
        tables = _core.ShapleyTables(
            self.trees.kernel,
            self.counts,
            *self.rows(),
            self.total_weight,
            pairs,
            sets,
            threads(n_jobs),
        )
        if sets is None and tables.are_kept:
            self._tables[pairs] = tables
        return tables


def path_dependent(
    trees: Trees,
    X: Floats,
    *,
    interactions: bool = False,
    n_jobs: SupportsIndex | None = 1,
    progress: Progress | None = None,
) -> ShapleyValues:
    """Shapley values of the path-dependent value function (TreeSHAP's default).

    A coalition's value is computed by walking each tree: splits of its players send the row one
    way; at other splits both branches count, in proportion to the training rows that took them. No
    background is needed; the values depend on the order of the splits.

    Parameters
    ----------
    trees
        The prepared forest. Every node's cover must be known.
    X
        Rows of the model's columns.
    interactions
        Whether to give pairwise interactions too.
    n_jobs
        Threads. The result does not depend on it.
    progress
        Called as rows are finished.

    Returns
    -------
    ShapleyValues

    Notes
    -----
    Exact at any depth, by Gauss-Legendre quadrature of the multilinear extension; see
    ``src/shapley/path.cpp``. The time grows with rows, leaves and the number of players on a path.
    """
    if np.isnan(trees.forest.cover).any():
        raise InputError(
            "path-dependent values need the number of training rows at every node",
            hint="this model does not record them; use interventional values with a background.",
        )
    X = np.asarray(X, np.float64)
    values = np.zeros((trees.n_players, trees.n_outputs, len(X)))
    pairs = np.zeros((_n_pairs(trees), trees.n_outputs, len(X))) if interactions else None
    for first, last in _chunks(len(X)):
        codes = trees.encode(X[first:last], n_jobs=n_jobs)
        part = None if pairs is None else pairs[:, :, first:last]
        trees.kernel.path_dependent(codes, values[:, :, first:last], part, threads(n_jobs))
        if progress is not None:
            progress(last - first)
    return _explained(values, trees.path_baseline, pairs)


def interventional(
    trees: Trees,
    X: Floats,
    background: Background,
    *,
    interactions: bool = False,
    n_jobs: SupportsIndex | None = 1,
    progress: Progress | None = None,
) -> ShapleyValues:
    """Shapley values of the interventional value function, over the whole background.

    A coalition's value is the mean prediction when its players are held at the row's values and all
    others take those of a background row (Hiabu 2024, definition 7.1.3).

    Parameters
    ----------
    trees, X, interactions, n_jobs, progress
        As in `path_dependent`; covers are not used.
    background
        Counted for the same trees.

    Returns
    -------
    ShapleyValues

    Notes
    -----
    The time grows with rows plus background rows, not with their product; see
    ``src/shapley/interventional.hpp``. Trees with many leaves and long paths are explained in one
    of two ways, whichever takes less time for so many rows; the last digits can depend on that.
    """
    n_slots = trees.n_players + (_n_pairs(trees) if interactions else 0)
    result, baseline = run_kernel(
        trees, X, background, n_slots, pairs=interactions, n_jobs=n_jobs, progress=progress
    )
    pairs = result[trees.n_players :] if interactions else None
    return _explained(result[: trees.n_players], baseline, pairs)


def run_kernel(
    trees: Trees,
    X: Floats,
    background: Background,
    n_slots: int,
    *,
    pairs: bool = False,
    sets: tuple[NDArray[np.int64], NDArray[np.int32]] | None = None,
    n_jobs: SupportsIndex | None = 1,
    progress: Progress | None = None,
) -> tuple[Floats, Floats]:
    """Return an array of shape (slots, outputs, rows) and the baseline."""
    if background.trees is not trees:
        raise InputError("the background was counted for other trees")
    if not background.total_weight > 0:
        raise InputError(
            f"the background has {background.n_rows} rows and a total weight of "
            f"{background.total_weight:g}",
            hint="give it at least one row with a positive weight.",
        )
    X = np.asarray(X, np.float64)
    tables = background.tables(pairs=pairs, sets=sets, n_jobs=n_jobs)
    result = np.zeros((n_slots, trees.n_outputs, len(X)))
    baseline = np.zeros(trees.n_outputs)
    # no rows at all still have a baseline
    for first, last in list(_chunks(len(X))) or [(0, 0)]:
        baseline[:] = 0.0
        codes = trees.encode(X[first:last], n_jobs=n_jobs)
        tables.explain(codes, result[:, :, first:last], baseline, threads(n_jobs))
        if progress is not None:
            progress(last - first)
    return result, baseline + trees.forest.base


def _chunks(n: int) -> Iterator[tuple[int, int]]:
    for first in range(0, n, _ROWS_PER_CHUNK):
        yield first, min(n, first + _ROWS_PER_CHUNK)


def _n_pairs(trees: Trees) -> int:
    return trees.n_players * (trees.n_players - 1) // 2


def _explained(values: Floats, baseline: Floats, pairs: Floats | None) -> ShapleyValues:
    """Put rows first, instead of the kernels' (players, outputs, rows), and pairs into matrices."""
    turned = np.moveaxis(values, -1, 0)
    if pairs is None:
        return ShapleyValues(turned, baseline)
    n_players = len(values)
    matrix = np.zeros((n_players, *values.shape))
    high, low = np.tril_indices(n_players, -1)
    matrix[high, low] = 0.5 * pairs
    matrix[low, high] = matrix[high, low]
    everyone = np.arange(n_players)
    matrix[everyone, everyone] = values - matrix.sum(axis=1)
    return ShapleyValues(turned, baseline, np.moveaxis(matrix, -1, 0))
