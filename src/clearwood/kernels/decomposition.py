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
from clearwood.kernels.shapley import Background, Floats, Progress, run_kernel
from clearwood.kernels.trees import Trees

__all__ = ["Components", "component_sets", "components"]

PlayerSet = tuple[int, ...]

_MOST_SETS = 1_000_000


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


def component_sets(trees: Trees, *, max_order: int | None = None) -> tuple[PlayerSet, ...]:
    """Return the sets of players whose component can differ from zero.

    These are the sets of players that split together on some path from a root.

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
        Sets of one or more players; `component_sets` gives those that can differ from zero.
        Memory grows with rows times sets: take X in pieces.
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
        raise InputError("a set of players is listed twice")
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


def _checked(trees: Trees, players: Sequence[int]) -> PlayerSet:
    chosen = tuple(sorted(int(player) for player in players))
    if not chosen or len(set(chosen)) < len(chosen):
        raise InputError(f"{tuple(players)} is not a set of one or more different players")
    if chosen[0] < 0 or chosen[-1] >= trees.n_players:
        raise InputError(f"{tuple(players)} names players outside 0 to {trees.n_players - 1}")
    return chosen
