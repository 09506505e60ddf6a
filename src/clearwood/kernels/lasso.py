"""Lasso paths of generalised linear models, with cross-validation."""

from dataclasses import dataclass
from typing import Literal, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from clearwood.kernels import _core
from clearwood.kernels.parallelism import threads

__all__ = ["LassoFamily", "LassoPath", "lasso_path"]

LassoFamily = Literal["gaussian", "logistic", "poisson", "multinomial"]
_FAMILIES: dict[LassoFamily, int] = {"gaussian": 0, "logistic": 1, "poisson": 2, "multinomial": 3}


@dataclass(frozen=True, eq=False)
class LassoPath:
    """A lasso fit at the penalty that cross-validation chose.

    Parameters
    ----------
    intercept
        Of each class.
    coefficients
        Of shape (classes, columns): those of indicators first.
    penalties
        The path, from the largest penalty down.
    losses
        Mean held-out loss, of shape (folds, penalties); NaN where the path ended before. It is half
        the squared error, the log loss, or exp(f) - y f for counts.
    chosen
        Position of the chosen penalty.
    """

    intercept: NDArray[np.float64]
    coefficients: NDArray[np.float64]
    penalties: NDArray[np.float64]
    losses: NDArray[np.float64]
    chosen: int


def lasso_path(
    indicators: NDArray[np.bool_],
    lines: NDArray[np.float64],
    response: NDArray[np.float64],
    weight: NDArray[np.float64],
    folds: NDArray[np.int32],
    *,
    family: LassoFamily,
    n_penalties: int = 50,
    ratio: float = 1e-3,
    patience: int = 5,
    one_error: bool = False,
    tolerance: float = 1e-6,
    n_jobs: SupportsIndex | None = 1,
) -> LassoPath:
    """Minimise (1 / W) Σ w · loss + λ Σ |β| along a path of penalties λ.

    Parameters
    ----------
    indicators
        Columns of zeros and ones, of shape (columns, rows).
    lines
        Other columns, of shape (columns, rows).
    response
        Of shape (classes, rows): one unless the family is "multinomial", then one indicator each.
    weight
        Of each row.
    folds
        The fold that holds a row out, from 0 on; the last penalty is taken where all are -1.
    family
        Which loss; the link is canonical.
    n_penalties, ratio
        Length of the path, and the least penalty as a share of the largest.
    patience
        The path ends after so many penalties without a lower held-out loss.
    one_error
        Take the largest penalty whose loss is within one standard error of the least.
    tolerance
        Coordinate descent ends once no step lowers the objective by more than this share.
    n_jobs
        Threads over folds; the result does not depend on it.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random((3, 200)) < 0.5
    >>> y = 2.0 * x[1] + 0.1 * rng.normal(size=200)
    >>> path = lasso_path(
    ...     x, np.empty((0, 200)), y[None, :], np.ones(200), np.arange(200, dtype=np.int32) % 5,
    ...     family="gaussian",
    ... )
    >>> path.coefficients.round(1)
    array([[0., 2., 0.]])
    """
    n_sparse, n_rows = indicators.shape
    # a column and its complement have the same centred values up to the sign: keep the shorter
    is_flipped = 2 * np.count_nonzero(indicators, axis=1) > n_rows
    columns, rows = np.nonzero(indicators ^ is_flipped[:, None])
    start = np.concatenate([[0], np.cumsum(np.bincount(columns, minlength=n_sparse))])
    n_folds = int(folds.max()) + 1
    n_classes = len(response)
    penalties, losses = np.empty(n_penalties), np.empty((n_folds, n_penalties))
    intercept = np.empty(n_classes)
    coefficients = np.empty((n_classes, n_sparse + len(lines)))
    chosen = _core.lasso_path(
        start=start.astype(np.int64),
        rows=rows.astype(np.uint32),
        scale=np.where(is_flipped, -1.0, 1.0),
        dense=np.ascontiguousarray(lines),
        response=np.ascontiguousarray(response),
        weight=weight,
        fold=folds,
        n_folds=n_folds,
        family=_FAMILIES[family],
        ratio=ratio,
        patience=patience,
        one_error=one_error,
        tolerance=tolerance,
        penalties=penalties,
        losses=losses,
        intercept=intercept,
        coefficients=coefficients,
        n_threads=threads(n_jobs),
    )
    intercept -= coefficients[:, :n_sparse] @ is_flipped
    return LassoPath(intercept, coefficients, penalties, losses, chosen)
