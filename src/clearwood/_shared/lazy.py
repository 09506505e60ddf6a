"""Packages whose public names are imported when they are first asked for."""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

__all__ = ["on_demand"]


def on_demand(
    package: str, homes: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make a package's ``__getattr__`` and ``__dir__``.

    Listing what there is then costs no more than what is listed: `clearwood models` reads the
    catalogue without scikit-learn, which half of the library rests on and which takes seconds.

    Parameters
    ----------
    package
        Its name, ``__name__``.
    homes
        Names by the module they live in; modules of the package itself under the package's name.

    Returns
    -------
    tuple of two functions

    Examples
    --------
    >>> find, names = on_demand("clearwood", {"clearwood._shared.errors": ["InputError"]})
    >>> find("InputError").__name__, names()
    ('InputError', ['InputError'])
    """
    home = {name: module for module, names in homes.items() for name in names}

    def find(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if home[name] == package:
            return import_module(f"{package}.{name}")
        value = getattr(import_module(home[name]), name)
        setattr(sys.modules[package], name, value)  # so that it is found at once from now on
        return value

    return find, lambda: sorted(home)
