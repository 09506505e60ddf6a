"""Rank values against sorted thresholds, so that rows become small integers."""

from collections.abc import Sequence
from typing import Any, Literal, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from clearwood._shared.errors import InputError
from clearwood.kernels import _core
from clearwood.kernels.parallelism import threads

__all__ = ["as_float32", "missing_code", "rank", "rank_columns"]

Side = Literal["left", "right"]
Precision = Literal["float32", "float64"]
Codes = NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.int32]

_CODE_TYPES = (np.dtype(np.uint8), np.dtype(np.uint16), np.dtype(np.int32))


def missing_code(dtype: DTypeLike) -> int:
    """Code that stands for a missing value in ranks of this type.

    It is the largest value of the type, which no rank ever takes.

    Examples
    --------
    >>> missing_code(np.uint8)
    255
    """
    code_type = np.dtype(dtype)
    if code_type not in _CODE_TYPES:
        known = ", ".join(str(known) for known in _CODE_TYPES)
        raise InputError(f"ranks are never of type {code_type}", hint=f"they are one of {known}.")
    return int(np.iinfo(code_type).max)


def rank(
    values: ArrayLike,
    thresholds: ArrayLike,
    *,
    side: Side = "left",
    precision: Precision = "float64",
    n_jobs: SupportsIndex | None = 1,
) -> Codes:
    """Count, for every value, the thresholds below it.

    The rank r of x gives the outcome of every split at once: x goes left at ``thresholds[k]``
    exactly if r <= k.

    Parameters
    ----------
    values
        One column of numbers; NaN is missing. Neither integers above 2**53 nor any other number
        keeps more digits than float64 has.
    thresholds
        Sorted upwards, no two equal, none missing; infinities are allowed.
    side
        Where a value goes that equals a threshold. "left": rows with x <= t go left, and the rank
        counts t < x (scikit-learn, LightGBM, CatBoost). "right": rows with x < t go left, and the
        rank counts t <= x (XGBoost).
    precision
        "float32" rounds the values first, as XGBoost and scikit-learn's trees do: a value that
        lies a hair above a threshold may then fall on it. Values too large for float32 become
        infinite. "float64" compares them as they are (LightGBM).
    n_jobs
        Number of threads; None means 1, -1 all cores.

    Returns
    -------
    ndarray of shape (n_values,)
        uint8, uint16 or int32, the smallest that has room; missing values get
        ``missing_code(result.dtype)``.

    See Also
    --------
    rank_columns : The same for every column of a matrix.

    Examples
    --------
    >>> rank([18.0, 25.0, 26.0, np.nan], [25.0, 60.0])
    array([  0,   0,   1, 255], dtype=uint8)
    >>> rank([18.0, 25.0, 26.0, np.nan], [25.0, 60.0], side="right")
    array([  0,   1,   1, 255], dtype=uint8)
    """
    column = _numbers(values, "values", n_dimensions=1)
    codes = _rank(column[:, np.newaxis], [thresholds], ["thresholds"], side, precision, n_jobs)
    return codes[:, 0]


def rank_columns(
    X: ArrayLike,
    thresholds: Sequence[ArrayLike],
    *,
    side: Side = "left",
    precision: Precision = "float64",
    n_jobs: SupportsIndex | None = 1,
) -> Codes:
    """Count, for every value of a matrix, the thresholds of its column below it.

    Parameters
    ----------
    X
        Rows by columns, in either memory order; NaN is missing.
    thresholds
        One sequence per column, as in `rank`; it may be empty.
    side, precision, n_jobs
        As in `rank`.

    Returns
    -------
    ndarray of shape (n_rows, n_columns)
        In column-major order and of one type for all columns, the smallest that has room for the
        longest sequence of thresholds; missing values get ``missing_code(result.dtype)``.

    See Also
    --------
    rank : The same for one column.

    Examples
    --------
    >>> rank_columns([[18.0, 1.6], [61.0, np.nan]], [[25.0, 60.0], [1.5]])
    array([[  0,   1],
           [  2, 255]], dtype=uint8)
    """
    matrix = _numbers(X, "X", n_dimensions=2)
    if len(thresholds) != matrix.shape[1]:
        raise InputError(
            f"thresholds has {len(thresholds)} sequences for the {matrix.shape[1]} columns of X",
            hint="give one per column, [] for a column without thresholds.",
        )
    names = [f"thresholds[{j}]" for j in range(len(thresholds))]
    return _rank(matrix, thresholds, names, side, precision, n_jobs)


