"""FlatBuffers, the binary form that CatBoost writes its models in.

Fields of a table are numbered as in the library's published schema. Fields with default values may
be left out of the file.
"""

import struct
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

__all__ = ["FlatTable", "root"]

_WORD = struct.Struct("<I").unpack_from
_OFFSET = struct.Struct("<i").unpack_from
_SHORT = struct.Struct("<H").unpack_from


@dataclass(frozen=True, slots=True)
class FlatTable:
    """A table at some place within the bytes; fields are read on demand."""

    data: bytes
    at: int

    def _place(self, field: int) -> int | None:
        fields = self.at - _OFFSET(self.data, self.at)[0]
        slot = 4 + 2 * field
        if slot >= _SHORT(self.data, fields)[0]:
            return None
        offset = _SHORT(self.data, fields + slot)[0]
        return self.at + offset if offset else None

    def _target(self, field: int) -> int | None:
        place = self._place(field)
        return None if place is None else place + int(_WORD(self.data, place)[0])

    def number(self, field: int, dtype: DTypeLike, *, default: int) -> int:
        """Return a whole number."""
        place = self._place(field)
        return default if place is None else int(np.frombuffer(self.data, dtype, 1, place)[0])

    def table(self, field: int) -> "FlatTable | None":
        """Return a table inside this one; None if the field was not written."""
        target = self._target(field)
        return None if target is None else FlatTable(self.data, target)

    def vector(self, field: int, dtype: DTypeLike) -> NDArray[Any]:
        """Return a vector of numbers; empty if the field was not written."""
        start = self._target(field)
        if start is None:
            return np.empty(0, dtype)
        return np.frombuffer(self.data, dtype, _WORD(self.data, start)[0], start + 4)

    def tables(self, field: int) -> list["FlatTable"]:
        """Return a vector of tables; empty if the field was not written."""
        start = self._target(field)
        if start is None:
            return []
        offsets = self.vector(field, "<u4").tolist()
        return [FlatTable(self.data, start + 4 + 4 * k + at) for k, at in enumerate(offsets)]

    def text(self, field: int) -> str:
        """Return a text; empty if the field was not written."""
        return self.vector(field, "u1").tobytes().decode()


def root(data: bytes) -> FlatTable:
    """Return the outermost table."""
    return FlatTable(data, int(_WORD(data, 0)[0]))
