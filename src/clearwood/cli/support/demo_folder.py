"""The folder of the demo, which replaces only files that the demo wrote."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from clearwood._shared.errors import InputError
from clearwood.cli.support.console import written
from clearwood.cli.support.files import require_folder, write_json

__all__ = ["DemoFolder"]

MANIFEST = "made-by-clearwood-demo.json"


class DemoFolder:
    """A folder with a list of the files that the demo wrote, each with its checksum.

    A file that is not on the list, or was changed since, is the user's: it is replaced only with
    ``--force``.

    Parameters
    ----------
    path
        The folder; it is made when the first file is written.
    names
        The files the demo will write.
    force
        Replace them in any case.
    """

    def __init__(self, path: Path, names: Iterable[str], *, force: bool = False) -> None:
        self.path = path
        self._checksums = _read_manifest(path / MANIFEST)
        if path.exists() and not path.is_dir():
            raise InputError(f"'{path}' is a file", hint="choose a folder with -o.")
        require_folder(path.parent)
        for name in names:
            if not force and self._is_foreign(path / name):
                raise InputError(
                    f"'{path / name}' was not written by the demo, or was changed since",
                    hint="choose another folder with -o, or replace it with --force.",
                )

    def write(self, writers: Mapping[str, Callable[[Path], None]]) -> None:
        """Write files, each with its own function, and record them one by one."""
        self.path.mkdir(exist_ok=True)
        for name, write in writers.items():
            file = self.path / name
            write(file)
            if file not in written:
                written.append(file)
            self._checksums[name] = _checksum(file)
            write_json(self.path / MANIFEST, {"files": self._checksums}, force=True)

    def _is_foreign(self, file: Path) -> bool:
        return file.exists() and self._checksums.get(file.name) != _checksum(file)


def _read_manifest(path: Path) -> dict[str, Any]:
    """Return the recorded checksums; none if the list cannot be read."""
    try:
        files = json.loads(path.read_text(encoding="utf-8"))["files"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return files if isinstance(files, dict) else {}


def _checksum(path: Path) -> str | None:
    if not path.is_file():
        return None
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
