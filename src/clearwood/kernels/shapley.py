"""Shapley values, interactions and components of trees, exactly, on plain arrays.

The order of work: prepare the trees once, count a background once, explain rows::

    trees = Trees.of(forest)
    background = Background.of(trees, rows)
    interventional(trees, X, background).values

Rows are matrices of the model's columns (``forest.matrix(X)``). All values are on the scale of the
raw prediction. Axes are always rows, then players (or sets), then outputs.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.errors import InputError
from clearwood._shared.weights import checked_weights
from clearwood.kernels import _core
from clearwood.kernels.parallelism import threads
from clearwood.kernels.split_codes import MISSING, Floats
from clearwood.kernels.trees import Trees

__all__ = [
    "Background",
    "PlayerValues",
    "component_sets",
    "components",
    "interventional",
    "path_dependent",
    "prepared",
]

PlayerSet = tuple[int, ...]
#: Called with the number of rows explained since the last call.
Progress = Callable[[int], object]

# Rows explained by one call of a kernel: enough to make preparing tables cheap, few enough that
# codes and scratch stay small beside the result.
_ROWS_PER_CHUNK = 1 << 16

_MOST_SETS = 1_000_000

# A component of one player with few codes is computed for these, not for rows, if there are many.
_FEW_CODES = 1024
_ROWS_PER_CODE = 4

# Tables that a background keeps, and what they may take together.
_MOST_TABLES = 8
_BYTES_OF_TABLES = 1 << 29


@dataclass(frozen=True, eq=False)
class PlayerValues:
    """Shapley values of rows, and their interactions if requested; or components of rows.

    Parameters
    ----------
    values
        Shape (rows, players, outputs); of components (rows, sets, outputs). With the baseline,
        Shapley values add up to the raw prediction.
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
    """Background rows as the kernels need them.

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
        Encoded rows and their weights; empty if every tree is counted.
    n_rows
        How many rows there are.
    total_weight
        Sum of their weights.
    """

    trees: Trees
    counts: Floats
    codes: NDArray[np.uint16]
    weights: Floats
    n_rows: int
    total_weight: float
    # Tables for Shapley values (False), interactions (True) and some components (their sets), where
    # they are small.
    _tables: dict[object, _core.ShapleyTables] = field(default_factory=dict, init=False, repr=False)

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
        """Count rows, each with weight one unless weights are given.

        Rows are taken a slice at a time, so they need not be an array.
        """
        weight = (
            np.ones(len(X))
            if weights is None
            else checked_weights(weights, len(X), may_be_zero=True)
        )
        weight = np.ascontiguousarray(weight)
        counts = np.zeros(trees.kernel.n_counts)
        n_kept = len(X) if trees.kernel.needs_rows else 0
        kept = np.empty((n_kept, trees.n_codes), np.uint16, order="F")
        for first, last in _chunks(len(X)):
            codes = trees.encode(_block(X, first, last), n_jobs=n_jobs)
            trees.kernel.count(codes, weight[first:last], counts, threads(n_jobs))
            if n_kept:
                kept[first:last] = codes
        return cls(trees, counts, kept, weight[:n_kept], len(X), float(weight.sum()))

    def tables(
        self,
        *,
        pairs: bool = False,
        sets: tuple[NDArray[np.int64], NDArray[np.int32]] | None = None,
        n_jobs: SupportsIndex | None = 1,
    ) -> _core.ShapleyTables:
        """Return the tables that the kernel looks rows up in.

        They are built once, unless they take much memory; of the components' tables only the
        last few are kept.
        """
        key = pairs if sets is None else (sets[0].tobytes(), sets[1].tobytes())
        if (known := self._tables.get(key)) is not None:
            return known
        tables = _core.ShapleyTables(
            self.trees.kernel,
            self.counts,
            self.codes,
            self.weights,
            self.total_weight,
            pairs,
            sets,
            threads(n_jobs),
        )
        if tables.are_kept:
            self._make_room(tables.n_bytes)
            self._tables[key] = tables
        return tables

    def _make_room(self, n_bytes: int) -> None:
        """Drop the oldest tables until those kept and some more take little memory."""
        for key, known in list(self._tables.items()):
            held = sum(tables.n_bytes for tables in list(self._tables.values()))
            if len(self._tables) < _MOST_TABLES and held + n_bytes <= _BYTES_OF_TABLES:
                return
            if self._tables.get(key) is known:
                self._tables.pop(key, None)

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return plain values and arrays, from which `from_state` makes it again elsewhere."""
        values = {
            "trees": self.trees.fingerprint,
            "n_rows": self.n_rows,
            "total_weight": self.total_weight,
        }
        return values, {"counts": self.counts, "codes": self.codes, "weights": self.weights}

    @classmethod
    def from_state(
        cls, trees: Trees, values: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
    ) -> "Background":
        """Make a background from its state; a background of other trees is refused."""
        if values["trees"] != trees.fingerprint:
            raise InputError("the background was counted for other trees")
        return cls(
            trees,
            np.ascontiguousarray(arrays["counts"], np.float64),
            np.asfortranarray(arrays["codes"], np.uint16),
            np.ascontiguousarray(arrays["weights"], np.float64),
            int(values["n_rows"]),
            float(values["total_weight"]),
        )

    def __add__(self, other: "Background") -> "Background":
        """Return the background of the rows of both.

        Without weights the sums are whole numbers, so rows counted in any number of parts give the
        same background to the bit.
        """
        if not isinstance(other, Background):
            return NotImplemented
        if not self.trees.equals(other.trees):
            raise InputError("backgrounds of different trees cannot be added")
        return Background(
            self.trees,
            self.counts + other.counts,
            np.asfortranarray(np.concatenate([self.codes, other.codes])),
            np.concatenate([self.weights, other.weights]),
            self.n_rows + other.n_rows,
            self.total_weight + other.total_weight,
        )


def path_dependent(
    trees: Trees,
    X: Floats,
    *,
    interactions: bool = False,
    n_jobs: SupportsIndex | None = 1,
    progress: Progress | None = None,
) -> PlayerValues:
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
    PlayerValues

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
    values = np.zeros((trees.n_players, trees.n_outputs, len(X)))
    pairs = np.zeros((_n_pairs(trees), trees.n_outputs, len(X))) if interactions else None
    for first, last in _chunks(len(X)):
        codes = trees.encode(_block(X, first, last), n_jobs=n_jobs)
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
) -> PlayerValues:
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
    PlayerValues

    Notes
    -----
    The time grows with rows plus background rows, not with their product; see
    ``src/shapley/interventional.hpp``. Trees with many leaves and long paths are explained in one
    of two ways, whichever takes less time for so many rows; the last digits can depend on that.
    """
    n_slots = trees.n_players + (_n_pairs(trees) if interactions else 0)
    result, baseline = _run_kernel(
        trees, X, background, n_slots, pairs=interactions, n_jobs=n_jobs, progress=progress
    )
    pairs = result[trees.n_players :] if interactions else None
    return _explained(result[: trees.n_players], baseline, pairs)


