"""Universal Binary JSON (draft 12), the binary form of JSON that XGBoost writes its models in."""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from clearwood.kernels import _core

__all__ = ["UbjsonDocument", "UbjsonError"]

P = ParamSpec("P")
R = TypeVar("R")


class UbjsonError(ValueError):
    """What is wrong with the bytes, and where."""


def _checked(call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    try:
        return call(*args, **kwargs)
    except ValueError as error:
        raise UbjsonError(str(error)) from None


class UbjsonDocument:
    r"""A document whose values are converted when they are read.

    Making one goes over the bytes once and notes where each value is. A value is known by its
    position in the order of the bytes; the outermost is 0.

    Parameters
    ----------
    data
        Exactly one value. The bytes must not change while the document is in use.

    Raises
    ------
    UbjsonError
        Where the bytes are cut short, go on after the value, announce what is not there or nest
        deeper than 64 containers. The same error is raised by the methods for text that is not
        UTF-8 and for keys that are missing or repeated; it names the byte.

    Examples
    --------
    >>> document = UbjsonDocument(b"{i\x01a[$U#i\x03\x07\x08\x09i\x01bSi\x02hi}")
    >>> document.value()
    {'a': array([7, 8, 9], dtype=uint8), 'b': 'hi'}
    >>> document.value(document.find("b"))
    'hi'
    """

    def __init__(self, data: bytes | bytearray) -> None:
        self._document = _checked(_core.UbjsonDocument, np.frombuffer(data, np.uint8))

    def has(self, name: str, *, within: int = 0) -> bool:
        """Whether the object at a position has a key."""
        return _checked(self._document.find, within, name) >= 0

    def find(self, *path: str, within: int = 0) -> int:
        """Give the position of the value at a path of keys that starts in an object."""
        at = within
        for name in path:
            found = _checked(self._document.find, at, name)
            if found < 0:
                raise UbjsonError(f"there is no {name!r} where one is expected")
            at = found
        return at

    def count(self, at: int = 0) -> int:
        """Give the number of entries of the container at a position."""
        return self._document.count(at)

    def value(self, at: int = 0) -> Any:
        """Give a value as Python's own: dict, list, text, number, or an array of numbers."""
        return _checked(self._document.value, at)

    def column(self, records: int, name: str) -> tuple[NDArray[Any], NDArray[np.int64]]:
        r"""Join the arrays of numbers that the objects of an array have under one key.

        Parameters
        ----------
        records
            Position of the array of objects, of which there is at least one.
        name
            The key. Every object must have it, with numbers of the same type.

        Returns
        -------
        values
            The numbers of all objects, one after another.
        counts
            How many of them each object has.

        Examples
        --------
        >>> document = UbjsonDocument(b"[{i\x01a[$U#i\x02\x07\x08}{i\x01a[$U#i\x01\x09}]")
        >>> document.column(0, "a")
        (array([7, 8, 9], dtype=uint8), array([2, 1], dtype=int64))
        """
        return _checked(self._document.column, records, name)
