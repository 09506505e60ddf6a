"""Walks and cuts in graphs whose arrows are given as arrays."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clearwood.kernels import _core

__all__ = ["Neighbours", "closure", "minimum_cut", "reach"]

Mask = NDArray[np.uint8]


class Neighbours(NamedTuple):
    """Neighbours of every node in one direction (compressed rows).

    Parameters
    ----------
    offsets
        The neighbours of node k are `targets[offsets[k]:offsets[k + 1]]`.
    targets
        The neighbours of all nodes, one after another.
    """

    offsets: NDArray[np.int32]
    targets: NDArray[np.int32]


def closure(neighbours: Neighbours, start: Mask) -> Mask:
    """Return which nodes directed walks come to, the starts included; in linear time.

    Examples
    --------
    >>> chain = Neighbours(np.array([0, 1, 2, 2], np.int32), np.array([1, 2], np.int32))
    >>> closure(chain, np.array([0, 1, 0], np.uint8))
    array([0, 1, 1], dtype=uint8)
    """
    return _core.graph_closure(*neighbours, start)


def reach(
    effects: Neighbours,
    causes: Neighbours,
    start: Mask,
    *,
    blocked: Mask,
    opened: Mask,
    inside: Mask,
    wanted: Mask | None = None,
) -> Mask:
    """Return which nodes paths come to that are open given the blocked nodes; in linear time.

    This is the Bayes ball (Shachter 1998). A path passes a collider where `opened` is set and any
    other node where `blocked` is not, and stays among the nodes `inside`. Blocked nodes at which
    an open path ends are reached, too. The search ends at the first node that is `wanted`.

    Returns
    -------
    ndarray of shape (n_nodes,)
        Zero at nodes that are not reached.

    Examples
    --------
    The path 0 → 1 ← 2 is open where its collider is conditioned on.

    >>> effects = Neighbours(np.array([0, 1, 1, 2], np.int32), np.array([1, 1], np.int32))
    >>> causes = Neighbours(np.array([0, 0, 2, 2], np.int32), np.array([0, 2], np.int32))
    >>> start, given = np.array([1, 0, 0], np.uint8), np.array([0, 1, 0], np.uint8)
    >>> none, everywhere = np.zeros(3, np.uint8), np.ones(3, np.uint8)
    >>> reach(effects, causes, start, blocked=none, opened=none, inside=everywhere) > 0
    array([ True,  True, False])
    >>> reach(effects, causes, start, blocked=given, opened=given, inside=everywhere) > 0
    array([ True,  True,  True])
    """
    if wanted is None:
        wanted = np.zeros_like(start)
    return _core.graph_reach(*effects, *causes, start, blocked, opened, inside, wanted)


def minimum_cut(
    n_nodes: int,
    starts: NDArray[np.int32],
    ends: NDArray[np.int32],
    capacities: NDArray[np.float64],
    *,
    source: int,
    sink: int,
) -> Mask:
    """Return the source's side of a cheapest cut between two nodes of a network.

    The cut consists of the arrows from nodes on the side of the source to nodes that are not.
    Dinic's maximum flow; among cheapest cuts the one nearest to the source.

    Examples
    --------
    >>> starts, ends = np.array([0, 1], np.int32), np.array([1, 2], np.int32)
    >>> minimum_cut(3, starts, ends, np.array([2.0, 1.0]), source=0, sink=2)
    array([1, 1, 0], dtype=uint8)
    """
    return _core.graph_cut(n_nodes, starts, ends, capacities, source, sink)
