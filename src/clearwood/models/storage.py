"""Model files: saving, loading and inspecting.

What is ours (the learner, its encoding, the table's columns) is stored as JSON and plain arrays;
the estimator of the underlying library through skops or in the library's own format. Nothing is
pickled, and nothing in a file is run unless every type it names is on the list in
`clearwood.models.files.trusted`.
"""

import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from clearwood import files
from clearwood._shared.errors import InputError, Option, Text, bad_value, words
from clearwood._shared.messages import tell
from clearwood.files import Archive, damaged, from_array, from_json
from clearwood.models import catalogue
from clearwood.models.facts import check_fitted
from clearwood.models.files.audit import Refused
from clearwood.models.files.model_file import ModelFile
from clearwood.models.files.native import Native, restore, take_out
from clearwood.models.files.packing import examine, pack_estimator, unpack_estimator
from clearwood.models.learners import Learner
from clearwood.models.selection.result import Selection
from clearwood.table import Encoder, Schema, Task

__all__ = ["inner_archives", "inspect", "learner_members", "load", "nested", "read_learner", "save"]


# Files of models that are made of other models: each of those keeps its own members.


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


# What a learner is besides its estimator, as JSON and plain arrays.


_LEARNER = "learner.json"
_ENCODER = "encoder.json"
_ARRAYS = "encoder/"
_CLASSES = "classes.npy"


def learner_members(learner: Learner) -> dict[str, bytes]:
    """Return the members of a model file that hold a fitted learner without its estimator."""
    params = {key: getattr(learner, key) for key in learner._get_param_names()}  # noqa: SLF001
    columns: dict[str, Any] = {"n_features_in_": learner.n_features_in_}
    if hasattr(learner, "feature_names_in_"):
        columns["feature_names_in_"] = list(learner.feature_names_in_)
    about = {
        "params": _plain(params, "params"),
        "title": learner.entry.title if learner.name in catalogue.names() else "",
        "task": learner.task_.value,
        "schema": learner.schema_.to_json(),
        "training": _plain(learner.training_, "training_"),
        "columns": _plain(columns, "columns"),
    }
    if learner.selection_ is not None:
        about["selection"] = learner.selection_.to_json()
    members = {}
    classes = getattr(learner, "classes_", None)
    if classes is not None:
        if classes.dtype.hasobject:
            about["classes"] = _plain(list(classes), "classes_")
        else:
            members[_CLASSES] = from_array(classes)
    values, arrays = learner.encoder_.state()
    members[_LEARNER] = from_json(about)
    members[_ENCODER] = from_json(_plain(values, "encoder_"))
    return members | {f"{_ARRAYS}{name}.npy": from_array(array) for name, array in arrays.items()}


def read_learner(archive: Archive) -> tuple[Learner, str]:
    """Read a learner without its estimator, and its title in the catalogue when it was saved."""
    try:
        return _read(archive)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, InputError):
            raise
        raise damaged(
            f"the learner in the file cannot be read ({error!r}); nothing was run"
        ) from error


def _read(archive: Archive) -> tuple[Learner, str]:
    about = _restored(archive.json(_LEARNER))
    learner = Learner(**dict(about["params"]))
    learner.task_ = Task(about["task"])
    learner.schema_ = Schema.from_json(about["schema"])
    learner.training_ = dict(about["training"])
    chosen = about.get("selection")
    learner.selection_ = None if chosen is None else Selection.from_json(chosen)
    columns = dict(about["columns"])
    learner.n_features_in_ = columns["n_features_in_"]
    if "feature_names_in_" in columns:
        learner.feature_names_in_ = np.array(columns["feature_names_in_"], dtype=object)
    if _CLASSES in archive.members:
        learner.classes_ = archive.array(_CLASSES)
    elif "classes" in about:
        learner.classes_ = np.array(about["classes"], dtype=object)
    arrays = {
        name.removeprefix(_ARRAYS).removesuffix(".npy"): archive.array(name)
        for name in archive.members
        if name.startswith(_ARRAYS)
    }
    learner.encoder_ = Encoder.from_state(_restored(archive.json(_ENCODER)), arrays)
    return learner, str(about["title"])


