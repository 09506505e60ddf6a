"""Packages whose public names are imported when they are first used."""

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

__all__ = ["lazy"]


def lazy(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make a package's ``__getattr__`` and ``__dir__`` from what it imports for type checkers.

    The package lists its names once, as ordinary imports under ``if TYPE_CHECKING:``. Type
    checkers and editors read them there, and so does this function; each module is imported when
    one of its names is first used. `clearwood models` thus lists the catalogue without importing
    scikit-learn.

    Parameters
    ----------
    package
        Its ``__name__``.
    file
        Its ``__file__``.

    Returns
    -------
    tuple of two functions

    Examples
    --------
    >>> import clearwood
    >>> find, names = lazy("clearwood", clearwood.__file__)
    >>> find("InputError").__name__, "InputError" in names()
    ('InputError', True)
    """
    homes = _homes(Path(file).read_text(encoding="utf-8"))

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if homes[name] == package:
            return import_module(f"{package}.{name}")
        value = getattr(import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)  # the next access does not come here
        return value

    return find, lambda: sorted(homes)


def _homes(source: str) -> dict[str, str]:
    """Return the module of each name imported for type checkers."""
    blocks = (
        node
        for node in ast.parse(source).body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )
    imports = (line for block in blocks for line in block.body if isinstance(line, ast.ImportFrom))
    return {alias.name: line.module or "" for line in imports for alias in line.names}