def component_sets(trees: Trees, *, max_order: int | None = None) -> tuple[PlayerSet, ...]:
    """Return the sets of players that split together on some path, by size, then by players.

    Only their components can differ from zero. ``max_order`` is the most players in a set; None
    means all, which suits shallow trees.
    """
    order = trees.n_players if max_order is None else max_order
    path_sets = trees.kernel.path_sets(order, _MOST_SETS)
    if len(path_sets) > _MOST_SETS:
        raise InputError(
            f"the trees have more than {_MOST_SETS:,} components of up to {order} players",
            hint="lower max_order; what lies beyond is the prediction less the components.",
        )
    return tuple(tuple(players) for players in path_sets)


def components(
    trees: Trees,
    X: Floats,
    background: Background,
    sets: Sequence[Sequence[int]],
    *,
    n_jobs: SupportsIndex | None = 1,
    progress: Progress | None = None,
) -> PlayerValues:
    """Components of chosen sets of players at rows.

    A forest is a sum of functions of few players, f = Σ_S f_S, made unique by the marginal
    identification (Hiabu 2024, theorem 7.4.2): f_S(x) = Σ_{V⊆S} (-1)^|S∖V| v_x(V), where v_x(V)
    is the mean prediction when the players in V are held at x and all others are drawn from the
    background. f_∅ is the mean prediction, f_∅ + f_{i} the partial dependence on i.

    Parameters
    ----------
    trees, X, background, n_jobs, progress
        As in `interventional`.
    sets
        Sets of one or more players; `component_sets` gives those that can differ from zero.
        Memory grows with rows times sets: take X in pieces.

    Returns
    -------
    PlayerValues
    """
    arranged = _arranged(trees, sets)
    result, baseline = _run_kernel(
        trees,
        X,
        background,
        len(sets),
        sets=arranged.laid_out,
        curves=_Curves.of(trees, arranged, len(X)),
        n_jobs=n_jobs,
        progress=progress,
    )
    values = np.moveaxis(result, -1, 0)
    return PlayerValues(values if arranged.back is None else values[:, arranged.back], baseline)


