"""One file with named members, a manifest and a checksum for each.

The container is a zip archive, so that any tool can list it. It is independent of models: a
`Manifest` describes its content, and the members are bytes. Nothing is ever extracted
to disk, so a member's name can lead nowhere.
"""

import hashlib
import os
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from io import BufferedReader, BytesIO
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

import clearwood
from clearwood._shared.errors import InputError, Text
from clearwood.files.arrays import from_json, to_array, to_json
from clearwood.files.atomic import atomic_write

__all__ = ["FORMAT_VERSION", "Archive", "Manifest", "Member", "read", "write"]

FORMAT = "clearwood"
FORMAT_VERSION = 1
MANIFEST = "manifest.json"

# A file may unpack to a gigabyte, or to 20 times its own size if that is more: models compress by
# 2 to 10, archives meant to fill the memory by a thousand.
_ALWAYS_ALLOWED = 1 << 30
_EXPANSION = 20
_MANIFEST_LIMIT = 64 << 20
_MEMBER_LIMIT = 100_000

_HOW_TO_SAVE = "cw.save in Python and `clearwood fit` on the command line write model files."

# The earliest date a zip can hold: the same content gives the same bytes whenever it is written.
_NO_DATE = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class Member:
    """Size and checksum of one member."""

    size: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """The description that a container holds of itself.

    Parameters
    ----------
    kind
        What it holds: "learner", "estimator", ...
    libraries
        Versions of the libraries that wrote the content.
    clearwood
        The version of Clearwood that wrote it.
    members
        Size and checksum of each member, by name; filled in by `write`.
    """

    kind: str
    libraries: Mapping[str, str] = field(default_factory=dict)
    clearwood: str = clearwood.__version__
    members: Mapping[str, Member] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the manifest as plain JSON values."""
        return {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "kind": self.kind,
            "clearwood": self.clearwood,
            "libraries": dict(self.libraries),
            "members": {
                name: {"size": member.size, "sha256": member.sha256}
                for name, member in self.members.items()
            },
        }


@dataclass(frozen=True)
class Archive:
    """A container that was read and is unchanged.

    Parameters
    ----------
    manifest
        Its description of itself.
    members
        The bytes of each member.
    size
        Of the file, in bytes.
    sha256
        Of the file.
    """

    manifest: Manifest
    members: Mapping[str, bytes]
    size: int
    sha256: str

    def __repr__(self) -> str:
        return f"Archive({self.manifest.kind!r}, {len(self.members)} members, {self.size:,} bytes)"

    def json(self, name: str) -> Any:
        """Read a member as JSON."""
        return to_json(self.raw(name), member=f"member {name!r}")

    def array(self, name: str) -> NDArray[Any]:
        """Read a member as an array."""
        return to_array(self.raw(name), member=f"member {name!r}")

    def raw(self, name: str) -> bytes:
        """Return the bytes of a member."""
        try:
            return self.members[name]
        except KeyError:
            raise InputError(
                f"the file has no member {name!r}; nothing was run", parameter="path"
            ) from None


def write(
    path: str | os.PathLike[str],
    manifest: Manifest,
    members: Mapping[str, bytes],
    *,
    force: bool = False,
) -> None:
    """Write a container, whole or not at all.

    Equal content gives equal bytes.

    Parameters
    ----------
    path
        Where to; an existing file is replaced only with ``force``.
    manifest
        Kind and versions; sizes and checksums are computed here.
    members
        Bytes by name.
    force
        Replace a file that is there.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "notes.cw"
    >>> write(path, Manifest("notes"), {"notes.json": from_json(["hello"])})
    >>> archive = read(path)
    >>> archive.manifest.kind, archive.json("notes.json")
    ('notes', ['hello'])
    """
    if MANIFEST in members:
        raise ValueError(f"{MANIFEST!r} is written by the container itself")
    listed = {name: Member(len(data), _sha256(data)) for name, data in sorted(members.items())}
    complete = replace(manifest, members=listed)
    whole = BytesIO()  # a device or pipe cannot go back to fill in sizes, as zip files want
    with zipfile.ZipFile(whole, "w") as archive:
        # The manifest first and stored as it is, so that `head` on the file shows it.
        _add(archive, MANIFEST, from_json(complete.to_json()), zipfile.ZIP_STORED)
        for name in listed:
            _add(archive, name, members[name], zipfile.ZIP_DEFLATED)
    with atomic_write(path, force=force) as file:
        file.write(whole.getbuffer())


def _add(archive: zipfile.ZipFile, name: str, data: bytes, method: int) -> None:
    info = zipfile.ZipInfo(name, _NO_DATE)
    info.create_system = 3  # the same on every system
    info.external_attr = 0o644 << 16
    archive.writestr(info, data, compress_type=method, compresslevel=6)


def read(path: str | os.PathLike[str]) -> Archive:
    """Read a container and check that it is complete and unchanged.

    In this order: it is a zip archive; it is one of Clearwood's, of a version known here; nothing
    follows its end; the members are those the manifest lists, and not far too large; each has
    the size and checksum listed.

    Raises
    ------
    InputError
        At the first check that fails, saying which.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            return _read(path, file)
    except FileNotFoundError:
        raise _unusable(path, f"there is no file {str(path)!r}", "check the name.") from None
    except IsADirectoryError:
        raise _unusable(path, f"{str(path)!r} is a folder", "name a file.") from None
    except OSError as error:
        message = f"cannot read {str(path)!r}: {error.strerror or error}"
        raise _unusable(path, message) from error


