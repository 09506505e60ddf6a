"""Variances of components over a background, in blocks of rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood._shared.progress import progress
from clearwood.explanation.adapter.rows import Rows
from clearwood.explanation.games.game import BoundGame, Players

__all__ = ["Moments", "moments_of"]

# What the components of one block of rows may fill.
_BYTES_PER_BLOCK = 1 << 28


@dataclass(frozen=True, eq=False)
class Moments:
    """Variances over the background.

    Parameters
    ----------
    variance
        Of each component: (components, outputs).
    remainder
        Of what no component holds: (outputs,).
    prediction
        Of all components together, the remainder included: (outputs,).
    replicates
        Where they are estimated: the variances of the components and, last, of the remainder, with
        groups of rows left out; of shape (groups, components + 1, outputs).
    """

    variance: Floats
    remainder: Floats
    prediction: Floats
    replicates: Floats | None = None


def moments_of(
    bound: BoundGame,
    sets: Sequence[Players],
    rows: Rows,
    weights: Floats | None,
    target: Callable[[Rows], Floats],
    *,
    complete: bool,
    n_jobs: int,
) -> Moments:
    """Go through the background once.

    Parameters
    ----------
    bound, sets
        The game and the components.
    rows, weights
        The background.
    target
        What components and remainder add up to.
    complete
        Whether there is no remainder, so that what is left is rounding.
    n_jobs
        Threads.
    """
    n_outputs = len(bound.baseline)
    weight = np.ones(len(rows)) if weights is None else weights
    # Components, then the remainder, then all together: mean zero or nearly, so sums of squares
    # lose nothing.
    first_moment = np.zeros((len(sets) + 2, n_outputs))
    second_moment = np.zeros((len(sets) + 2, n_outputs))
    block = max(1024, _BYTES_PER_BLOCK // (8 * (len(sets) + 2) * n_outputs))
    with progress("measuring components", total=len(rows)) as step:
        for start in range(0, len(rows), block):
            part = rows.with_codes(rows.codes[start : start + block])
            share = weight[start : start + block]
            parts = bound.components(part, sets, n_jobs=n_jobs, step=step).values
            centred = target(part) - bound.baseline
            rest = np.zeros_like(centred) if complete else centred - parts.sum(axis=1)
            for at, values in ((slice(0, len(sets)), parts), (-2, rest), (-1, centred)):
                first_moment[at] += np.tensordot(share, values, 1)
                second_moment[at] += np.tensordot(share, values**2, 1)
    mean = first_moment / weight.sum()
    variance = np.maximum(second_moment / weight.sum() - mean**2, 0.0)
    return Moments(variance[: len(sets)], variance[-2], variance[-1])
