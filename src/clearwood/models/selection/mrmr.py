"""mRMR: columns that inform about the target and little about one another (Peng et al. 2005)."""

import numpy as np

from clearwood._shared.arrays import Floats, Index
from clearwood.models.selection.candidates import Candidates
from clearwood.models.selection.filters import contingency, shared_bits

__all__ = ["mrmr"]


def mrmr(these: Candidates, n: int) -> tuple[Floats, Index]:
    """Choose columns one after the other, each by relevance minus mean redundancy.

    Relevance is the mutual information of a column's bins with the target, redundancy that with the
    bins of the columns chosen before.

    Returns
    -------
    tuple of ndarray and ndarray
        The score of each column, of the chosen ones when they were chosen and of the others in the
        end; and the chosen ones in their order.
    """
    relevance = _information(these, these.target_codes)
    redundancy = np.zeros(len(these))
    scores = relevance.copy()
    chosen: list[int] = []
    while len(chosen) < n:
        open_ = np.setdiff1d(np.arange(len(these)), chosen)
        scores[open_] = relevance[open_] - redundancy[open_] / max(1, len(chosen))
        best = int(open_[np.argmax(scores[open_])])
        chosen.append(best)
        if len(chosen) < n:
            redundancy += _information(these, these.codes[:, best])
    return scores, np.array(chosen, np.intp)


def _information(these: Candidates, other: Index) -> Floats:
    """Return the mutual information of every column with other codes."""
    return np.array(
        [
            shared_bits(contingency(codes, other, these.weights), these.effective_rows)
            for codes in these.codes.T
        ]
    )
