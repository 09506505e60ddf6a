"""Universal Binary JSON (draft 12): XGBoost's own binary format, read without going through text.

A document goes over the bytes once and notes where each value is; values are converted when read.
Arrays of numbers of one type stay as they are in the bytes, so the same array of all trees becomes
one NumPy array in one step.
"""

import struct
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["UbjsonDocument", "UbjsonError"]

# Numbers by marker, as the bytes hold them (big-endian).
_TYPES: dict[int, np.dtype[Any]] = {
    ord("i"): np.dtype("i1"),
    ord("U"): np.dtype("u1"),
    ord("I"): np.dtype(">i2"),
    ord("l"): np.dtype(">i4"),
    ord("L"): np.dtype(">i8"),
    ord("d"): np.dtype(">f4"),
    ord("D"): np.dtype(">f8"),
}
_SIZES = {marker: dtype.itemsize for marker, dtype in _TYPES.items()}
_UNPACK: dict[int, Callable[..., tuple[Any, ...]]] = {
    ord(marker): struct.Struct(f">{code}").unpack_from
    for marker, code in zip("iUIlLdD", "bBhiqfd", strict=True)
}
_WHOLE = frozenset(b"iUIlL")
_CONSTANTS: dict[int, Any] = {ord("Z"): None, ord("T"): True, ord("F"): False}
_ARRAY, _ARRAY_END, _OBJECT, _OBJECT_END = b"[]{}"
_TYPE, _COUNT, _STRING, _NUMERAL, _CHARACTER, _NO_OP = b"$#SHCN"
# XGBoost nests eight deep; a walk down the values must not exhaust Python's stack.
_DEEPEST = 64


