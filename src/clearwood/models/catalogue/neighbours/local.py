"""Local regression: a mean, or a line, fitted to the rows near each point."""

from itertools import product
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from clearwood._shared.arrays import Bools, Floats, Index
from clearwood._shared.errors import InputError, Setting, bad_value
from clearwood._shared.weights import counted
from clearwood.models.catalogue.gam.trust import trusted_ends
from clearwood.models.shared.rows import check_choice, check_real, check_size

__all__ = ["LocalRegressor", "Membership"]


# Rows as sets, for distances between sets.


class Membership(TransformerMixin, BaseEstimator):
    """Represent each row by the set of its columns that are positive.

    It is for encoded tables: standardised numbers and indicators of 0 and 1. A row's set then holds
    its levels, and the numbers in which it is above average.

    Examples
    --------
    >>> Membership().fit_transform([[0.3, 0.0], [-0.3, 1.0]])
    array([[ True, False],
           [False,  True]])
    """

    def fit(self, X: ArrayLike, y: Any = None) -> Self:  # noqa: ARG002 - scikit-learn's signature
        """Remember the number of columns."""
        self.n_features_in_ = np.shape(X)[1]
        return self

    def transform(self, X: ArrayLike) -> Bools:
        """Return which columns are positive."""
        return np.asarray(X) > 0


#: Columns of numbers at most: in more dimensions no rows are near.
_MOST_COLUMNS = 10
#: Cells along each column into which many rows are gathered, by the number of columns.
_CELLS = {0: 1, 1: 800, 2: 60, 3: 22, 4: 12, 5: 8, 6: 6}
#: Rows beyond which they are gathered into cells.
_MOST_ROWS = 4_000
#: Points at which the error of a bandwidth is measured.
_MOST_POINTS = 800
_BLOCK = 4_000_000
#: A ridge that keeps lines defined where neighbours do not vary.
_RIDGE = 1e-8
#: Errors that differ by less than this share differ by rounding.
_ALIKE = 1e-9
_TRIED_BANDWIDTHS = tuple(np.geomspace(0.06, 3.0, 12).tolist())
_TRIED_SHARES = (0.0, 0.1, 0.3, 1.0)


