"""Members of a container: JSON and arrays as bytes, and back without running anything."""

import io
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.errors import InputError

__all__ = ["damaged", "from_array", "from_json", "to_array", "to_json"]


def damaged(message: str) -> InputError:
    """Make the error for content that is not as it was written."""
    return InputError(message, parameter="path", hint="fetch or save the file again.")


def from_json(value: Any) -> bytes:
    """Write JSON values in the one form that gives equal bytes for equal values.

    Examples
    --------
    >>> from_json({"b": 1, "a": [0.1, None]})
    b'{"a":[0.1,null],"b":1}'
    """
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text.encode("utf-8")


def to_json(data: bytes, *, member: str = "the file") -> Any:
    """Read JSON; the error for anything else names the member."""
    try:
        return json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{member} is not valid JSON ({error}); nothing was run", parameter="path"
        ) from None


def from_array(array: NDArray[Any]) -> bytes:
    """Write an array in numpy's own format.

    Examples
    --------
    >>> to_array(from_array(np.array([1.5, np.nan])))
    array([1.5, nan])
    >>> from_array(np.array(["a", None], dtype=object))
    Traceback (most recent call last):
    ...
    TypeError: an array of objects cannot be stored; store its levels and codes
    """
    if array.dtype.hasobject:
        raise TypeError("an array of objects cannot be stored; store its levels and codes")
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def to_array(data: bytes, *, member: str = "the file") -> NDArray[Any]:
    """Read an array in numpy's format; one that would need unpickling is refused."""
    buffer = io.BytesIO(data)
    try:
        # np.load falls back to pickle, or opens a zip, by the first bytes; this reader does not.
        array: NDArray[Any] = np.lib.format.read_array(buffer, allow_pickle=False)
    except (ValueError, EOFError, OverflowError, MemoryError, SyntaxError) as error:
        raise InputError(
            f"{member} is not a plain array ({error}); nothing was run", parameter="path"
        ) from None
    return array
