"""Shapley values from components: each is shared equally among its columns."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood.explanation.games.game import Players

__all__ = ["shared_out"]


def shared_out(
    parts: Floats, sets: Sequence[Players], n_columns: int, *, interactions: bool
) -> tuple[Floats, Floats | None]:
    """Share components out (Hiabu 2024, corollary 7.4.5).

    Parameters
    ----------
    parts
        Every component, of shape (rows, components, outputs).
    sets
        The columns of each.
    n_columns
        How many columns there are.
    interactions
        Whether to give the pairwise interactions too.

    Returns
    -------
    tuple
        Values (rows, columns, outputs) and interactions (rows, columns, columns, outputs) or None.

    Examples
    --------
    >>> parts = np.array([[[1.0], [4.0]]])
    >>> shared_out(parts, [(0,), (0, 1)], 2, interactions=False)[0][0, :, 0]
    array([3., 2.])
    """
    n_rows, _, n_outputs = parts.shape
    values = np.zeros((n_rows, n_columns, n_outputs))
    pairs = np.zeros((n_rows, n_columns, n_columns, n_outputs)) if interactions else None
    for at, players in enumerate(sets):
        values[:, list(players)] += parts[:, at, None] / len(players)
        if pairs is not None:
            # the Shapley interaction index of a pair is Σ f_S / (|S| − 1) over sets with both
            for i, j in combinations(players, 2):
                half = 0.5 * parts[:, at] / (len(players) - 1)
                pairs[:, i, j] += half
                pairs[:, j, i] += half
    if pairs is not None:
        everyone = np.arange(n_columns)
        pairs[:, everyone, everyone] = values - pairs.sum(axis=2)
    return values, pairs