def _read(path: Path, file: BufferedReader) -> Archive:
    size = os.fstat(file.fileno()).st_size
    if file.read(4) != b"PK\x03\x04":
        what = "empty" if size == 0 else "not a Clearwood file"
        raise _unusable(path, f"{str(path)!r} is {what}", _HOW_TO_SAVE)
    try:
        with zipfile.ZipFile(file) as archive:
            manifest = _read_manifest(path, archive)
            _check_end(path, file, size)
            _check_listing(path, archive, manifest, size)
            members = {
                name: _read_member(path, archive, name, expected)
                for name, expected in manifest.members.items()
            }
    except (zipfile.BadZipFile, NotImplementedError, UnicodeDecodeError) as error:
        raise _damaged(path, f"it is not a complete zip archive ({error})") from None
    file.seek(0)
    digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Archive(manifest, members, size, digest)


def _read_manifest(path: Path, archive: zipfile.ZipFile) -> Manifest:
    foreign = _unusable(
        path, f"{str(path)!r} is a zip archive, but not one of Clearwood's", _HOW_TO_SAVE
    )
    try:
        info = archive.getinfo(MANIFEST)
    except KeyError:
        raise foreign from None
    if info.file_size > _MANIFEST_LIMIT:
        raise _damaged(path, "its manifest is far too large")
    raw = to_json(_bytes_of(path, archive, info), member=f"the manifest of {str(path)!r}")
    if not isinstance(raw, dict) or raw.get("format") != FORMAT:
        raise foreign
    version = raw.get("format_version")
    if isinstance(version, int) and version > FORMAT_VERSION:
        raise _unusable(
            path,
            f"{str(path)!r} has format version {version}, written by Clearwood "
            f"{raw.get('clearwood')}; Clearwood {clearwood.__version__} reads up to "
            f"{FORMAT_VERSION}",
            "upgrade: pip install --upgrade clearwood",
        )
    unusable = _damaged(path, "its manifest has entries missing or of the wrong type")
    if version != FORMAT_VERSION:
        raise unusable
    try:
        members = {
            str(name): Member(int(member["size"]), str(member["sha256"]))
            for name, member in raw["members"].items()
        }
        libraries = {str(name): str(version) for name, version in raw["libraries"].items()}
        return Manifest(str(raw["kind"]), libraries, str(raw["clearwood"]), members)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise unusable from None


def _check_end(path: Path, file: BufferedReader, size: int) -> None:
    """Refuse bytes after the archive, which zip readers ignore."""
    file.seek(size - zipfile.sizeEndCentDir)  # type: ignore[attr-defined]
    if not file.read().startswith(zipfile.stringEndArchive):  # type: ignore[attr-defined]
        raise _damaged(path, "there is something after its end")


def _check_listing(path: Path, archive: zipfile.ZipFile, manifest: Manifest, size: int) -> None:
    """Compare what the archive declares with the manifest, before anything is unpacked."""
    infos = [info for info in archive.infolist() if info.filename != MANIFEST]
    names = [info.filename for info in infos]
    if len(archive.infolist()) != len(names) + 1 or len(set(names)) != len(names):
        raise _damaged(path, "it has two members of one name")
    if len(names) > _MEMBER_LIMIT:
        raise _damaged(path, f"it has {len(names):,} members")
    for name in sorted(set(manifest.members).symmetric_difference(names)):
        listed = name in manifest.members
        raise _damaged(path, f"member {name!r} is {'missing' if listed else 'not listed'}")
    total = sum(info.file_size for info in infos)
    if total > max(_ALWAYS_ALLOWED, _EXPANSION * size):
        raise _damaged(path, f"{size:,} bytes would unpack to {total:,}")
    for info in infos:
        if info.file_size != manifest.members[info.filename].size:
            raise _damaged(path, f"member {info.filename!r} has another size than listed")


def _read_member(path: Path, archive: zipfile.ZipFile, name: str, expected: Member) -> bytes:
    data = _bytes_of(path, archive, archive.getinfo(name))
    if len(data) != expected.size or _sha256(data) != expected.sha256:
        raise _damaged(path, f"member {name!r} does not match its checksum")
    return data


def _bytes_of(path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise _damaged(path, f"member {info.filename!r} is packed in an unknown way")
    if info.flag_bits & 0x1:
        raise _damaged(path, f"member {info.filename!r} is encrypted")
    try:
        # zipfile stops at the declared size, so a member cannot unpack to more than was checked.
        return archive.read(info)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
        raise _damaged(path, f"member {info.filename!r} cannot be unpacked ({error})") from None


def _damaged(path: Path, what: str) -> InputError:
    return _unusable(
        path,
        f"{str(path)!r} is truncated or was altered: {what}; nothing was run",
        "fetch or save the file again.",
    )


def _unusable(path: Path, message: str, hint: Text | None = None) -> InputError:
    return InputError(message, parameter="path", value=str(path), hint=hint)


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
