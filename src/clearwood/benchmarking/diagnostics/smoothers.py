"""Leave-one-out without refitting: linear smoothers.

A linear smoother's fitted values are a fixed matrix times the target, fitted = H y. Where H comes
from (penalised, weighted) least squares, the prediction for row i of the fit without it is known
from the fit with it: y_i - loo_i = (y_i - fitted_i) / (1 - H_ii).
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils.validation import check_is_fitted

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import Call, InputError, words
from clearwood._shared.numbers import count, number
from clearwood._shared.results import Result
from clearwood.evaluation import Interval, naive_interval
from clearwood.models import Learner
from clearwood.table import Table

__all__ = [
    "LinearSmoother",
    "linear_smoother",
    "parts_of",
    "ridge_leverage",
]


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
        The diagonal of H: how much each fitted value depends on its own target.
    weights
        Of the rows, or None.
    """

    learner: str
    y: Floats
    fitted: Floats
    leverage: Floats
    weights: Floats | None = None
    _derived: ClassVar[tuple[str, ...]] = ("df", "gcv", "left_out")
    _omitted: ClassVar[tuple[str, ...]] = ("weights",)

    @classmethod
    def from_hat_matrix(
        cls,
        hat: ArrayLike,
        y: ArrayLike,
        *,
        learner: str = "hat matrix",
        weights: ArrayLike | None = None,
    ) -> "LinearSmoother":
        """Make a linear smoother from its hat matrix.

        The closed form of leave-one-out is valid for least squares, weighted or with a quadratic
        penalty (ridge, splines, kernel ridge) that does not depend on the number of rows. It is not
        valid for, say, nearest neighbours: without a row, another one becomes a neighbour.

        Parameters
        ----------
        hat
            H, with fitted = H y.
        y
            The target.
        learner
            The name of the learner.
        weights
            Of the rows.

        Examples
        --------
        The mean of all rows as a smoother; without a row it is the mean of the others:

        >>> mean = LinearSmoother.from_hat_matrix(np.full((4, 4), 0.25), [1.0, 1.0, 1.0, 0.0])
        >>> mean.left_out.round(3)
        array([0.667, 0.667, 0.667, 1.   ])
        """
        matrix = np.asarray(hat, dtype=np.float64)
        target = np.asarray(y, dtype=np.float64)
        if matrix.shape != (len(target), len(target)):
            raise InputError(
                f"the hat matrix is {' by '.join(map(str, matrix.shape))}, but there are "
                f"{count(len(target), 'row')}",
                parameter="hat",
            )
        shares = None if weights is None else np.asarray(weights, dtype=np.float64)
        return cls(learner, target, matrix @ target, np.diag(matrix).copy(), shares)

    @property
    def df(self) -> float:
        """Effective degrees of freedom: the trace of H."""
        return float(self.leverage.sum())

    @property
    def left_out(self) -> Floats:
        """The prediction for each row of the fit without it; NaN where no such fit is determined.

        A row with leverage 1 is fitted exactly, whatever its target: it alone determines some
        coefficient.
        """
        is_exact = self.leverage > 1 - 1e-10
        share = np.where(is_exact, np.nan, 1 - self.leverage)
        return np.asarray(self.y - (self.y - self.fitted) / share)

    @property
    def leave_one_out(self) -> Interval:
        """Leave-one-out squared error with the naive interval (see `naive_interval`)."""
        losses = (self.y - self.left_out) ** 2
        if np.isnan(losses).any():
            raise InputError(
                f"{count(int(np.isnan(losses).sum()), 'row')} with leverage 1: the fit without it "
                "is not determined",
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
            f"LinearSmoother of {self.learner!r}: {count(len(self.y), 'row')}, {number(self.df)} "
            f"effective degrees of freedom, generalised cross-validation {number(self.gcv)}"
        )


def linear_smoother(model: Any, data: Table) -> LinearSmoother:
    """Return a fitted learner as a linear smoother: least squares, ridge or kernel ridge.

    Leave-one-out then keeps the encoding learned from all rows (scales, levels, imputed values; for
    kernel ridge the mean of the target too). For least squares on complete columns this makes no
    difference; for the others it is a relative difference of order 1 / rows.

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
    LinearSmoother of 'ridge': 442 rows, 9.8 effective degrees of freedom, ...
    >>> smoother.leave_one_out
    Interval(3,001, 90 % naive from ...)
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
            f"learner {learner!r} is not a linear smoother with a closed form",
            parameter="model",
            value=learner,
            hint="'ols', 'ridge' and 'kernel-ridge' (up to 5,000 rows) are; use cross-validation.",
        )
    fitted = np.ravel(model.estimator_.predict(encoded)).astype(np.float64)
    return LinearSmoother(learner, y, fitted, leverage, data.weights)


def parts_of(model: Any, data: Table) -> tuple[str, Floats, Any]:
    """Return the learner's name, the encoded columns, and the estimator fitted to them."""
    if not isinstance(model, Learner):
        raise InputError(
            f"{type(model).__name__} is not a learner of the catalogue",
            parameter="model",
            value=model,
            hint=words("use a fitted ", Call("learner", ("'ridge'",)), "."),
        )
    check_is_fitted(model, "estimator_")
    if model.training_["rows"] != data.n_rows:
        raise InputError(
            f"the learner was fitted to {model.training_['rows']} rows, but the table has "
            f"{data.n_rows}",
            parameter="data",
            hint="pass the table it was fitted to.",
        )
    estimator = model.estimator_
    # the learner may wrap a scaled target, which may wrap a model, which wraps scikit-learn's
    for attribute in ("regressor_", "model_"):
        estimator = getattr(estimator, attribute, estimator)
    return model.name, np.asarray(model.encoder_.transform(data), dtype=np.float64), estimator


def ridge_leverage(x: Floats, root: Floats, penalty: float, *, intercept: bool) -> Floats:
    """Return the diagonal of H for penalised least squares; the intercept is not penalised."""
    shares = root**2
    leverage = np.zeros(len(x))
    if intercept:
        x = x - np.average(x, axis=0, weights=shares)
        leverage = shares / shares.sum()
    u, d, _ = np.linalg.svd(x * root[:, None], full_matrices=False)
    known = d > d.max(initial=0.0) * max(x.shape) * np.finfo(np.float64).eps
    shrink = np.where(known, d**2 / (d**2 + penalty + (~known)), 0.0)
    return np.asarray(leverage + (u**2) @ shrink)


def _kernel_leverage(estimator: KernelRidge, x: Floats, root: Floats) -> Floats:
    options = {"gamma": estimator.gamma, "degree": estimator.degree, "coef0": estimator.coef0}
    kernel = pairwise_kernels(x, metric=estimator.kernel, filter_params=True, **options)
    kernel = kernel * root[:, None] * root
    smoothing = kernel + estimator.alpha * np.eye(len(x))
    return np.asarray(np.diag(np.linalg.solve(smoothing, kernel)))
