"""Drawing rows at random: one rule for which rows, so that a seed means the same everywhere."""

import numpy as np

from clearwood._shared.arrays import Index

__all__ = ["draw_rows"]


def draw_rows(n_rows: int, size: int | None, *, seed: int) -> Index:
    """Draw rows without replacement, in rising order; all of them where that is no fewer.

    Examples
    --------
    >>> draw_rows(5, None, seed=0), len(draw_rows(100, 10, seed=0))
    (array([0, 1, 2, 3, 4]), 10)
    """
    if size is None or size >= n_rows:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(seed).choice(n_rows, size, replace=False))