@dataclass(frozen=True, eq=False)
class _Curves:
    """Components of one player each, as functions of the player's codes.

    A player with one column of codes has few of them, so that its component is computed once for
    each code and not once for each row.

    Parameters
    ----------
    columns
        The column of codes of each component.
    codes
        Rows in which every such column has all of its codes, in column-major order: code k in row
        k, and that of missing values last.
    """

    columns: tuple[int, ...]
    codes: NDArray[np.uint16]

    @classmethod
    def of(cls, trees: Trees, arranged: "_Arranged", n_rows: int) -> "_Curves | None":
        """Return the curves of sets, if they pay for so many rows."""
        if not arranged.columns or n_rows < _ROWS_PER_CODE * arranged.n_codes:
            return None
        each = np.arange(arranged.n_codes, dtype=np.uint16)
        codes = np.empty((len(each), trees.n_codes), np.uint16, order="F")
        for column, n_classes in enumerate(trees.splits.n_classes):
            codes[:, column] = np.minimum(each, n_classes - 1) if n_classes else each
            if not n_classes:
                codes[-1, column] = MISSING
        return cls(arranged.columns, codes)

    def fill(self, values: Floats, codes: NDArray[np.uint16], result: Floats) -> None:
        """Write components of rows, given those of ``self.codes``."""
        last = len(self.codes) - 1
        for curve, column, to in zip(values, self.columns, result, strict=True):
            np.take(curve, np.minimum(codes[:, column], last), axis=1, out=to)


def prepared(
    background: Background, sets: Sequence[Sequence[int]], *, n_jobs: SupportsIndex | None = 1
) -> bool:
    """Prepare the tables for components of sets; return whether later calls find them ready."""
    laid_out = _arranged(background.trees, sets).laid_out
    return background.tables(sets=laid_out, n_jobs=n_jobs).are_kept


@dataclass(frozen=True, eq=False)
class _Arranged:
    """Sets of players as the kernel takes them: first those of one player with few codes.

    Parameters
    ----------
    laid_out
        Offsets, and players end to end.
    back
        Where each set has gone; None where all are in their places.
    columns, n_codes
        Of the first sets, those of one player with one column of few codes: the column, and the
        most codes that one of them has.
    """

    laid_out: tuple[NDArray[np.int64], NDArray[np.int32]]
    back: NDArray[np.intp] | None
    columns: tuple[int, ...]
    n_codes: int


def _arranged(trees: Trees, sets: Sequence[Sequence[int]]) -> _Arranged:
    """Arrange sets, each collection once."""
    key = tuple(map(tuple, sets))
    known: _Arranged | None = trees.arrangements.get(key)
    if known is not None:
        return known
    n_codes = trees.splits.n_codes
    own = {
        k: column
        for k, players in enumerate(key)
        if len(players) == 1
        and (column := trees.own_column.get(players[0])) is not None
        and n_codes[column] <= _FEW_CODES
    }
    order = [*own, *(k for k in range(len(key)) if k not in own)]
    arranged = _Arranged(
        _laid_out(trees, [key[k] for k in order]),
        None if order == sorted(order) else np.argsort(order),
        tuple(own.values()),
        max((int(n_codes[column]) for column in own.values()), default=0),
    )
    if len(trees.arrangements) >= _MOST_TABLES:
        trees.arrangements.clear()
    trees.arrangements[key] = arranged
    return arranged


