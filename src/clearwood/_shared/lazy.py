"""Packages whose public names are imported when they are first used."""

import ast
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

__all__ = ["lazy"]


def lazy(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make a package's ``__getattr__`` and ``__dir__`` from what it imports for type checkers.

    The package lists its names once, as ordinary imports under ``if TYPE_CHECKING:``. Type
    checkers and editors read them there, and so does this function; each module is imported when
    one of its names is first used. `clearwood models` thus lists the catalogue without importing
    scikit-learn. A name that is imported as itself (``from clearwood import plot as plot``) can be
    used and is not listed. For a name that another package of this one lists, the error says where
    it is.

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
    listed, unlisted = _homes(Path(file).read_text(encoding="utf-8"))
    homes = listed | unlisted

    def find(name: str) -> Any:
        if name not in homes:
            message = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(message + _where(package, Path(file).parent, name))
        if homes[name] == package:
            return import_module(f"{package}.{name}")
        value = getattr(import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)  # the next access does not come here
        return value

    return find, lambda: sorted(listed)


def _homes(source: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the module of each name imported for type checkers: listed names, and others."""
    blocks = (
        node
        for node in ast.parse(source).body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )
    imports = (line for block in blocks for line in block.body if isinstance(line, ast.ImportFrom))
    names = [(alias, line.module or "") for line in imports for alias in line.names]
    listed = {alias.name: module for alias, module in names if alias.asname is None}
    return listed, {alias.name: module for alias, module in names if alias.asname is not None}


def _where(package: str, folder: Path, name: str) -> str:
    """Return a hint that names the packages of a folder whose ``__all__`` has a name."""
    if name.startswith("_"):
        return ""
    homes = [
        f"{package}.{path.parent.name}"
        for path in sorted(folder.glob("[!_]*/__init__.py"))
        if name in _public(path)
    ]
    ways = " or ".join(f"from {home} import {name}" for home in homes)
    return f". Hint: {ways}" if ways else ""


@cache
def _public(file: Path) -> list[str]:
    """Return what a module lists; read once, as some libraries try every name they meet."""
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(ast.literal_eval(node.value))
    return []
