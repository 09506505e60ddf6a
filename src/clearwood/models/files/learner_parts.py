"""What a learner is besides its estimator, as JSON and plain arrays."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.errors import InputError
from clearwood.files import Archive, from_array, from_json
from clearwood.models import catalogue
from clearwood.models.learners import Learner
from clearwood.table import Encoder, Schema, Task

__all__ = ["LearnerParts"]

_LEARNER = "learner.json"
_ENCODER = "encoder.json"
_ARRAYS = "encoder/"
_CLASSES = "classes.npy"


@dataclass(frozen=True)
class LearnerParts:
    """Parameters, encoding and columns of a fitted learner.

    Parameters
    ----------
    params
        Of the constructor.
    title
        The learner's title in the catalogue when it was saved.
    task, schema, training
        As the fitted attributes of these names.
    columns
        ``n_features_in_`` and, where it was fitted on a frame, ``feature_names_in_``.
    classes
        The labels; None for numbers.
    encoder
        How the table becomes a matrix.
    """

    params: Mapping[str, Any]
    title: str
    task: Task
    schema: Schema
    training: Mapping[str, Any]
    columns: Mapping[str, Any]
    classes: NDArray[Any] | None
    encoder: Encoder

    @classmethod
    def of(cls, learner: Learner) -> Self:
        """Take a fitted learner apart."""
        params = {key: getattr(learner, key) for key in learner._get_param_names()}  # noqa: SLF001
        known = learner.name in catalogue.names()
        columns: dict[str, Any] = {"n_features_in_": learner.n_features_in_}
        if hasattr(learner, "feature_names_in_"):
            columns["feature_names_in_"] = list(learner.feature_names_in_)
        return cls(
            params=params,
            title=learner.entry.title if known else "",
            task=learner.task_,
            schema=learner.schema_,
            training=learner.training_,
            columns=columns,
            classes=getattr(learner, "classes_", None),
            encoder=learner.encoder_,
        )

    def members(self) -> dict[str, bytes]:
        """Return the members of a model file that hold the parts."""
        about = {
            "params": _plain(self.params, "params"),
            "title": self.title,
            "task": self.task.value,
            "schema": self.schema.to_json(),
            "training": _plain(self.training, "training_"),
            "columns": _plain(self.columns, "columns"),
        }
        members = {}
        if self.classes is not None:
            if self.classes.dtype.hasobject:
                about["classes"] = _plain(list(self.classes), "classes_")
            else:
                members[_CLASSES] = from_array(self.classes)
        values, arrays = self.encoder.state()
        members |= {
            _LEARNER: from_json(about),
            _ENCODER: from_json(_plain(values, "encoder_")),
        }
        return members | {
            f"{_ARRAYS}{name}.npy": from_array(array) for name, array in arrays.items()
        }

    @classmethod
    def read(cls, archive: Archive) -> Self:
        """Read the parts from a model file.

        Raises
        ------
        InputError
            Where something is missing or of the wrong type.
        """
        try:
            return cls._read(archive)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(
                f"the learner in the file cannot be read ({error!r}); nothing was run",
                parameter="path",
                hint="fetch or save the file again.",
            ) from error

    @classmethod
    def _read(cls, archive: Archive) -> Self:
        about = _restored(archive.json(_LEARNER))
        classes: NDArray[Any] | None = None
        if _CLASSES in archive.members:
            classes = archive.array(_CLASSES)
        elif "classes" in about:
            classes = np.array(about["classes"], dtype=object)
        arrays = {
            name.removeprefix(_ARRAYS).removesuffix(".npy"): archive.array(name)
            for name in archive.members
            if name.startswith(_ARRAYS)
        }
        return cls(
            params=dict(about["params"]),
            title=str(about["title"]),
            task=Task(about["task"]),
            schema=Schema.from_json(about["schema"]),
            training=dict(about["training"]),
            columns=dict(about["columns"]),
            classes=classes,
            encoder=Encoder.from_state(_restored(archive.json(_ENCODER)), arrays),
        )

    def assembled(self, estimator: Any) -> Learner:
        """Put the learner together again."""
        learner = Learner(**self.params)
        learner.task_ = self.task
        learner.schema_ = self.schema
        learner.n_features_in_ = self.columns["n_features_in_"]
        if "feature_names_in_" in self.columns:
            learner.feature_names_in_ = np.array(self.columns["feature_names_in_"], dtype=object)
        if self.classes is not None:
            learner.classes_ = self.classes
        learner.encoder_ = self.encoder
        learner.estimator_ = estimator
        learner.training_ = dict(self.training)
        return learner


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
