"""Files of models that are made of other models: each of those keeps its own members."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from clearwood import files
from clearwood.files import damaged

__all__ = ["inner_archives", "nested"]

_LISTED = "models.json"
_FOLDER = "models/"


def nested(
    kind: str,
    members: Mapping[str, bytes],
    inner: Sequence[tuple[files.Manifest, Mapping[str, bytes]]],
) -> tuple[files.Manifest, dict[str, bytes]]:
    """Return the contents of a file that holds those of other model files.

    Examples
    --------
    >>> part = (files.Manifest("learner", {"numpy": "2.0"}), {"learner.json": b"{}"})
    >>> manifest, members = nested("fair", {"fair.json": b"{}"}, [part])
    >>> manifest.libraries, sorted(members)
    ({'numpy': '2.0'}, ['fair.json', 'models.json', 'models/0/learner.json'])
    """
    libraries: dict[str, str] = {}
    held = dict(members)
    for place, (manifest, parts) in enumerate(inner):
        libraries |= manifest.libraries
        held |= {f"{_FOLDER}{place}/{name}": data for name, data in parts.items()}
    held[_LISTED] = files.from_json([manifest.kind for manifest, _ in inner])
    return files.Manifest(kind, libraries), held


def inner_archives(archive: files.Archive) -> list[files.Archive]:
    """Return the archives of the models that a model is made of."""
    kinds = archive.json(_LISTED)
    if not isinstance(kinds, list) or not all(isinstance(kind, str) for kind in kinds):
        raise damaged("the list of the models in the file cannot be read; nothing was run")
    archives = []
    for place, kind in enumerate(kinds):
        folder = f"{_FOLDER}{place}/"
        members = {
            name.removeprefix(folder): data
            for name, data in archive.members.items()
            if name.startswith(folder)
        }
        if kind == archive.manifest.kind:
            raise damaged(f"a {kind!r} model holds another; nothing was run")
        archives.append(
            replace(archive, manifest=replace(archive.manifest, kind=kind), members=members)
        )
    return archives
