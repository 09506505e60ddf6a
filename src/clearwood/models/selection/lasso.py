"""Lasso paths over the columns of a table, for selection by a lasso and by its stability.

The lasso is that of squared error whatever the task, of the indicators of classes together: it
decides which columns enter, and the learner fits them with its own loss.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from clearwood._shared.arrays import Floats, Index
from clearwood.models.selection.candidates import Candidates

__all__ = ["Design", "cross_validated", "design_of", "entries", "lasso", "path_down"]

#: Penalties of a path, and the least one as a share of the largest.
_PENALTIES = 60
_RATIO = 1e-2
#: Folds by which a penalty is chosen.
_FOLDS = 5
#: Blocks of several parts are scaled so that by chance they reach this level as often as one part.
_LEVEL = 0.05


@dataclass(frozen=True, eq=False)
class Design:
    """Whitened blocks and responses, rows scaled by the roots of their weights.

    Parameters
    ----------
    parts
        The columns of all blocks: (rows, parts).
    owners
        The candidate that each belongs to.
    responses
        What is fitted: (rows, responses).
    n_columns
        How many candidates there are.
    """

    parts: Floats
    owners: Index
    responses: Floats
    n_columns: int

    def take(self, rows: Index) -> "Design":
        """Return some rows."""
        return Design(self.parts[rows], self.owners, self.responses[rows], self.n_columns)

    def by_column(self, values: Floats) -> Floats:
        """Return the largest of the values of each column's parts, none of which is below 0."""
        result = np.zeros(self.n_columns)
        np.maximum.at(result, self.owners, values)
        return result

    @property
    def largest(self) -> float:
        """The least penalty at which every coefficient is zero."""
        gradient = self.parts.T @ self.responses / len(self.parts)
        return float(np.sqrt((gradient**2).sum(axis=1)).max())


def lasso(these: Candidates) -> tuple[Floats, Floats]:
    """Return the penalty at which each column enters, and its size where the error is least.

    Penalties are shares of the largest one, at which the first column enters.
    """
    design = design_of(these)
    entered = entries(design, path_down(design.largest))
    return entered / design.largest, design.by_column(cross_validated(design, these))


def design_of(these: Candidates) -> Design:
    """Prepare candidates for a lasso.

    The parts of a block are scaled down by what the largest of several draws exceeds a single one,
    so that a category of noise enters about as early as a number of noise.
    """
    parts, owners = these.whitened
    sizes = np.bincount(owners, minlength=len(these))
    fair = norm.isf(_LEVEL / 2) / norm.isf(_LEVEL / (2 * sizes))
    root = np.sqrt(these.weights)[:, None]
    return Design(parts * fair[owners] * root, owners, these.responses * root, len(these))


def path_down(largest: float, least: float | None = None, n: int = _PENALTIES) -> Floats:
    """Return penalties from the largest down to the least."""
    return np.geomspace(largest, _RATIO * largest if least is None else least, n)


def entries(design: Design, penalties: Floats) -> Floats:
    """Return the penalty of a path at which each column enters, 0 for those that do not."""
    from sklearn.linear_model import enet_path

    several = design.responses.shape[1] > 1
    with _quiet():
        coefficients = enet_path(
            np.asfortranarray(design.parts),
            np.asfortranarray(design.responses) if several else design.responses[:, 0].copy(),
            l1_ratio=1.0,
            alphas=penalties,
            precompute=not several and design.parts.shape[0] > design.parts.shape[1],
            tol=1e-4,
            max_iter=1000,
            check_input=False,
        )[1]
    # (responses, parts, penalties) of several responses, else (parts, penalties)
    is_in = (coefficients != 0).any(axis=0) if several else coefficients != 0
    entered = np.where(is_in.any(axis=1), penalties[np.argmax(is_in, axis=1)], 0.0)
    return design.by_column(entered)


def cross_validated(design: Design, these: Candidates) -> Floats:
    """Return the size of each coefficient at the penalty with the least held-out error."""
    from sklearn.linear_model import LassoCV, MultiTaskLassoCV

    several = design.responses.shape[1] > 1
    model = (MultiTaskLassoCV if several else LassoCV)(
        eps=_RATIO,
        alphas=_PENALTIES,
        fit_intercept=False,
        cv=these.folds(_FOLDS),
        max_iter=1000,
        tol=1e-4,
    )
    with _quiet():
        model.fit(design.parts, design.responses if several else design.responses[:, 0])
    return np.asarray(np.sqrt((np.atleast_2d(model.coef_) ** 2).sum(axis=0)))


@contextmanager
def _quiet() -> Iterator[None]:
    """Leave out warnings of convergence: which columns enter is settled before the last digit."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield
