"""Components of the functional decomposition of trees, exactly, on plain arrays.

A forest is a sum of functions of few players, f = Σ_S f_S, made unique by the marginal
identification (Hiabu 2024, theorem 7.4.2): f_S(x) = Σ_{V⊆S} (-1)^|S∖V| v_x(V), where v_x(V) is the
mean prediction when the players in V are held at x and all others are drawn from the background.
f_∅ is the mean prediction, f_∅ + f_{i} the partial dependence on i.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import SupportsIndex

import numpy as np

from clearwood._shared.errors import InputError
from clearwood.kernels._shapley import Background, Floats, Progress, run_kernel
from clearwood.kernels._trees import Trees

__all__ = [
    "ComponentMoments",
    "Components",
    "component_moments",
    "component_sets",
    "components",
    "main_effects",
    "pair_effects",
]

PlayerSet = tuple[int, ...]

_MOST_SETS = 1_000_000
# Moments are gathered over pieces whose components take about this much memory.
_PIECE_BYTES = 64 << 20


@dataclass(frozen=True, eq=False)
class Components:
    """Components at rows.

    Parameters
    ----------
    sets
        The sets of players, each in rising order.
    values
        Shape (rows, sets, outputs).
    baseline
        Shape (outputs,): the component of the empty set.
    """

    sets: tuple[PlayerSet, ...]
    values: Floats
    baseline: Floats


@dataclass(frozen=True, eq=False)
class ComponentMoments:
    """Mean and variance of components over rows, each of shape (sets, outputs).

    Even over their own background the means are zero only where players are independent: the
    marginal identification integrates over each player's marginal distribution.
    """

    sets: tuple[PlayerSet, ...]
    mean: Floats
    variance: Floats


def component_sets(trees: Trees, *, max_order: int | None = None) -> tuple[PlayerSet, ...]:
    """Give the sets of players whose component can differ from zero.

    Those are the sets that some path from a root asks about together.

    Parameters
    ----------
    trees
        The prepared forest.
    max_order
        The most players in a set; None means all, which suits shallow trees.

    Returns
    -------
    tuple of tuples
        By size, then by players.
    """
    order = trees.n_players if max_order is None else max_order
    found = trees.kernel.path_sets(order, _MOST_SETS)
    if len(found) > _MOST_SETS:
        raise InputError(
            f"the trees have more than {_MOST_SETS:,} components of up to {order} players",
            hint="lower max_order; what lies beyond is the prediction less the components.",
        )
    return tuple(tuple(players) for players in found)


def components(
    trees: Trees,
    X: Floats,
    background: Background,
    sets: Sequence[Sequence[int]],
    *,
    n_jobs: SupportsIndex | None = 1,
    progress: Progress | None = None,
) -> Components:
    """Components of chosen sets of players at rows.

    Parameters
    ----------
    trees
        The prepared forest.
    X
        Rows of the model's columns.
    background
        Counted for the same trees.
    sets
        Sets of one or more players; `component_sets` gives those worth asking for. Memory grows
        with rows times sets: take X in pieces, or use `component_moments`.
    n_jobs
        Threads. The result does not depend on it.
    progress
        Called as rows are finished.

    Returns
    -------
    Components
    """
    chosen = tuple(_checked(trees, one) for one in sets)
    offsets = np.zeros(len(chosen) + 1, np.int64)
    np.cumsum([len(one) for one in chosen], out=offsets[1:])
    players = np.fromiter(itertools.chain.from_iterable(chosen), np.int32, int(offsets[-1]))
    if len(set(chosen)) < len(chosen):
        raise InputError("a set of players was asked for twice")
    result, baseline = run_kernel(
        trees,
        X,
        background,
        len(chosen),
        sets=(offsets, players),
        n_jobs=n_jobs,
        progress=progress,
    )
    return Components(chosen, np.moveaxis(result, -1, 0), baseline)


def component_moments(
    trees: Trees,
    X: Floats,
    background: Background,
    sets: Sequence[Sequence[int]],
    *,
    weights: Floats | None = None,
    n_jobs: SupportsIndex | None = 1,
    progress: Progress | None = None,
) -> ComponentMoments:
    """Mean and variance of components over rows, in memory that does not grow with the rows.

    Parameters
    ----------
    trees, X, background, sets, n_jobs, progress
        As in `components`. With the background's own rows as X, the variance is the importance of
        a component.
    weights
        Weights of the rows of X.

    Returns
    -------
    ComponentMoments
    """
    X = np.asarray(X, np.float64)
    weight = np.ones(len(X)) if weights is None else np.asarray(weights, np.float64)
    total, mean = 0.0, np.zeros((len(sets), trees.n_outputs))
    spread = np.zeros_like(mean)
    size = max(256, _PIECE_BYTES // (8 * max(1, len(sets) * trees.n_outputs)))
    chosen = tuple(_checked(trees, one) for one in sets)
    for first in range(0, len(X), size):
        piece = slice(first, first + size)
        found = components(
            trees, X[piece], background, chosen, n_jobs=n_jobs, progress=progress
        ).values
        share = weight[piece]
        added = float(share.sum())
        if added == 0.0:
            continue
        piece_mean = np.tensordot(share, found, axes=1) / added
        piece_spread = np.tensordot(share, (found - piece_mean) ** 2, axes=1)
        # two pieces' sums of squares about their own means, moved to the common mean
        gap = piece_mean - mean
        spread += piece_spread + gap**2 * (total * added / (total + added))
        mean += gap * (added / (total + added))
        total += added
    return ComponentMoments(chosen, mean, spread / total if total else spread)


def main_effects(
    trees: Trees, points: Floats, background: Background, *, n_jobs: SupportsIndex | None = 1
) -> Floats:
    """Main effects of all players on a grid.

    Parameters
    ----------
    trees
        The prepared forest.
    points
        Shape (points, columns of the model): in row k every column has its own k-th grid value.
        Main effects look at one player at a time, so one such table serves all.
    background
        Counted for the same trees.
    n_jobs
        Threads.

    Returns
    -------
    ndarray of shape (points, players, outputs)
        Add the baseline to get partial dependence.
    """
    everyone = [(player,) for player in range(trees.n_players)]
    return components(trees, points, background, everyone, n_jobs=n_jobs).values


def pair_effects(
    trees: Trees,
    points: Floats,
    background: Background,
    pairs: Sequence[tuple[int, int]],
    *,
    n_jobs: SupportsIndex | None = 1,
) -> Floats:
    """Interactions of pairs of players on a grid.

    Parameters
    ----------
    trees, points, background, n_jobs
        As in `main_effects`.
    pairs
        Pairs (i, j) of different players.

    Returns
    -------
    ndarray of shape (pairs, points, points, outputs)
        Entry [k, g, h] is f_{ij} where i is at grid point g and j at h.

    Notes
    -----
    A row of the crossed grid holds half of the players at point g and the others at h, so that it
    serves every pair that the halves separate. Halving by each binary digit of the player's number
    separates all pairs in ⌈log₂ players⌉ passes.
    """
    points = np.asarray(points, np.float64)
    n = len(points)
    result = np.zeros((len(pairs), n, n, trees.n_outputs))
    todo = {k: _checked(trees, pair) for k, pair in enumerate(pairs)}
    digit = 0
    while todo:
        now = {k: pair for k, pair in todo.items() if (pair[0] ^ pair[1]) >> digit & 1}
        todo = {k: pair for k, pair in todo.items() if k not in now}
        if now:
            wanted = sorted(set(now.values()))
            second = (trees.players >> digit & 1) == 1
            rows = np.where(second, points[None, :, :], points[:, None, :]).reshape(n * n, -1)
            found = components(trees, rows, background, wanted, n_jobs=n_jobs).values
            for k, pair in now.items():
                grid = found[:, wanted.index(pair)].reshape(n, n, -1)
                # axis 0 is the half whose digit is 0
                swapped = pairs[k][0] >> digit & 1
                result[k] = grid.swapaxes(0, 1) if swapped else grid
        digit += 1
    return result


def _checked(trees: Trees, players: Sequence[int]) -> PlayerSet:
    chosen = tuple(sorted(int(player) for player in players))
    if not chosen or len(set(chosen)) < len(chosen):
        raise InputError(f"{tuple(players)} is not a set of one or more different players")
    if chosen[0] < 0 or chosen[-1] >= trees.n_players:
        raise InputError(f"{tuple(players)} names players outside 0 to {trees.n_players - 1}")
    return chosen
