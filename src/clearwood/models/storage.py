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
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from clearwood import files
from clearwood._shared.errors import InputError, Option, Text, bad_value, words
from clearwood._shared.messages import tell
from clearwood.models import catalogue
from clearwood.models.facts import check_fitted
from clearwood.models.files.audit import Refused
from clearwood.models.files.model_file import ModelFile
from clearwood.models.files.native import Native, restore, take_out
from clearwood.models.files.nested import inner_archives, nested
from clearwood.models.files.packing import examine, pack_estimator, unpack_estimator
from clearwood.models.learner_parts import learner_members, read_learner
from clearwood.models.learners import Learner

__all__ = ["inspect", "load", "save"]

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
