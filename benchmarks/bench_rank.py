"""Rank values against sorted thresholds."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._harness import Case, Comparison
from clearwood.kernels import _core

Ranks = Callable[[], NDArray[Any]]


def comparisons(*, quick: bool) -> list[Comparison]:
    n_rows = 50_000 if quick else 1_000_000
    one_column = [
        _column(n_rows, n_thresholds, dtype)
        for n_thresholds in (16, 255, 10_000)
        for dtype in ("float32", "float64")
    ]
    return [*one_column, *(_matrix(n_rows // 10, threads) for threads in (1, 2))]


@dataclass(frozen=True)
class Column:
    values: NDArray[Any]
    thresholds: NDArray[Any]


def _column(n_rows: int, n_thresholds: int, dtype: str) -> Comparison:
    def data() -> Column:
        random = np.random.default_rng(0)
        thresholds = np.unique(random.normal(size=n_thresholds).astype(dtype))
        return Column(random.normal(size=n_rows).astype(dtype), thresholds)

    return Comparison(
        title=f"{n_rows:,} {dtype} values, {n_thresholds:,} thresholds",
        data=data,
        cases=[
            Case("clearwood", _ours),
            Case("numpy.searchsorted", _searchsorted),
            Case("numpy.digitize", _digitize),
        ],
        promises={"numpy.searchsorted": 5.0},
    )


def _ours(column: Column, threads: int) -> Ranks:
    return lambda: _rank_columns(column.values[:, None], [column.thresholds], threads)[:, 0]


def _rank_columns(X: NDArray[Any], cuts: list[NDArray[Any]], threads: int) -> NDArray[Any]:
    offsets = np.cumsum([0, *map(len, cuts)]).astype(np.int64)
    codes = np.empty(X.shape, np.uint8 if max(map(len, cuts)) < 255 else np.uint16, order="F")
    _core.rank_columns(X, np.concatenate(cuts), offsets, False, codes, threads)  # noqa: FBT003
    return codes


def _searchsorted(column: Column, _threads: int) -> Ranks:
    return lambda: np.searchsorted(column.thresholds, column.values)


def _digitize(column: Column, _threads: int) -> Ranks:
    return lambda: np.digitize(column.values, column.thresholds, right=True)


@dataclass(frozen=True)
class Matrix:
    X: NDArray[np.float64]
    binner: Any
    thresholds: list[NDArray[np.float64]]


def _matrix(n_rows: int, threads: int) -> Comparison:
    n_columns = 20

    def data() -> Matrix:
        # its own thresholds are used by all, since it can be given no others
        from sklearn.ensemble._hist_gradient_boosting.binning import _BinMapper

        random = np.random.default_rng(0)
        X = random.normal(size=(n_rows, n_columns))
        X[random.random(X.shape) < 0.05] = np.nan
        binner = _BinMapper(n_bins=256, n_threads=threads, random_state=0).fit(X)
        return Matrix(X, binner, list(binner.bin_thresholds_))

    return Comparison(
        title=f"{n_rows:,} × {n_columns} row-major float64, 254 thresholds, 5 % missing",
        data=data,
        cases=[
            Case("clearwood", _our_columns),
            Case("scikit-learn's binner", _binner),
            Case("numpy.searchsorted", _searchsorted_columns),
        ],
        threads=threads,
        promises={"numpy.searchsorted": 5.0},
    )


def _our_columns(matrix: Matrix, threads: int) -> Ranks:
    return lambda: _rank_columns(matrix.X, matrix.thresholds, threads)


def _binner(matrix: Matrix, _threads: int) -> Ranks:
    return lambda: matrix.binner.transform(matrix.X)


def _searchsorted_columns(matrix: Matrix, _threads: int) -> Ranks:
    def call() -> NDArray[np.uint8]:
        codes = np.empty(matrix.X.shape, dtype=np.uint8, order="F")
        for j, thresholds in enumerate(matrix.thresholds):
            values = matrix.X[:, j]
            codes[:, j] = np.searchsorted(thresholds, values)
            codes[np.isnan(values), j] = 255
        return codes

    return call