def _plain(value: Any, where: str) -> Any:
    """Return JSON values that `_restored` turns back into the same Python values."""
    if isinstance(value, Enum):
        return _plain(value.value, where)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return _plain(value.item(), where)
    if isinstance(value, list):
        return [_plain(item, where) for item in value]
    if isinstance(value, tuple):
        return {"(tuple)": [_plain(item, where) for item in value]}
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {key: _plain(item, f"{where}[{key!r}]") for key, item in value.items()}
    raise InputError(
        f"the learner cannot be saved: {where} holds a {type(value).__name__}",
        parameter="model",
        hint="settings must be numbers, text, true or false, or lists of these.",
    )


def _restored(value: Any) -> Any:
    if isinstance(value, list):
        return [_restored(item) for item in value]
    if isinstance(value, dict):
        if set(value) == {"(tuple)"}:
            return tuple(_restored(item) for item in value["(tuple)"])
        return {key: _restored(item) for key, item in value.items()}
    return value


_ESTIMATOR = "estimator.skops"
_KINDS = ("learner", "estimator")
# Kinds that other rooms write through ``__clearwood_file__``; they are read there, on demand.
_READERS = {"forest": ("clearwood.forest.files", "from_archive")}
# Kinds that are made of other models, whose files they hold; other rooms describe what is around.
_MADE_OF_MODELS = {"fair": "clearwood.fairness.predictors.files"}


def save(
    model: Any,
    path: str | os.PathLike[str],
    *,
    force: bool = False,
    trusted: Iterable[str] = (),
) -> None:
    """Write a fitted model to a file.

    The file appears whole or not at all.

    Parameters
    ----------
    model
        A fitted `Learner`, a fitted estimator or pipeline of scikit-learn, a `FairModel`, or a
        `Forest`.
    path
        Where to, by convention with the extension ``.cw``.
    force
        Replace a file that is there.
    trusted
        Full names of types of your own inside the model; loading will need the same list.

    Raises
    ------
    InputError
        Where the model is not fitted, holds a type that loading would refuse, or the file cannot
        be written.

    Examples
    --------
    >>> import tempfile, clearwood as cw
    >>> data = cw.datasets.load("diabetes")
    >>> model = cw.learner("ridge").fit(data)
    >>> path = tempfile.mkdtemp() + "/model.cw"
    >>> cw.save(model, path)
    >>> bool((cw.load(path).predict(data) == model.predict(data)).all())
    True
    """
    manifest, members = _contents(model, _checked_names(trusted))
    files.write(path, manifest, members, force=force)


def _contents(model: Any, trusted: tuple[str, ...]) -> tuple[files.Manifest, dict[str, bytes]]:
    """Return the manifest and the members of a model's file."""
    if hasattr(model, "__clearwood_file__"):
        manifest, members = model.__clearwood_file__()
        return manifest, members
    check_fitted(model)
    if hasattr(model, "__clearwood_parts__"):
        kind, members, inner = model.__clearwood_parts__()
        return nested(kind, members, [_contents(one, trusted) for one in inner])
    if isinstance(model, Learner):
        kind, estimator, members = "learner", model.estimator_, learner_members(model)
    else:
        if not hasattr(model, "fit"):
            raise InputError(
                f"a {type(model).__name__} cannot be saved: it has no `fit`",
                parameter="model",
                hint="save a learner, or an estimator or pipeline of scikit-learn.",
            )
        kind, estimator, members = "estimator", model, {}
    plain, native = take_out(estimator)
    packed = pack_estimator(plain)
    content = examine(packed, trusted)
    if content.refused:
        raise _would_be_refused(content.refused)
    members |= {_ESTIMATOR: packed, **native}
    libraries = _libraries([*content.types, *(_native_library(name) for name in native)])
    return files.Manifest(kind, libraries), members


