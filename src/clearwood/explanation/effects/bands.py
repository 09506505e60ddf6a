"""Pointwise bands by resampling the rows: no further predictions are needed."""

from collections.abc import Iterator

import numpy as np

from clearwood._shared.arrays import Floats

__all__ = ["band", "mean_replicates", "resampled_weights"]


#: Cells of one block of weights, so that many rows do not fill the memory.
_CELLS = 20_000_000


def resampled_weights(weights: Floats, draws: int, seed: int) -> Iterator[Floats]:
    """Yield the rows' weights under each bootstrap draw, a block of draws at a time.

    Examples
    --------
    >>> block = next(resampled_weights(np.ones(5), 3, seed=0))
    >>> block.shape, block.sum(axis=1)
    ((3, 5), array([5., 5., 5.]))
    """
    generator = np.random.default_rng(seed)
    n_rows = len(weights)
    at_once = max(1, _CELLS // max(n_rows, 1))
    for first in range(0, draws, at_once):
        size = min(at_once, draws - first)
        block = np.empty((size, n_rows))
        for k in range(size):
            drawn = generator.integers(0, n_rows, n_rows)
            block[k] = np.bincount(drawn, minlength=n_rows) * weights
        yield block


def mean_replicates(values: Floats, weights: Floats, draws: int, seed: int) -> Floats:
    """Compute the weighted mean of values (rows, ...) under each draw, NaN aside: (draws, ...)."""
    flat = values.reshape(len(values), -1)
    known = np.isfinite(flat)
    complete = bool(known.all())
    filled = flat if complete else np.where(known, flat, 0.0)
    result = []
    for block in resampled_weights(weights, draws, seed):
        total = block.sum(axis=1, keepdims=True) if complete else block @ known
        with np.errstate(invalid="ignore", divide="ignore"):
            result.append((block @ filled) / total)
    return np.concatenate(result).reshape(draws, *values.shape[1:])


def band(replicates: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Compute the ends of the middle ``confidence`` of the draws, point by point."""
    tail = (1 - confidence) / 2
    # a point that no draw reaches has no band
    reached = np.isfinite(replicates).any(axis=0)
    safe = np.where(reached, replicates, 0.0)
    low, high = np.nanquantile(safe, [tail, 1 - tail], axis=0)
    return np.where(reached, low, np.nan), np.where(reached, high, np.nan)