class LocalRegressor(RegressorMixin, BaseEstimator):
    """Kernel smoothing and local linear regression (Hastie, Tibshirani and Friedman 2009, ch. 6).

    At each point the rows are weighted by a normal kernel of their distance in every column of
    numbers, and by a factor for every category that differs. Degree 0 predicts their mean
    (Nadaraya-Watson), degree 1 the value of the line fitted to them, which has no bias of first
    order at the ends of the data.

    Parameters
    ----------
    degree
        0 or 1.
    bandwidth
        Standard deviation of the kernel in standard deviations of the columns, one for all; by
        default one for each column, chosen by the error of rows left out one at a time.
    criterion
        What the bandwidth is chosen by: "cv", the squared error of rows left out one at a time, or
        "gcv", generalised cross-validation, which divides each residual by its mean 1 - s.
    across
        The weight of rows of another level, from 0 (each level has a curve of its own) to 1
        (levels do not matter); chosen like the bandwidth when None.
    categorical
        Positions of the columns that hold category codes.

    Attributes
    ----------
    ends_ : ndarray of shape (2, columns)
        The values beyond which predictions are constant; infinite but where a row far beyond all
        others contradicts them.
    bandwidth_ : ndarray
        Of each column of numbers, in standard deviations.
    across_ : float
    loo_ : float
        The mean squared error of rows, or of cells, left out one at a time, or its estimate by
        "gcv"; too good as an estimate of risk, because the bandwidth is chosen by it.
    freedom_ : float
        The trace of the matrix that maps the target to the fit: its degrees of freedom.
    is_binned_ : bool
        Whether rows were gathered into cells, which is done beyond 4,000 rows.

    Notes
    -----
    The error of a row left out is (y - fit) / (1 - s), where s is its own weight in its fit: no fit
    is repeated. With many rows or cells, both criteria and the degrees of freedom are estimated at
    800 of them.

    Examples
    --------
    >>> x = np.linspace(0, 6, 200)
    >>> model = LocalRegressor().fit(x[:, None], np.sin(x))
    >>> bool(np.abs(model.predict(x[:, None]) - np.sin(x)).max() < 0.01)
    True
    """

    def __init__(
        self,
        *,
        degree: Literal[0, 1] = 1,
        bandwidth: float | None = None,
        criterion: Literal["cv", "gcv"] = "cv",
        across: float | None = None,
        categorical: tuple[int, ...] = (),
    ) -> None:
        self.degree = degree
        self.bandwidth = bandwidth
        self.criterion = criterion
        self.across = across
        self.categorical = categorical

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Keep the rows, in cells if there are many, and choose the bandwidth."""
        self._check_settings()
        matrix, target = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
        rows, weight = counted(sample_weight, len(target))
        matrix, target = matrix[rows], target[rows]
        check_size(target, weight)
        self.n_features_in_ = matrix.shape[1]
        # a row far beyond all others that contradicts them would be its own neighbourhood
        self.ends_, weight = trusted_ends(matrix, target, weight, categorical=self.categorical)
        numeric = [j for j in range(matrix.shape[1]) if j not in set(self.categorical)]
        if len(numeric) > _MOST_COLUMNS:
            raise InputError(
                f"there are {len(numeric)} columns of numbers, where a date counts as five, and "
                f"local regression takes {_MOST_COLUMNS} at most: with more, no rows are near",
                parameter="learner",
                hint="choose fewer columns, or take learner 'gam' or 'gbm'.",
            )
        self.numeric_ = np.array(numeric, dtype=np.intp)
        share = weight / weight.sum()
        inside = np.clip(matrix, *self.ends_)[:, numeric]
        self.centre_ = share @ inside
        spread = np.sqrt(share @ (inside - self.centre_) ** 2)
        self.spread_ = np.where(spread > 0, spread, 1.0)
        # predictions are of the mean plus what is near, so that scale and shift change nothing
        self.level_ = float(share @ target)
        self.is_binned_ = len(target) > _MOST_ROWS
        places, codes = self._scaled(matrix), self._codes(matrix)
        self.rows_, self.codes_, self.y_, self.weight_ = _gathered(
            places, codes, target - self.level_, weight, in_cells=self.is_binned_
        )
        self._choose()
        return self

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take what was saved; files of earlier versions have no ends."""
        super().__setstate__(state)
        if hasattr(self, "n_features_in_") and not hasattr(self, "ends_"):
            self.ends_ = np.repeat([[-np.inf], [np.inf]], self.n_features_in_, axis=1)

    def predict(self, X: ArrayLike) -> Floats:
        """Predict the mean near each row."""
        check_is_fitted(self)
        matrix = np.asarray(X, dtype=np.float64)
        fitted, _ = self._smooth(
            self._scaled(matrix), self._codes(matrix), self.bandwidth_, self.across_
        )
        return fitted + self.level_

    def _check_settings(self) -> None:
        """Refuse settings that mean nothing."""
        if self.degree not in (0, 1):
            raise bad_value("degree", self.degree, "it must be 0 or 1", kind=Setting)
        check_choice("criterion", self.criterion, ("cv", "gcv"))
        if self.bandwidth is not None:
            check_real("bandwidth", self.bandwidth, 0.0, strict=True)
        if self.across is not None:
            check_real("across", self.across, 0.0, 1.0)

    def _scaled(self, matrix: Floats) -> Floats:
        """Return the columns of numbers in standard deviations."""
        inside = np.clip(matrix, *self.ends_)[:, self.numeric_]
        scaled: Floats = (inside - self.centre_) / self.spread_
        return scaled

    def _codes(self, matrix: Floats) -> Index:
        """Return the columns of categories; a missing level is one of its own."""
        return np.nan_to_num(matrix[:, list(self.categorical)], nan=-1.0).astype(np.intp)

    def _choose(self) -> None:
        """Choose bandwidths and the weight of other levels by the error of rows left out."""
        n_columns = len(self.numeric_)
        bandwidths = _TRIED_BANDWIDTHS if self.bandwidth is None else (self.bandwidth,)
        shares = (self.across,) if self.across is not None else _TRIED_SHARES
        if not self.categorical:
            shares = (1.0 if self.across is None else self.across,)
        tried = [
            (self._left_out(np.full(n_columns, h), a), h, a) for h, a in product(bandwidths, shares)
        ]
        # wide bandwidths fit alike: rounding does not choose between them
        least = min(tried)[0] * (1 + _ALIKE)
        error, bandwidth, self.across_ = next(one for one in tried if one[0] <= least)
        self.bandwidth_ = np.full(n_columns, bandwidth)
        if self.bandwidth is None and n_columns > 1:
            for _ in range(2 if n_columns <= 4 else 1):
                for j, factor in product(range(n_columns), (0.5, 2.0, 8.0)):
                    changed = self.bandwidth_.copy()
                    changed[j] = min(changed[j] * factor, 50.0)
                    other = self._left_out(changed, self.across_)
                    if other < error * (1 - _ALIKE):
                        error, self.bandwidth_ = other, changed
        self.loo_ = float(error)
        _, _, own = self._at_points(self.bandwidth_, self.across_)
        self.freedom_ = float(own.mean() * len(self.y_))

    def _at_points(self, bandwidth: Floats, across: float) -> tuple[Index, Floats, Floats]:
        """Return rows, all or some of them, their fits, and their own weights in these."""
        n = len(self.y_)
        at = np.unique(np.linspace(0, n - 1, min(n, _MOST_POINTS)).astype(np.intp))
        return at, *self._smooth(self.rows_[at], self.codes_[at], bandwidth, across, own=at)

    def _left_out(self, bandwidth: Floats, across: float) -> float:
        """Return the mean squared error of rows, each left out of its own fit."""
        at, fitted, own = self._at_points(bandwidth, across)
        if self.criterion == "gcv":
            own = np.full_like(own, own.mean())
        # a row that determines its own fit says nothing about others: it counts as the mean
        alone = own > 1 - 1e-6
        errors = np.where(alone, self.y_[at], (self.y_[at] - fitted) / np.where(alone, 1, 1 - own))
        return float(np.average(errors**2, weights=self.weight_[at]))

    def _smooth(
        self,
        places: Floats,
        codes: Index,
        bandwidth: Floats,
        across: float,
        own: Index | None = None,
    ) -> tuple[Floats, Floats]:
        """Return fits at some places, and how much the rows ``own`` weigh in them."""
        n, p = len(places), places.shape[1]
        fitted, leverage = np.empty(n), np.zeros(n)
        block = max(1, _BLOCK // max(len(self.y_), 1))
        log_across = np.log(across) if across > 0 else -1e6
        for first in range(0, n, block):
            part = slice(first, first + block)
            log = np.zeros((len(places[part]), len(self.y_)))
            for j in range(p):
                step = (places[part, j][:, None] - self.rows_[:, j]) / bandwidth[j]
                log -= 0.5 * step**2
            for j in range(codes.shape[1]):
                log += log_across * (codes[part, j][:, None] != self.codes_[:, j])
            # far from all rows the nearest remain
            log -= log.max(axis=1, keepdims=True)
            kernel = np.exp(log) * self.weight_
            mine = None if own is None else own[part]
            fitted[part], leverage[part] = self._fits(places[part], kernel, mine)
        return fitted, leverage

    def _fits(self, places: Floats, kernel: Floats, own: Index | None) -> tuple[Floats, Floats]:
        """Return the local mean, or the local line at its point, and the weight of own rows."""
        m, p = places.shape
        total = kernel.sum(axis=1)
        mean = kernel @ self.y_ / total
        here = np.zeros(m) if own is None else kernel[np.arange(m), own] / total
        if self.degree == 0 or p == 0:
            return mean, here
        centre = kernel @ self.rows_ / total[:, None]
        # differences first: where one row has nearly all the weight, those of products are rounding
        kernel = kernel / total[:, None]
        apart = [self.rows_[:, j] - centre[:, j, None] for j in range(p)]
        weighted = [kernel * one for one in apart]
        second = np.empty((m, p, p))
        cross = np.empty((m, p))
        for j in range(p):
            cross[:, j] = np.einsum("mn,mn->m", weighted[j], self.y_ - mean[:, None])
            for k in range(j + 1):
                second[:, j, k] = second[:, k, j] = np.einsum("mn,mn->m", weighted[j], apart[k])
        size = np.einsum("mii->m", second) / p
        second += (_RIDGE * size + 1e-12)[:, None, None] * np.eye(p)
        away = places - centre
        turned = np.linalg.solve(second, away[:, :, None])[:, :, 0]
        fitted = mean + (turned * cross).sum(axis=1)
        if own is not None:
            here = here * (1 + (turned * (self.rows_[own] - centre)).sum(axis=1))
        return fitted, here


def _gathered(
    places: Floats, codes: Index, y: Floats, weight: Floats, *, in_cells: bool
) -> tuple[Floats, Index, Floats, Floats]:
    """Return rows, or their means in the cells of a grid with the weight of all rows in it."""
    if not in_cells:
        return places, codes, y, weight
    cells = _CELLS.get(places.shape[1], 4)
    low, high = places.min(axis=0), places.max(axis=0)
    width = np.where(high > low, high - low, 1.0)
    grid = np.minimum((cells * (places - low) / width).astype(np.intp), cells - 1)
    _, first, cell = np.unique(
        np.column_stack([grid, codes]), axis=0, return_index=True, return_inverse=True
    )
    cell = cell.ravel()
    total = np.bincount(cell, weight).astype(np.float64)
    means = [np.bincount(cell, weight * one) / total for one in (*places.T, y)]
    centres = np.column_stack(means[:-1]) if len(means) > 1 else np.empty((len(total), 0))
    return centres, codes[first], means[-1], total