class UbjsonError(ValueError):
    """Bytes that are not exactly one value of Universal Binary JSON, and where they go wrong."""


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
        self.data = bytes(data)
        scanner = _Scanner(self.data)
        scanner.run()
        self.keys = scanner.keys
        self.kind, self.element, self.key, self.start, self.counts, self.parent = np.array(
            scanner.rows, np.int64
        ).T

    def count(self, at: int = 0) -> int:
        """Give the number of entries of the container at a position."""
        return int(self.counts[at])

    def inside(self, at: int) -> NDArray[np.intp]:
        """Positions of the values that a container holds."""
        return np.flatnonzero(self.parent == at)

    def _named(self, name: str, within: int) -> int | None:
        named = np.flatnonzero((self.parent == within) & (self.key == self.keys.get(name, -2)))
        if len(named) > 1:
            raise UbjsonError(f"byte {self.start[within]}: an object has {name!r} twice")
        return int(named[0]) if len(named) else None

    def has(self, name: str, *, within: int = 0) -> bool:
        """Whether the object at a position has a key."""
        return self._named(name, within) is not None

    def find(self, *path: str, within: int = 0) -> int:
        """Give the position of the value at a path of keys that starts in an object."""
        at = within
        for name in path:
            found = self._named(name, at)
            if found is None:
                raise UbjsonError(f"there is no {name!r} where one is expected")
            at = found
        return at

    def value(self, at: int = 0) -> Any:
        """Give a value as Python's own: dict, list, text, number, or an array of numbers."""
        kind, start, count = int(self.kind[at]), int(self.start[at]), int(self.counts[at])
        if kind in _UNPACK:
            return _UNPACK[kind](self.data, start)[0]
        if kind in _CONSTANTS:
            return _CONSTANTS[kind]
        if kind in (_ARRAY, _OBJECT):
            if self.element[at]:
                dtype = _TYPES[int(self.element[at])]
                array = np.frombuffer(self.data, dtype, count, start)
                return array.astype(dtype.newbyteorder("="))
            inside = self.inside(at).tolist()
            if kind == _ARRAY:
                return [self.value(child) for child in inside]
            names = list(self.keys)
            entries = {names[self.key[child]]: self.value(child) for child in inside}
            if len(entries) != count:
                raise UbjsonError(f"byte {start}: an object has a key twice")
            return entries
        try:
            text = self.data[start : start + count].decode()
        except UnicodeDecodeError:
            raise UbjsonError(f"byte {start}: a text is not UTF-8") from None
        return text if kind != _NUMERAL else self._numeral(text, start)

    def _numeral(self, text: str, start: int) -> float:
        try:
            return float(text)
        except ValueError:
            raise UbjsonError(f"byte {start}: a text is not a number") from None

    def column(self, records: int, name: str) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Join the arrays of numbers that the objects of an array have under one key.

        Parameters
        ----------
        records
            Position of the array of objects.
        name
            The key, which every object must have.

        Returns
        -------
        values
            The numbers of all objects, one after another.
        counts
            How many of them each object has.
        """
        start = int(self.start[records])
        if self.kind[records] != _ARRAY or self.element[records]:
            raise UbjsonError(f"byte {start}: not an array of objects")
        inside = self.inside(records)
        if len(inside) == 0:
            raise UbjsonError(f"byte {start}: an array of objects has none")
        named = np.flatnonzero(self.key == self.keys.get(name, -2))
        named = named[self.parent[self.parent[named]] == records]
        counts, markers = self.counts[named], self.element[named]
        alike = np.array_equal(self.parent[named], inside) and (markers == markers[0]).all()
        if not alike or markers[0] == 0:
            raise UbjsonError(
                f"byte {start}: an object has no numbers of the right type at {name!r}"
            )
        dtype = _TYPES[int(markers[0])]
        starts = self.start[named].tolist()
        ends = (self.start[named] + counts * dtype.itemsize).tolist()
        joined = b"".join([self.data[a:b] for a, b in zip(starts, ends, strict=True)])
        return np.frombuffer(joined, dtype).astype(dtype.newbyteorder("=")), counts


class _Open:
    """A container that is being read."""

    __slots__ = ("at", "implied", "is_object", "left")

    def __init__(self, at: int, *, is_object: bool, left: int, implied: int) -> None:
        self.at = at
        self.is_object = is_object
        self.left = left  # entries still to come; negative where an end marker follows the last
        self.implied = implied  # marker of every entry; 0 where each has its own


class _Scanner:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.rows: list[list[int]] = []  # kind, element, key, start, count, parent
        self.keys: dict[str, int] = {}
        self.open: list[_Open] = []

    def run(self) -> None:
        self.value(-1, -1, self.marker())
        while self.open:
            inside = self.open[-1]
            if self.ended(inside):
                self.open.pop()
                continue
            key = self.name() if inside.is_object else -1
            marker = inside.implied or self.marker()
            self.rows[inside.at][4] += 1
            inside.left -= 1
            self.value(key, inside.at, marker)
        if self.at < len(self.data):
            raise self.error(f"{len(self.data) - self.at} bytes follow the value")

    def error(self, what: str) -> UbjsonError:
        return UbjsonError(f"byte {self.at}: {what}")

    def need(self, n_bytes: int) -> None:
        if n_bytes > len(self.data) - self.at:
            raise self.error(f"{n_bytes} bytes are announced, {len(self.data) - self.at} are left")

    def marker(self) -> int:
        while True:
            self.need(1)
            marker = self.data[self.at]
            self.at += 1
            if marker != _NO_OP:
                return marker

    def size(self) -> int:
        """Read how long something is."""
        marker = self.marker()
        if marker not in _WHOLE:
            self.at -= 1
            raise self.error(f"a length cannot be of type {chr(marker)!r}")
        self.need(_SIZES[marker])
        (length,) = _UNPACK[marker](self.data, self.at)
        if length < 0:
            raise self.error(f"a length of {length}")
        self.at += _SIZES[marker]
        return int(length)

    def name(self) -> int:
        length = self.size()
        self.need(length)
        try:
            name = self.data[self.at : self.at + length].decode()
        except UnicodeDecodeError:
            raise self.error("a text is not UTF-8") from None
        self.at += length
        return self.keys.setdefault(name, len(self.keys))

    def ended(self, inside: _Open) -> bool:
        if inside.left >= 0:
            return inside.left == 0
        self.need(1)
        while self.data[self.at] == _NO_OP:
            self.at += 1
            self.need(1)
        if self.data[self.at] != (_OBJECT_END if inside.is_object else _ARRAY_END):
            return False
        self.at += 1
        return True

    def value(self, key: int, parent: int, marker: int) -> None:
        if marker in (_ARRAY, _OBJECT):
            self.container(key, parent, marker)
            return
        length = 1
        if marker in (_STRING, _NUMERAL):
            length = self.size()
            n_bytes = length
        elif marker in _CONSTANTS:
            n_bytes = 0
        elif marker in _SIZES or marker == _CHARACTER:
            n_bytes = _SIZES.get(marker, 1)
        else:
            self.at -= 1
            raise self.error(f"no value starts with {chr(marker)!r}")
        self.need(n_bytes)
        self.rows.append([marker, 0, key, self.at, length, parent])
        self.at += n_bytes

    def container(self, key: int, parent: int, marker: int) -> None:
        if len(self.open) == _DEEPEST:
            raise self.error(f"values nest deeper than {_DEEPEST}")
        implied, left = 0, -1
        self.need(1)
        if self.data[self.at] == _TYPE:
            self.need(2)
            implied = self.data[self.at + 1]
            self.at += 2
            if implied in _CONSTANTS or implied == _NO_OP:
                raise self.error("elements without bytes have no common type")
            self.need(1)
            if self.data[self.at] != _COUNT:
                raise self.error("a common type is not followed by a count")
        if self.data[self.at] == _COUNT:
            self.at += 1
            left = self.size()
        at = len(self.rows)
        if marker == _ARRAY and implied in _SIZES:
            self.need(left * _SIZES[implied])
            self.rows.append([marker, implied, key, self.at, left, parent])
            self.at += left * _SIZES[implied]
        else:
            self.rows.append([marker, 0, key, self.at, 0, parent])
            is_object = marker == _OBJECT
            self.open.append(_Open(at, is_object=is_object, left=left, implied=implied))
