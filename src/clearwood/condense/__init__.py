"""One tree that predicts exactly what an ensemble predicts: compose, reduce, certify, export.

The package is called as the function it is named after: ``clearwood.condense(model)``.
"""

import sys
from types import ModuleType
from typing import Any

from clearwood.condense._certificate import Certificate
from clearwood.condense._condense import condense
from clearwood.condense._condensed import Condensed
from clearwood.condense._diagram import Diagram

__all__ = ["Certificate", "Condensed", "Diagram", "condense"]


class _Callable(ModuleType):
    """A package that stands beside its verb: ``cw.condense(model)`` and ``cw.condense.Diagram``."""

    def __call__(self, *args: Any, **options: Any) -> Condensed:
        return condense(*args, **options)


sys.modules[__name__].__class__ = _Callable
