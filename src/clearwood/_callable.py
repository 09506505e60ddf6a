"""Packages that are also the function they are named after."""

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

__all__ = ["make_callable"]


def make_callable(package: str, function: Callable[..., Any]) -> None:
    """Let ``cw.benchmark(...)`` be a call while ``clearwood.benchmark`` stays a package.

    Importing ``clearwood.benchmark`` puts the package, not the function, at that name of
    ``clearwood``; a package that can be called serves both.

    Parameters
    ----------
    package
        Its name, ``__name__``.
    function
        What calling it does.
    """

    class CallablePackage(ModuleType):
        __doc__ = function.__doc__
        __call__ = staticmethod(function)
        __wrapped__ = staticmethod(function)  # so that help and completion show its signature

    sys.modules[package].__class__ = CallablePackage