def load(path: str | os.PathLike[str], *, trusted: Iterable[str] = ()) -> Any:
    """Read a model that `save` wrote; it predicts the same bits.

    Parameters
    ----------
    path
        The file.
    trusted
        Full names of types to accept besides those that Clearwood trusts, such as
        ``["mypackage.models.MyModel"]``. Their code will run: name only what you know.

    Returns
    -------
    Learner, scikit-learn estimator, FairModel or Forest

    Raises
    ------
    InputError
        Where the file is missing, truncated, altered, not a model file, or holds a type that is
        not trusted. Nothing from the file has run then.

    Warns
    -----
    ClearwoodWarning
        Where libraries have other versions than those that saved the model.
    """
    trusted = _checked_names(trusted)
    archive = files.read(path)
    model = _model_of(archive, path, trusted)
    if archive.manifest.kind not in _READERS:
        _compare_versions(path, archive.manifest.libraries)
    return model


def _model_of(
    archive: files.Archive, path: str | os.PathLike[str], trusted: tuple[str, ...]
) -> Any:
    """Return the model in an archive, after those that it is made of."""
    if archive.manifest.kind in _READERS:
        module, function = _READERS[archive.manifest.kind]
        return getattr(import_module(module), function)(archive)
    if archive.manifest.kind in _MADE_OF_MODELS:
        inner = [_model_of(part, path, trusted) for part in inner_archives(archive)]
        return _made_of_models(archive).from_archive(archive, inner)
    _require_model(archive, path)
    libraries = archive.manifest.libraries
    learner = read_learner(archive)[0] if archive.manifest.kind == "learner" else None
    data = archive.raw(_ESTIMATOR)
    if learner is not None and learner.name not in catalogue.names():
        _require_registered(learner.name, data, trusted)
    packed = unpack_estimator(data, trusted=trusted, versions=libraries)
    estimator = restore(packed, archive.members)
    if learner is None:
        return estimator
    learner.estimator_ = estimator
    return learner


def _require_registered(name: str, data: bytes, trusted: tuple[str, ...]) -> None:
    """Refuse the model of a learner that is not in the catalogue, if it has types of its own."""
    refused = examine(data, trusted).refused
    if refused:
        raise InputError(
            f"the file holds a learner {name!r}, which is not in the catalogue, and names "
            f"{', '.join(map(str, refused))}; nothing was run",
            parameter="path",
            hint="import the module that registers this learner, then load the file again.",
        )


def inspect(path: str | os.PathLike[str]) -> ModelFile:
    """Describe what is in a model file, without running anything from it.

    A file that `load` would refuse because of a type it names can be inspected; one that is
    damaged cannot.

    Parameters
    ----------
    path
        The file.

    Returns
    -------
    ModelFile

    Examples
    --------
    >>> import tempfile, clearwood as cw
    >>> path = tempfile.mkdtemp() + "/model.cw"
    >>> cw.save(cw.learner("tree").fit(cw.datasets.load("wine")), path)
    >>> file = cw.inspect(path)
    >>> file.learner, file.task, file.target, len(file.columns), file.trusted
    ('tree', 'multiclass', 'target', 13, True)
    """
    return _described(files.read(path), path)


def _described(archive: files.Archive, path: str | os.PathLike[str]) -> ModelFile:
    """Describe the model in an archive, after those that it is made of."""
    if archive.manifest.kind in _MADE_OF_MODELS:
        inner = [_described(part, path) for part in inner_archives(archive)]
        description: ModelFile = _made_of_models(archive).described(archive, inner)
        return replace(
            description,
            kind=archive.manifest.kind,
            libraries=archive.manifest.libraries,
            types={name: ok for one in inner for name, ok in one.types.items()},
            members=archive.manifest.members,
            size=archive.size,
            sha256=archive.sha256,
        )
    _require_model(archive, path)
    audit = examine(archive.raw(_ESTIMATOR))
    refused = {entry.name for entry in audit.refused}
    types = {name: name not in refused for name in sorted({*audit.types, *refused})}
    common: dict[str, Any] = {
        "path": str(path),
        "kind": archive.manifest.kind,
        "clearwood": archive.manifest.clearwood,
        "libraries": archive.manifest.libraries,
        "types": types,
        "members": archive.manifest.members,
        "size": archive.size,
        "sha256": archive.sha256,
    }
    if archive.manifest.kind == "estimator":
        return ModelFile(learner=_class_name(audit.root, archive), **common)
    learner, title = read_learner(archive)
    return ModelFile(
        learner=learner.name,
        title=title,
        task=learner.task_.value,
        seed=learner.seed,
        settings=learner.settings or {},
        monotone=learner.monotone_ or {},
        select=learner.select,
        selected=() if learner.select is None else learner.selected_,
        schema=learner.schema_,
        training=learner.training_,
        **common,
    )


