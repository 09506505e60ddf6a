"""An estimator as bytes, and back through the audit."""

import io
import json
import re
import warnings
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from clearwood._shared.errors import Call, InputError, words
from clearwood.files import damaged, to_array, to_json
from clearwood.models.files.audit import FileAudit, Refused, audit
from clearwood.models.files.integrity import check_structure
from clearwood.models.files.old_names import with_current_names

__all__ = ["examine", "pack_estimator", "unpack_estimator"]

_SCHEMA = "schema.json"
_ARRAY = re.compile(r"[0-9]{1,9}\.npy")
_NUMPY_MAGIC = b"\x93NUMPY"
_NO_DATE = (1980, 1, 1, 0, 0, 0)


def pack_estimator(estimator: Any) -> bytes:
    """Store an estimator in skops' format, in the same bytes for the same estimator.

    skops numbers nodes and arrays by their address in memory; here they are renumbered in the
    order in which they are met.

    Raises
    ------
    InputError
        Where the estimator holds something skops cannot store.
    """
    from skops.io import dumps

    try:
        raw = dumps(estimator)
    except Exception as error:
        raise InputError(
            f"a {type(estimator).__name__} cannot be saved: {error}",
            parameter="model",
            hint="models are saved without pickle, so what they hold must be values, arrays and "
            "estimators.",
        ) from error
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        tidied = _Tidied(json.loads(archive.read(_SCHEMA)))
        arrays = {new: _without_gaps(archive.read(old)) for old, new in tidied.files.items()}
    return _zipped({_SCHEMA: _dumped(tidied.schema), **arrays})


def _without_gaps(data: bytes) -> bytes:
    """Blank the unused bytes between the fields of a record: whatever was in memory there."""
    if not data.startswith(_NUMPY_MAGIC):
        return data
    array = to_array(data)
    if array.dtype.names is None:
        return data
    clean = np.zeros(array.shape, array.dtype)  # zeros_like would not clear the gaps
    for name in array.dtype.names:
        clean[name] = array[name]
    # np.save copies field by field, which leaves the gaps to chance again
    return data[: len(data) - array.nbytes] + clean.tobytes()


def _dumped(schema: Any) -> bytes:
    # Keys stay in order: a mapping's keys and their types are matched by position.
    return json.dumps(schema, separators=(",", ":")).encode("utf-8")


class _Tidied:
    """The description with nodes and arrays numbered in order of appearance.

    An object that is held twice is described twice, each time with other addresses for the
    temporary parts; the second description is replaced by the first.
    """

    def __init__(self, schema: dict[str, Any]) -> None:
        self.nodes: dict[int, dict[str, Any]] = {}
        self.files: dict[str, str] = {}
        self.schema = self.tidied(schema)

    def tidied(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self.tidied(item) for item in value]
        if not isinstance(value, dict):
            return value
        # A mapping of the user's may have a key of this name; its value is a node, not a text.
        if not isinstance(value.get("__loader__"), str):
            return {key: self.tidied(item) for key, item in value.items()}
        number = value.get("__id__")
        # Values need no identity, and which of them share one is an accident of the interpreter.
        if number is None or value["__loader__"] in ("JsonNode", "TypeNode", "FunctionNode"):
            return self.fields(value)
        if number not in self.nodes:
            node = self.nodes[number] = {"__id__": len(self.nodes) + 1}
            node.update(self.fields(value))
        return self.nodes[number]

    def fields(self, node: dict[str, Any]) -> dict[str, Any]:
        fields = {key: self.tidied(item) for key, item in node.items() if key != "__id__"}
        if "file" in fields:
            old = fields["file"]
            suffix = old.rpartition(".")[2]
            fields["file"] = self.files.setdefault(old, f"{len(self.files) + 1}.{suffix}")
        return fields


def examine(data: bytes, trusted: Iterable[str] = ()) -> FileAudit:
    """List what a stored estimator is made of, without building it."""
    entries = _entries(_with_current_names(data))
    schema = to_json(entries.pop(_SCHEMA), member="the model's description")
    for name, array in entries.items():
        if not array.startswith(_NUMPY_MAGIC):
            raise _not_packed(f"{name!r} is not an array")
    return audit(schema, entries, trusted)


def _with_current_names(data: bytes) -> bytes:
    """Return a stored estimator with the names that its classes have now."""
    entries = _entries(data)
    schema = with_current_names(entries[_SCHEMA])
    return data if schema is entries[_SCHEMA] else _zipped({**entries, _SCHEMA: schema})


def _zipped(entries: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, data in entries.items():
            archive.writestr(zipfile.ZipInfo(name, _NO_DATE), data)
    return buffer.getvalue()


def _entries(data: bytes) -> dict[str, bytes]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            infos = archive.infolist()
            names = [info.filename for info in infos]
            if _SCHEMA not in names or len(set(names)) != len(names):
                raise _not_packed("its description is missing")
            for info in infos:
                # Packed once, by the container: its limits on size hold for what is in here.
                if info.compress_type != zipfile.ZIP_STORED or info.file_size > len(data):
                    raise _not_packed(f"{info.filename!r} is packed again")
                if info.filename != _SCHEMA and not _ARRAY.fullmatch(info.filename):
                    raise _not_packed(f"it has a part named {info.filename!r}")
            return {name: archive.read(name) for name in names}
    except (zipfile.BadZipFile, NotImplementedError, OSError, EOFError) as error:
        raise _not_packed(str(error)) from None


def _not_packed(what: str) -> InputError:
    return damaged(
        f"the model in the file is not stored as skops stores it: {what}; nothing was run"
    )


def unpack_estimator(
    data: bytes, *, trusted: Iterable[str] = (), versions: Mapping[str, str]
) -> Any:
    """Rebuild an estimator whose every type is trusted.

    Parameters
    ----------
    data
        What `pack_estimator` returned.
    trusted
        Types to let through besides our own list.
    versions
        Of the libraries that wrote it, for the error where they do not fit those installed.

    Raises
    ------
    InputError
        Where a type is not trusted, before anything is imported or run.
    """
    data = _with_current_names(data)
    content = examine(data, trusted)
    if content.refused:
        raise _refusal(content.refused)
    from skops.io import loads

    try:
        with warnings.catch_warnings():
            # Versions are compared by the caller, for all libraries and in one message.
            warnings.simplefilter("ignore")
            estimator = loads(data, trusted=sorted(content.names))
            check_structure(estimator)
    except InputError:
        raise
    except Exception as error:
        written_by = ", ".join(f"{name} {version}" for name, version in versions.items())
        raise InputError(
            f"the model in the file cannot be rebuilt here: {error}",
            parameter="path",
            hint=f"it was saved with {written_by}; install these, or fit it again.",
        ) from error
    return estimator


def _refusal(refused: Sequence[Refused]) -> InputError:
    names = list(dict.fromkeys(entry.name for entry in refused))
    return InputError(
        f"the file names {', '.join(map(str, refused))}, which Clearwood does not trust; nothing "
        "was run",
        parameter="trusted",
        value=names,
        hint=words(
            "if you know who wrote the file and what these do: ",
            Call("load", ("path",), {"trusted": names}),
            ".",
        ),
    )
