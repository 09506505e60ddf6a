"""Arrays as short text that the page's script reads back without loss."""

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["packed", "plain_number", "plain_numbers"]

_WHOLE = (("u1", np.uint8), ("u2", np.uint16), ("u4", np.uint32), ("i4", np.int32))


def packed(array: NDArray[Any]) -> dict[str, Any]:
    """Return an array as base64 text of the smallest type that keeps every value.

    Values that repeat are written once, with their places, where that is shorter.

    Examples
    --------
    >>> packed(np.array([1, 2, 3]))
    {'type': 'u1', 'data': 'AQID'}
    >>> packed(np.array([0.5, 0.25]))["type"], packed(np.array([0.1, 0.2]))["type"]
    ('f4', 'f8')
    """
    flat = np.ascontiguousarray(array).ravel()
    plain = _plain(flat)
    if flat.dtype.kind != "f" or len(flat) < 64:
        return plain
    values, places = np.unique(flat, return_inverse=True)
    if len(values) > len(flat) // 2:
        return plain
    split = {"table": _plain(values), "index": _plain(places)}
    return split if _size(split["table"]) + _size(split["index"]) < _size(plain) else plain


def _plain(flat: NDArray[Any]) -> dict[str, str]:
    name, dtype = _narrowest(flat)
    data = np.ascontiguousarray(flat, np.dtype(dtype).newbyteorder("<")).tobytes()
    return {"type": name, "data": base64.b64encode(data).decode("ascii")}


def _narrowest(flat: NDArray[Any]) -> tuple[str, type]:
    if flat.dtype.kind == "f":
        with np.errstate(over="ignore"):
            narrow = flat.astype(np.float32)
        same = np.array_equal(narrow.astype(np.float64), flat, equal_nan=True)
        return ("f4", np.float32) if same else ("f8", np.float64)
    low, high = int(flat.min(initial=0)), int(flat.max(initial=0))
    for name, dtype in _WHOLE:
        if np.iinfo(dtype).min <= low and high <= np.iinfo(dtype).max:
            return name, dtype
    raise OverflowError("whole numbers past 32 bits are not carried")


def _size(part: dict[str, str]) -> int:
    return len(part["data"])


def plain_number(value: Any) -> float | int | None:
    """Return a number for JSON: whole numbers without a point, None where it is not finite.

    Examples
    --------
    >>> plain_number(np.float64(3.0)), plain_number(0.1), plain_number(np.nan)
    (3, 0.1, None)
    """
    number = float(value)
    if not np.isfinite(number):
        return None
    return int(number) if number == int(number) and abs(number) < 2**53 else number


def plain_numbers(values: NDArray[Any]) -> list[Any]:
    """Return an array of any shape as lists for JSON."""
    if np.ndim(values) == 0:
        return plain_number(values)  # type: ignore[return-value]
    return [plain_numbers(value) for value in np.asarray(values)]
