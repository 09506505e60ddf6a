"""The folder the demo writes to: it replaces only what it made itself."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from clearwood._shared.errors import InputError
from clearwood.cli.support.output import require_folder, write_json

__all__ = ["DemoFolder"]

MANIFEST = "made-by-clearwood-demo.json"


class DemoFolder:
    """A folder with a list of the files the demo made in it, each with its checksum.

    A file that is not on the list, or no longer as the demo left it, is somebody's work: it is
    not replaced unless the user says so.

    Parameters
    ----------
    path
        The folder; made when the first file is written.
    names
        The files the demo will write.
    force
        Replace them whoever made them.
    """

    def __init__(self, path: Path, names: Iterable[str], *, force: bool = False) -> None:
        self.path = path
        self._made = _read_manifest(path / MANIFEST)
        if path.exists() and not path.is_dir():
            raise InputError(f"'{path}' is a file", hint="choose a folder with -o.")
        require_folder(path.parent)
        for name in names:
            if not force and self._is_foreign(path / name):
                raise InputError(
                    f"'{path / name}' was not made by the demo, or was changed since",
                    hint="choose another folder with -o, or replace it with --force.",
                )

    def __truediv__(self, name: str) -> Path:
        return self.path / name

    def record(self, name: str) -> None:
        """Note that a file is the demo's, as it is now."""
        self._made[name] = _checksum(self.path / name)
        write_json(self.path / MANIFEST, {"files": self._made}, force=True)

    def make(self) -> None:
        """Make the folder if it is not there."""
        self.path.mkdir(exist_ok=True)

    def _is_foreign(self, file: Path) -> bool:
        return file.exists() and self._made.get(file.name) != _checksum(file)


def _read_manifest(path: Path) -> dict[str, Any]:
    """Give the recorded checksums; a list that cannot be read vouches for nothing."""
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
