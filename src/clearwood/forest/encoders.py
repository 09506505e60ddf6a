"""Encoders: they compute a model's columns from the user's, and are stored without pickle."""

from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from clearwood import files
from clearwood._shared.errors import InputError, did_you_mean
from clearwood.models import pack_estimator, unpack_estimator
from clearwood.table import Encoder, Schema, Table, as_table

__all__ = ["LearnerEncoder", "PipelineEncoder", "from_archive", "members"]


@dataclass(frozen=True, eq=False)
class LearnerEncoder:
    """The encoding of a learner: kinds, levels and columns are matched by name."""

    encoder: Encoder
    schema: Schema

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the model's columns of a table, data frame or array."""
        return self.encoder.transform(as_table(X, schema=self.schema))


@dataclass(frozen=True, eq=False)
class PipelineEncoder:
    """The steps of a pipeline before its last; columns of data frames are matched by name."""

    steps: Any
    columns: tuple[str, ...]
    named: bool

    def transform(self, X: Any) -> Any:
        """Return the model's columns of a table, data frame or array."""
        frame = X.by_header().to_frame() if isinstance(X, Table) else X
        frame = nw.from_native(frame, eager_only=True, pass_through=True)
        if not isinstance(frame, nw.DataFrame):
            return self.steps.transform(X)
        if not self.named:
            return self.steps.transform(frame.to_native())
        absent = [name for name in self.columns if name not in frame.columns]
        if absent:
            raise InputError(
                f"the table lacks {', '.join(map(repr, absent))}, which the model was fitted with",
                parameter=absent[0],
                hint=did_you_mean(absent[0], frame.columns),
            )
        return self.steps.transform(frame.select(self.columns).to_native())


_STATE, _ARRAYS, _STEPS = "encoder.json", "encoder/", "encoder.skops"


def members(encoder: Any) -> dict[str, bytes]:
    """Return the members of a file that store an encoder; nothing is pickled."""
    if encoder is None:
        return {}
    if isinstance(encoder, LearnerEncoder):
        values, arrays = encoder.encoder.state()
        state: dict[str, Any] = {"kind": "learner", "encoder": values}
        state["schema"] = encoder.schema.to_json()
        held = {f"{_ARRAYS}{name}.npy": files.from_array(a) for name, a in arrays.items()}
        return {_STATE: files.from_json(state), **held}
    if isinstance(encoder, PipelineEncoder):
        state = {"kind": "pipeline", "columns": list(encoder.columns), "named": encoder.named}
        return {_STATE: files.from_json(state), _STEPS: pack_estimator(encoder.steps)}
    raise InputError(
        f"a forest with an encoder of type {type(encoder).__name__} cannot be saved",
        hint="save it without: dataclasses.replace(forest, encoder=None).",
    )


def from_archive(archive: files.Archive) -> Any:
    """Read the encoder of a forest; None if it has none."""
    if _STATE not in archive.members:
        return None
    state = archive.json(_STATE)
    if state["kind"] == "pipeline":
        steps = unpack_estimator(
            archive.raw(_STEPS), trusted=(), versions=archive.manifest.libraries
        )
        return PipelineEncoder(steps, tuple(state["columns"]), state["named"])
    arrays = {
        name.removeprefix(_ARRAYS).removesuffix(".npy"): archive.array(name)
        for name in archive.members
        if name.startswith(_ARRAYS)
    }
    encoder = Encoder.from_state(state["encoder"], arrays)
    return LearnerEncoder(encoder, Schema.from_json(state["schema"]))
