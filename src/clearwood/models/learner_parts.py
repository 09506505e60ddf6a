"""What a learner is besides its estimator, as JSON and plain arrays."""

from collections.abc import Mapping
from enum import Enum
from typing import Any

import numpy as np

from clearwood._shared.errors import InputError
from clearwood.files import Archive, damaged, from_array, from_json
from clearwood.models import catalogue
from clearwood.models.learners import Learner
from clearwood.models.selection.result import Selection
from clearwood.table import Encoder, Schema, Task

__all__ = ["learner_members", "read_learner"]

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
