"""Leave-one-out without refitting: linear smoothers.

A linear smoother's fitted values are a fixed matrix times the target, fitted = H y. Where H comes
from (penalised, weighted) least squares, the prediction for row i of the fit without it is known
from the fit with it: y_i - loo_i = (y_i - fitted_i) / (1 - H_ii).
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils.validation import check_is_fitted

from clearwood._shared.errors import InputError
from clearwood._shared.results import Result
from clearwood.benchmarking.intervals.intervals import Interval, naive_interval
from clearwood.models import Learner
from clearwood.table import Table

__all__ = [
    "LinearSmoother",
    "linear_smoother",
    "parts_of",
    "ridge_leverage",
    "smoother_of_hat_matrix",
]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class LinearSmoother(Result):
    """A fit whose fitted values are linear in the target.

    Parameters
    ----------
    learner
        Its name.
    y, fitted
        The target and the fitted values.
    leverage
        The diagonal of H: what each fitted value owes to its own target.
    weights
        Of the rows, or None.
    """

    learner: str
    y: Array
    fitted: Array
    leverage: Array
    weights: Array | None = None
    _derived: ClassVar[tuple[str, ...]] = ("df", "gcv", "left_out")
    _omitted: ClassVar[tuple[str, ...]] = ("weights",)

    @property
    def df(self) -> float:
        """Effective degrees of freedom: the trace of H."""
        return float(self.leverage.sum())

    @property
    def left_out(self) -> Array:
        """The prediction for each row of the fit without it; NaN where no such fit is determined.

        A row with leverage 1 is fitted whatever its target is: without it, something it alone
        decides is not determined.
        """
        alone = self.leverage > 1 - 1e-10
        share = np.where(alone, np.nan, 1 - self.leverage)
        return np.asarray(self.y - (self.y - self.fitted) / share)

    @property
    def leave_one_out(self) -> Interval:
        """Leave-one-out squared error with the naive interval (see `naive_interval`)."""
        losses = (self.y - self.left_out) ** 2
        if np.isnan(losses).any():
            raise InputError(
                f"{int(np.isnan(losses).sum())} rows decide something on their own (leverage 1), "
                "so that the fit without them is not determined",
                hint="use k-fold cross-validation, or a learner with a penalty such as 'ridge'.",
            )
        return naive_interval(losses, self.weights)

    @property
    def gcv(self) -> float:
        """Generalised cross-validation: mean of [(y - fitted) / (1 - df / n)]²."""
        n = len(self.y)
        if self.df >= n * (1 - 1e-10):
            return float("inf")
        mean = np.average((self.y - self.fitted) ** 2, weights=self.weights)
        return float(mean / (1 - self.df / n) ** 2)

    def _columns(self) -> dict[str, list[Any]]:
        names = ("y", "fitted", "left_out", "leverage")
        return {name: getattr(self, name).tolist() for name in names}

    def __repr__(self) -> str:
        return (
            f"LinearSmoother of {self.learner!r}: {len(self.y)} rows, {self.df:.4g} effective "
            f"degrees of freedom, generalised cross-validation {self.gcv:.4g}"
        )


def smoother_of_hat_matrix(
    hat: ArrayLike, y: ArrayLike, *, learner: str = "hat matrix", weights: ArrayLike | None = None
) -> LinearSmoother:
    """A linear smoother from its hat matrix.

    The closed form of leave-one-out holds for least squares, weighted or with a quadratic penalty
    (ridge, splines, kernel ridge), whose penalty does not depend on the number of rows. It does not
    for, say, nearest neighbours, where leaving a row out lets another in.

    Parameters
    ----------
    hat
        H, with fitted = H y.
    y
        The target.
    learner
        For the result's words.
    weights
        Of the rows.

    Examples
    --------
    The mean of all rows, as a smoother; leaving a row out leaves the mean of the others:

    >>> smoother_of_hat_matrix(np.full((4, 4), 0.25), [1.0, 1.0, 1.0, 0.0]).left_out.round(3)
    array([0.667, 0.667, 0.667, 1.   ])
    """
    matrix = np.asarray(hat, dtype=np.float64)
    target = np.asarray(y, dtype=np.float64)
    if matrix.shape != (len(target), len(target)):
        raise InputError(
            f"the hat matrix is {' by '.join(map(str, matrix.shape))}, but there are "
            f"{len(target)} rows"
        )
    shares = None if weights is None else np.asarray(weights, dtype=np.float64)
    return LinearSmoother(learner, target, matrix @ target, np.diag(matrix).copy(), shares)


def linear_smoother(model: Any, data: Table) -> LinearSmoother:
    """The smoother that a fitted learner is: least squares, ridge or kernel ridge.

    Leave-one-out then keeps what the learner's encoding has learned from all rows (scales, levels,
    filled-in values; for kernel ridge the mean of the target too). For least squares on complete
    columns this changes nothing; for the others it is of the order of one part in the number of
    rows.

    Parameters
    ----------
    model
        A fitted `Learner` of the catalogue ("ols", "ridge", "kernel-ridge").
    data
        The table it was fitted to.

    Examples
    --------
    >>> import clearwood as cw
    >>> data = cw.datasets.load("diabetes")
    >>> smoother = linear_smoother(cw.learner("ridge", alpha=10.0).fit(data), data)
    >>> smoother
    LinearSmoother of 'ridge': 442 rows, 9.803 effective degrees of freedom, ...
    >>> smoother.leave_one_out
    Interval(3001, 90 % naive from ...)
    """
    learner, encoded, estimator = parts_of(model, data)
    y = np.asarray(data.y, dtype=np.float64)
    root = np.ones(len(y)) if data.weights is None else np.sqrt(data.weights)
    if isinstance(estimator, LinearRegression):
        leverage = ridge_leverage(encoded, root, 0.0, intercept=estimator.fit_intercept)
    elif isinstance(estimator, Ridge):
        leverage = ridge_leverage(
            encoded, root, float(estimator.alpha), intercept=estimator.fit_intercept
        )
    elif isinstance(estimator, KernelRidge):
        leverage = _kernel_leverage(estimator, encoded, root)
    else:
        raise InputError(
            f"learner {learner!r} is no linear smoother with a closed form",
            hint="'ols', 'ridge' and 'kernel-ridge' (up to 5,000 rows) are; use cross-validation.",
        )
    fitted = np.ravel(model.estimator_.predict(encoded)).astype(np.float64)
    return LinearSmoother(learner, y, fitted, leverage, data.weights)


def parts_of(model: Any, data: Table) -> tuple[str, Array, Any]:
    """The learner's name, the columns as its estimator sees them, and that estimator."""
    if not isinstance(model, Learner):
        raise InputError(
            f"{type(model).__name__} is no learner of the catalogue",
            hint="such as cw.learner('ridge').fit(data).",
        )
    check_is_fitted(model, "estimator_")
    if model.training_["rows"] != data.n_rows:
        raise InputError(
            f"the learner was fitted to {model.training_['rows']} rows, but the table has "
            f"{data.n_rows}",
            hint="give the table it was fitted to.",
        )
    estimator = model.estimator_
    # a target brought to scale around a model around scikit-learn's, as far as the learner has them
    for attribute in ("regressor_", "model_"):
        estimator = getattr(estimator, attribute, estimator)
    return model.name, np.asarray(model.encoder_.transform(data), dtype=np.float64), estimator


def ridge_leverage(x: Array, root: Array, penalty: float, *, intercept: bool) -> Array:
    """Diagonal of H for penalised least squares with an intercept that is not penalised."""
    shares = root**2
    leverage = np.zeros(len(x))
    if intercept:
        x = x - np.average(x, axis=0, weights=shares)
        leverage = shares / shares.sum()
    u, d, _ = np.linalg.svd(x * root[:, None], full_matrices=False)
    known = d > d.max(initial=0.0) * max(x.shape) * np.finfo(np.float64).eps
    shrink = np.where(known, d**2 / (d**2 + penalty + (~known)), 0.0)
    return np.asarray(leverage + (u**2) @ shrink)


def _kernel_leverage(estimator: KernelRidge, x: Array, root: Array) -> Array:
    options = {"gamma": estimator.gamma, "degree": estimator.degree, "coef0": estimator.coef0}
    kernel = pairwise_kernels(x, metric=estimator.kernel, filter_params=True, **options)
    kernel = kernel * root[:, None] * root
    smoothing = kernel + estimator.alpha * np.eye(len(x))
    return np.asarray(np.diag(np.linalg.solve(smoothing, kernel)))
