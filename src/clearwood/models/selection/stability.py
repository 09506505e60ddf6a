"""Stability selection: columns that a lasso chooses in most halves of the rows.

Meinshausen and Bühlmann (2010), with pairs of halves that share no row (Shah and Samworth 2013).
"""

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood._shared.progress import progress
from clearwood.models.selection.candidates import Candidates
from clearwood.models.selection.lasso import Design, design_of, entries, path_down

__all__ = ["entering", "stability"]

#: Pairs of halves, and penalties of the lasso path of each half.
_PAIRS = 50
_PENALTIES = 25


def stability(these: Candidates, entering: int) -> Floats:
    """Return the share of half-samples in which each column is among the first to enter a lasso.

    Parameters
    ----------
    these
        The candidates.
    entering
        How many columns are taken of each half: the first that enter.
    """
    design = design_of(these)
    rng = np.random.default_rng(these.seed)
    penalties = path_down(*_ends(design, entering), _PENALTIES)
    chosen = np.zeros(len(these))
    with progress("selecting columns", total=_PAIRS) as step:
        for _ in range(_PAIRS):
            for rows in these.halves(rng):
                entered = entries(design.take(rows), penalties)
                # of columns that enter at the same penalty of the path, some at random
                order = np.lexsort((rng.random(len(entered)), -entered))[:entering]
                chosen[order[entered[order] > 0]] += 1
            step(1)
    return chosen / (2 * _PAIRS)


def entering(errors: float, threshold: float, n_columns: int) -> int:
    """Return how many columns each half may take so that few are chosen by chance.

    If each half takes q of p columns, at most C q² / p columns are expected that a half chooses no
    more often than chance would and that are chosen all the same. C depends on the threshold; it
    is that of Shah and Samworth (2013, theorem 2), for shares of halves whose distribution has one
    mode.

    Examples
    --------
    >>> entering(errors=1, threshold=0.9, n_columns=200)
    21
    """
    pairs = 1 / (2 * _PAIRS)
    if threshold <= 0.75:
        bound = 1 / (2 * (2 * threshold - 1 - pairs)) if threshold > 0.5 + pairs else np.inf
    else:
        bound = 4 * (1 - threshold + pairs) / (1 + 2 * pairs)
    return max(1, min(n_columns, int(np.sqrt(errors * n_columns / bound))))


def _ends(design: Design, entering: int) -> tuple[float, float]:
    """Return the largest penalty of a path for halves, and one that lets enough columns enter."""
    full = path_down(design.largest)
    entered = np.sort(entries(design, full))[::-1]
    # halves are noisier, so that columns enter earlier there: half as many again are plenty
    place = entering + max(2, entering // 2)
    last = entered[place - 1] if place <= len(entered) else 0.0
    # and the gradient of half of the rows exceeds that of all
    return 1.5 * design.largest, float(last if last > 0 else full[-1])
