"""What forests and condensed diagrams share: questions of nodes as frozen arrays."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["SPLIT_ARRAYS", "NodeArrays"]

#: The arrays that hold the question of a node, and their types.
SPLIT_ARRAYS: Mapping[str, type] = {
    "feature": np.int32,
    "threshold": np.float64,
    "default_left": np.bool_,
    "zero_missing": np.bool_,
    "category_start": np.int32,
    "category_size": np.int32,
    "unseen_left": np.bool_,
}


class NodeArrays:
    """A frozen dataclass whose arrays nobody can write to."""

    category_start: NDArray[np.int32]
    category_size: NDArray[np.int32]
    category_words: NDArray[np.uint32]

    def _freeze(self, arrays: Mapping[str, type | None]) -> None:
        for name, dtype in arrays.items():
            given = getattr(self, name)
            array = np.ascontiguousarray(given, dtype=dtype)
            if array is given and array.flags.writeable:
                array = array.copy()  # the caller may go on writing to its own array
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    @property
    def is_categorical(self) -> NDArray[np.bool_]:
        """Which nodes split on categories."""
        return np.asarray(self.category_start >= 0)

    def category_set(self, node: int) -> tuple[int, ...]:
        """Return the categories that go left at a categorical node."""
        start, size = self.category_start[node], self.category_size[node]
        words = self.category_words[start : start + size] if start >= 0 else np.empty(0, np.uint32)
        bits = np.unpackbits(np.ascontiguousarray(words, "<u4").view(np.uint8), bitorder="little")
        return tuple(int(category) for category in np.flatnonzero(bits))

    def equals(self, other: "NodeArrays") -> bool:
        """Whether two have the same arrays and settings (encoders are not compared)."""
        for name, mine in self._fields().items():
            theirs = getattr(other, name)
            if isinstance(mine, np.ndarray):
                if not np.array_equal(mine, theirs, equal_nan=mine.dtype.kind == "f"):
                    return False
            elif name != "encoder" and mine != theirs:
                return False
        return True

    def _fields(self) -> dict[str, Any]:
        return {item.name: getattr(self, item.name) for item in fields(self)}  # type: ignore[arg-type]

    def __reduce__(self) -> tuple[Any, ...]:
        # a copy, or one sent to a worker, is frozen and checked again; cached values stay behind
        return _made, (type(self), self._fields())


def _made(kind: type[NodeArrays], held: dict[str, Any]) -> NodeArrays:
    return kind(**held)
