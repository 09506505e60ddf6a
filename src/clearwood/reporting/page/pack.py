"""Data carried in the page: JSON that is safe in a script element, and arrays as short text."""

import base64
import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

__all__ = ["island", "packed", "plain_number", "plain_numbers"]

_WHOLE = (("u1", np.uint8), ("u2", np.uint16), ("u4", np.uint32), ("i4", np.int32))
# What could end the element, open a comment, or end a line in older scripts. All of them occur in
# JSON within strings only, where the escape means the same character.
_ESCAPES = {ord(mark): f"\\u{ord(mark):04x}" for mark in "<>&\u2028\u2029"}


def island(value: Any) -> Markup:
    r"""Return a value as JSON that can stand in a script element of a page.

    NumPy's numbers and arrays are taken as Python's; numbers that are not finite become null,
    which is how JSON says that there is none.

    Examples
    --------
    >>> print(island({"level": "</script>", "value": np.float64(0.5), "band": (1, np.nan)}))
    {"level":"\u003c/script\u003e","value":0.5,"band":[1,null]}
    """
    text = json.dumps(_plain(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(text.translate(_ESCAPES))  # noqa: S704 - escaped one line above


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


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
    plain = _encoded(flat)
    if flat.dtype.kind != "f" or len(flat) < 64:
        return plain
    values, places = np.unique(flat, return_inverse=True)
    if len(values) > len(flat) // 2:
        return plain
    split = {"table": _encoded(values), "index": _encoded(places)}
    return split if _size(split["table"]) + _size(split["index"]) < _size(plain) else plain


def _encoded(flat: NDArray[Any]) -> dict[str, str]:
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
