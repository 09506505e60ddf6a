"""Warnings that point at the user's own line."""

import sys
import warnings
from pathlib import Path

from clearwood._shared.errors import ClearwoodWarning, Text

__all__ = ["tell"]

_PACKAGE = str(Path(__file__).parent.parent)


def tell(message: Text, *, category: type[ClearwoodWarning] = ClearwoodWarning) -> None:
    """Warn, naming the first line outside the package: reading is called from many depths."""
    level = 2
    frame = sys._getframe(1)  # noqa: SLF001 - the documented way to walk the stack cheaply
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
        level += 1
    warnings.warn(category(message), stacklevel=level)