def _rank(
    matrix: NDArray[Any],
    thresholds: Sequence[ArrayLike],
    names: Sequence[str],
    side: Side,
    precision: Precision,
    n_jobs: SupportsIndex | None,
) -> Codes:
    _one_of("side", side, ("left", "right"))
    _one_of("precision", precision, ("float32", "float64"))
    n_threads = threads(n_jobs)
    cuts = [_thresholds(cut, name) for cut, name in zip(thresholds, names, strict=True)]
    or_equal = side == "right"
    exact = np.concatenate([np.empty(0), *cuts])
    single = precision == "float32" or matrix.dtype == np.float32
    flat = as_float32(exact, up=or_equal) if single else exact
    offsets = np.zeros(len(cuts) + 1, dtype=np.int64)
    np.cumsum([len(cut) for cut in cuts], out=offsets[1:])
    longest = max((len(cut) for cut in cuts), default=0)
    codes = np.empty(matrix.shape, dtype=_code_type(longest), order="F")
    _core.rank_columns(matrix, flat, offsets, or_equal, codes, n_threads)
    return codes


def as_float32(thresholds: NDArray[np.float64], *, up: bool) -> NDArray[np.float32]:
    """Round thresholds to float32 such that every float32 compares with them as before.

    For a float32 x, t < x holds exactly if it holds for the largest float32 that is not above t,
    and t <= x exactly if it holds for the smallest that is not below t.
    """
    with np.errstate(over="ignore"):
        near = thresholds.astype(np.float32)
        wrong = near < thresholds if up else near > thresholds
        towards = np.float32(np.inf if up else -np.inf)
        return np.where(wrong, np.nextafter(near, towards), near)


def _code_type(n_thresholds: int) -> np.dtype[Any]:
    for dtype in _CODE_TYPES:
        if n_thresholds < missing_code(dtype):
            return dtype
    raise InputError(f"{n_thresholds} thresholds are more than a column can have")


def _thresholds(thresholds: ArrayLike, name: str) -> NDArray[np.float64]:
    cuts = np.ascontiguousarray(_numbers(thresholds, name, n_dimensions=1), dtype=np.float64)
    if np.isnan(cuts).any():
        raise InputError(f"{name} has missing values", hint="leave them out.")
    wrong = np.flatnonzero(cuts[1:] <= cuts[:-1])
    if wrong.size:
        k = int(wrong[0])
        raise InputError(
            f"{name} must rise, but {cuts[k]} is followed by {cuts[k + 1]}",
            hint="numpy.unique sorts them and drops doubles.",
        )
    return cuts


def _numbers(values: ArrayLike, name: str, *, n_dimensions: int) -> NDArray[Any]:
    """Return an aligned float32 or float64 array in native byte order, a view if possible."""
    array = np.asarray(values)
    if array.ndim != n_dimensions:
        wanted = {1: "one column of numbers", 2: "a matrix"}[n_dimensions]
        raise InputError(f"{name} has {array.ndim} dimensions; expected {wanted}")
    if array.dtype.kind not in "fiub":
        if array.size:
            raise InputError(
                f"{name} is of type {array.dtype}; expected numbers",
                hint="convert it with numpy.asarray(..., dtype=float).",
            )
        array = array.astype(np.float64)
    dtype = np.float32 if array.dtype in (np.float16, np.float32) else np.float64
    return np.require(array, dtype=dtype, requirements="A")


def _one_of(option: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        shown = " or ".join(repr(name) for name in allowed)
        raise InputError(f"{option}={value!r} is not known", hint=f"use {shown}.")