def _made_of_models(archive: files.Archive) -> Any:
    """Return the module that reads models of this kind."""
    return import_module(_MADE_OF_MODELS[archive.manifest.kind])


def _require_model(archive: files.Archive, path: str | os.PathLike[str]) -> None:
    if archive.manifest.kind not in _KINDS:
        raise InputError(
            f"{str(path)!r} holds a {archive.manifest.kind!r}, not a model",
            parameter="path",
            value=str(path),
            hint="cw.save in Python and `clearwood fit` on the command line write model files.",
        )


def _checked_names(trusted: Iterable[str]) -> tuple[str, ...]:
    if isinstance(trusted, str):
        raise bad_value(
            "trusted",
            trusted,
            "it must be a list of names",
            hint=words("pass ", Option("trusted", [trusted]), "."),
        )
    return tuple(trusted)


def _would_be_refused(refused: Sequence[Refused]) -> InputError:
    names = [entry.name for entry in refused]
    hint: Text = words(
        "if they are yours, pass ", Option("trusted", names), " when you save and when you load."
    )
    if any(entry.use for entry in refused):
        hint = "save a model without partial functions, bound methods and the like."
    return InputError(
        f"the model holds {', '.join(map(str, refused))}, which loading would refuse; nothing was "
        "written",
        parameter="trusted",
        value=names,
        hint=hint,
    )


def _native_library(member: str) -> str:
    """Name the library of a member such as ``native/000.lightgbm.txt``."""
    return member.split(".")[1]


def _class_name(root: str, archive: files.Archive) -> str:
    """Name the class of a saved estimator, or of a boosted model its library."""
    native = [name for name in archive.members if name.startswith("native/")]
    if root == f"{Native.__module__}.{Native.__qualname__}" and native:
        return _native_library(native[0])
    return root.rpartition(".")[2]


def _libraries(types: Iterable[str]) -> dict[str, str]:
    """Return the versions of the libraries that the types come from."""
    packages = {name.partition(".")[0] for name in types} | {"numpy", "sklearn", "skops"}
    distributions = {_distribution(package) for package in packages - {"builtins", "clearwood"}}
    versions = {name: _version(name) for name in sorted(distributions)}
    return {
        "python": platform.python_version(),
        **{name: number for name, number in versions.items() if number is not None},
    }


def _distribution(package: str) -> str:
    if package == "sklearn":
        return "scikit-learn"
    names = (
        name
        for entry in catalogue.entries()
        if entry.module == package
        for name in entry.distributions
    )
    return next((name for name in names if _version(name) is not None), package)


def _version(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def _compare_versions(path: str | os.PathLike[str], libraries: Mapping[str, str]) -> None:
    """Warn where a library has another release than the one that saved the model."""
    here = {name: _version(name) for name in libraries if name not in ("python", "skops")}
    other = [
        f"{name} {libraries[name]} (here {now})"
        for name, now in here.items()
        if now is not None and _release(now) != _release(libraries[name])
    ]
    if other:
        tell(
            f"{str(path)!r} was saved with {', '.join(other)}; predictions may differ. "
            "Hint: compare a few predictions, or fit it again."
        )


def _release(number: str) -> list[str]:
    """Major and minor version: corrections do not change what a stored model means."""
    return number.split(".")[:2]
