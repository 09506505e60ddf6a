"""Universal Binary JSON (draft 12): XGBoost's own binary format, read without going through text.

`scan` goes over the bytes once and notes where each value is; nothing is converted until a
`Document` is asked for it. Arrays of numbers of one type stay as they are in the bytes, so the same
array of all trees becomes one NumPy array in one step.
"""

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Document", "MalformedError", "scan"]

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


class MalformedError(ValueError):
    """Bytes that are not exactly one value of Universal Binary JSON, and where they go wrong."""


@dataclass(frozen=True, eq=False)
class Document:
    """The values of a document in the order of the bytes, containers before what they hold.

    Parameters
    ----------
    data
        The bytes.
    kind
        Marker of each value: ``[``, ``{``, ``S``, ``l``, ...
    element
        Marker of the elements of an array of numbers of one type, which is one value; else 0.
    key
        Position in ``keys`` of the key it stands under; -1 in arrays.
    start
        Where its content starts in the bytes.
    count
        Bytes of a string, elements of an array, entries of an object.
    parent
        The container it is in; -1 for the outermost value.
    keys
        The distinct keys.
    """

    data: bytes
    kind: NDArray[np.uint8]
    element: NDArray[np.uint8]
    key: NDArray[np.int64]
    start: NDArray[np.int64]
    count: NDArray[np.int64]
    parent: NDArray[np.int64]
    keys: dict[str, int]

    def inside(self, at: int) -> NDArray[np.intp]:
        """Positions of the values that a container holds."""
        return np.flatnonzero(self.parent == at)

    def has(self, name: str, *, within: int = 0) -> bool:
        """Whether an object has a key."""
        return bool(((self.parent == within) & (self.key == self.keys.get(name, -2))).any())

    def find(self, *path: str, within: int = 0) -> int:
        """Position of the value at a path of keys that starts in an object."""
        at = within
        for name in path:
            named = np.flatnonzero((self.parent == at) & (self.key == self.keys.get(name, -2)))
            if len(named) != 1:
                number = "no" if len(named) == 0 else "more than one"
                raise MalformedError(f"byte {self.start[at]}: an object has {number} {name!r}")
            at = int(named[0])
        return at

    def value(self, at: int) -> Any:
        """Give a value as Python's own: dict, list, text, number, or a NumPy array of numbers."""
        kind, start, count = int(self.kind[at]), int(self.start[at]), int(self.count[at])
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
                raise MalformedError(f"byte {start}: an object has a key twice")
            return entries
        try:
            text = self.data[start : start + count].decode()
        except UnicodeDecodeError:
            raise MalformedError(f"byte {start}: a string is not UTF-8") from None
        return text if kind != _NUMERAL else self._numeral(text, start)

    def _numeral(self, text: str, start: int) -> float:
        try:
            return float(text)
        except ValueError:
            raise MalformedError(f"byte {start}: {text!r} is not a number") from None

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
        named = np.flatnonzero(self.key == self.keys.get(name, -2))
        named = named[self.parent[self.parent[named]] == records]
        if not np.array_equal(self.parent[named], self.inside(records)):
            raise MalformedError(f"not every object of an array has one {name!r}")
        counts, markers = self.count[named], self.element[named]
        dtype = _TYPES.get(int(markers[0]))
        if dtype is None or (markers != markers[0]).any():
            return self._mixed(named, name), counts
        starts = self.start[named].tolist()
        ends = (self.start[named] + counts * dtype.itemsize).tolist()
        joined = b"".join([self.data[a:b] for a, b in zip(starts, ends, strict=True)])
        return np.frombuffer(joined, dtype).astype(dtype.newbyteorder("=")), counts

    def _mixed(self, arrays: NDArray[np.intp], name: str) -> NDArray[Any]:
        """Join arrays whose elements are not all of one type."""
        parts = [np.asarray(self.value(int(at))) for at in arrays]
        if any(part.ndim != 1 or part.dtype.kind not in "iuf" for part in parts):
            raise MalformedError(f"{name!r} holds something else than numbers")
        return np.concatenate(parts)


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

    def run(self) -> Document:
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
        kind, element, key, start, count, parent = np.array(self.rows, np.int64).T
        return Document(
            data=self.data,
            kind=kind.astype(np.uint8),
            element=element.astype(np.uint8),
            key=key,
            start=start,
            count=count,
            parent=parent,
            keys=self.keys,
        )

    def error(self, what: str) -> MalformedError:
        return MalformedError(f"byte {self.at}: {what}")

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
            raise self.error("a key is not UTF-8") from None
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
            raise self.error(f"no value starts with {bytes([marker])!r}")
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


def scan(data: bytes) -> Document:
    r"""Note where each value of a document is.

    Parameters
    ----------
    data
        Exactly one value.

    Raises
    ------
    MalformedError
        Where the bytes are cut short, go on after the value, or announce what is not there.

    Examples
    --------
    >>> document = scan(b"{i\x01a[$U#i\x03\x07\x08\x09i\x01bSi\x02hi}")
    >>> document.value(0)
    {'a': array([7, 8, 9], dtype=uint8), 'b': 'hi'}
    """
    return _Scanner(data).run()
