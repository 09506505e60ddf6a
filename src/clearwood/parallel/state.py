"""What the work on one part gives: plain values and arrays, which can be stored and merged."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

__all__ = ["State"]


@dataclass(frozen=True, eq=False)
class State:
    """The result of work on some rows.

    Parameters
    ----------
    values
        JSON values.
    arrays
        Arrays of numbers.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)