def _laid_out(
    trees: Trees, sets: Sequence[Sequence[int]]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Check sets of players and put them end to end, as offsets and players."""
    chosen = tuple(_checked(trees, one) for one in sets)
    offsets = np.zeros(len(chosen) + 1, np.int64)
    np.cumsum([len(one) for one in chosen], out=offsets[1:])
    players = np.fromiter(itertools.chain.from_iterable(chosen), np.int32, int(offsets[-1]))
    if len(set(chosen)) < len(chosen):
        raise InputError("a set of players is listed twice")
    return offsets, players


def _checked(trees: Trees, players: Sequence[int]) -> PlayerSet:
    chosen = tuple(sorted(int(player) for player in players))
    if not chosen or len(set(chosen)) < len(chosen):
        raise InputError(f"{tuple(players)} is not a set of one or more different players")
    if chosen[0] < 0 or chosen[-1] >= trees.n_players:
        raise InputError(f"{tuple(players)} names players outside 0 to {trees.n_players - 1}")
    return chosen


def _run_kernel(
    trees: Trees,
    X: Floats,
    background: Background,
    n_slots: int,
    *,
    pairs: bool = False,
    sets: tuple[NDArray[np.int64], NDArray[np.int32]] | None = None,
    curves: _Curves | None = None,
    n_jobs: SupportsIndex | None = 1,
    progress: Progress | None = None,
) -> tuple[Floats, Floats]:
    """Return an array of shape (slots, outputs, rows) and the baseline."""
    if not background.trees.equals(trees):
        raise InputError("the background was counted for other trees")
    if not background.total_weight > 0:
        raise InputError(
            f"the background has {background.n_rows} rows and a total weight of "
            f"{background.total_weight:g}",
            hint="give it at least one row with a positive weight.",
        )
    tables = background.tables(pairs=pairs, sets=sets, n_jobs=n_jobs)
    result = np.zeros((n_slots, trees.n_outputs, len(X)))
    baseline = np.zeros(trees.n_outputs)
    # no rows at all still have a baseline
    for first, last in list(_chunks(len(X))) or [(0, 0)]:
        baseline[:] = 0.0
        codes = trees.encode(_block(X, first, last), n_jobs=n_jobs)
        part = result[:, :, first:last]
        if curves is None:
            tables.explain(codes, part, baseline, None, threads(n_jobs))
        else:
            n_curves = len(curves.columns)
            values = np.zeros((n_curves, trees.n_outputs, len(curves.codes)))
            few = (curves.codes, values)
            tables.explain(codes, part[n_curves:], baseline, few, threads(n_jobs))
            curves.fill(values, codes, part[:n_curves])
        if progress is not None:
            progress(last - first)
    return result, baseline + trees.forest.base


def _block(X: Floats, first: int, last: int) -> Floats:
    return np.asarray(X[first:last], np.float64)


def _chunks(n: int) -> Iterator[tuple[int, int]]:
    for first in range(0, n, _ROWS_PER_CHUNK):
        yield first, min(n, first + _ROWS_PER_CHUNK)


def _n_pairs(trees: Trees) -> int:
    return trees.n_players * (trees.n_players - 1) // 2


def _explained(values: Floats, baseline: Floats, pairs: Floats | None) -> PlayerValues:
    """Put rows first, instead of the kernels' (players, outputs, rows), and pairs into matrices."""
    turned = np.moveaxis(values, -1, 0)
    if pairs is None:
        return PlayerValues(turned, baseline)
    n_players = len(values)
    matrix = np.zeros((n_players, *values.shape))
    high, low = np.tril_indices(n_players, -1)
    matrix[high, low] = 0.5 * pairs
    matrix[low, high] = matrix[high, low]
    everyone = np.arange(n_players)
    matrix[everyone, everyone] = values - matrix.sum(axis=1)
    return PlayerValues(turned, baseline, np.moveaxis(matrix, -1, 0))
