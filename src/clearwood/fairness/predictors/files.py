"""Files of fair models: what is around the models that they are made of."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood import files
from clearwood._shared.errors import InputError
from clearwood.causal import Condition
from clearwood.fairness.predictors.calibration import Calibration
from clearwood.fairness.predictors.distribution import Distribution
from clearwood.fairness.predictors.fair_model import FairModel
from clearwood.fairness.predictors.parity import Barycentre
from clearwood.table import Column, ColumnSchema, Schema, Table, Task

if TYPE_CHECKING:
    from clearwood.models import ModelFile

__all__ = ["described", "from_archive", "members"]

_FAIR = "fair.json"
_CLASSES = "classes.npy"
_WORDS = {
    "free": "free of {}, by averaging",
    "unaware": "fitted without {}",
    "parity": "with the same distribution of predictions for every {}",
}


def members(model: FairModel) -> dict[str, bytes]:
    """Return the members of the file that are not those of the inner models."""
    distribution = model.distribution_
    about: dict[str, Any] = {
        "protected": list(model.protected_),
        "inputs": list(model.inputs_),
        "kind": model.kind,
        "calibrate": model.calibrate,
        "by_group": bool(model.by_group),
        "task": model.task_.value,
        "schema": model.schema_.to_json(),
        "calibration": model.calibration_.to_json(),
        "conditions": [condition.to_json() for condition in model.conditions],
        "training": model.training_,
    }
    held = {}
    if distribution is not None:
        schemas = [one.to_json() for one in distribution.cells.schema.columns]
        about["law"] = {"columns": schemas, "exact": distribution.is_exact}
        held["law/shares.npy"] = files.from_array(distribution.shares)
        for k, column in enumerate(distribution.cells.columns):
            held[f"law/{k}.npy"] = files.from_array(column.values)
    for k, one in enumerate(model.barycentres_):
        held[f"parity/{k}/shares.npy"] = files.from_array(one.shares)
        for g, (values, ranks) in enumerate(zip(one.values, one.ranks, strict=True)):
            held[f"parity/{k}/{g}.npy"] = files.from_array(np.stack([values, ranks]))
    classes = getattr(model, "classes_", None)
    if classes is not None:
        if classes.dtype.hasobject:
            about["classes"] = [str(label) for label in classes]
        else:
            held[_CLASSES] = files.from_array(classes)
    return {_FAIR: files.from_json(about), **held}


def from_archive(archive: files.Archive, inner: Sequence[Any]) -> FairModel:
    """Return the fair model in an archive, made of models that were read before."""
    try:
        return _read(archive, inner)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, InputError):
            raise
        raise files.damaged(f"the fair model in the file cannot be read ({error!r})") from error


def _read(archive: files.Archive, inner: Sequence[Any]) -> FairModel:
    about = archive.json(_FAIR)
    model = FairModel(
        inner[0],
        protected=list(about["protected"]),
        kind=about["kind"],
        calibrate=about["calibrate"],
        by_group=about["by_group"],
    )
    model.check_options()
    model.models_ = tuple(inner)
    model.protected_ = tuple(about["protected"])
    model.inputs_ = tuple(about["inputs"])
    model.task_ = Task(about["task"])
    model.schema_ = Schema.from_json(about["schema"])
    model.training_ = dict(about["training"])
    model.conditions_ = _conditions(about["conditions"])
    calibration = about["calibration"]
    model.calibration_ = Calibration(**{**calibration, "shift": tuple(calibration["shift"])})
    model.n_features_in_ = len(model.schema_.features)
    model.feature_names_in_ = np.array(
        [model.schema_[name].header or name for name in model.schema_.features], dtype=object
    )
    if _CLASSES in archive.members:
        model.classes_ = archive.array(_CLASSES)
    elif "classes" in about:
        model.classes_ = np.array(about["classes"], dtype=object)
    model.distribution_ = _distribution(archive, about["law"]) if "law" in about else None
    model.barycentres_ = _barycentres(archive)
    if model.distribution_ is not None and model.kind == "free" and not model.by_group:
        model.distribution = dict(
            zip(_keys(model.distribution_), map(float, model.distribution_.shares), strict=True)
        )
    return model


def _keys(distribution: Distribution) -> list[Any]:
    """Return the combinations of a distribution as `clearwood.fair` takes them."""
    return [labels[0] if len(labels) == 1 else labels for labels in distribution.labels]


def _conditions(raw: Sequence[Mapping[str, Any]]) -> tuple[Condition, ...]:
    return tuple(
        Condition(one["name"], one["holds"], one["reason"], tuple(one["path"])) for one in raw
    )


def _distribution(archive: files.Archive, about: Mapping[str, Any]) -> Distribution:
    columns = []
    for k, raw in enumerate(about["columns"]):
        schema = ColumnSchema.from_json(raw)
        values = archive.array(f"law/{k}.npy")
        columns.append(Column(schema.name, schema.kind, values, schema.levels))
    return Distribution(
        Table(tuple(columns)), archive.array("law/shares.npy"), bool(about["exact"])
    )


def _barycentres(archive: files.Archive) -> tuple[Barycentre, ...]:
    barycentres: list[Barycentre] = []
    while f"parity/{len(barycentres)}/shares.npy" in archive.members:
        folder = f"parity/{len(barycentres)}/"
        shares = archive.array(f"{folder}shares.npy")
        groups = [archive.array(f"{folder}{g}.npy") for g in range(len(shares))]
        values, ranks = (tuple(np.ascontiguousarray(g[k]) for g in groups) for k in (0, 1))
        barycentres.append(Barycentre(values, ranks, shares))
    return tuple(barycentres)


def described(archive: files.Archive, inner: Sequence["ModelFile"]) -> "ModelFile":
    """Return the description of the file."""
    about = archive.json(_FAIR)
    try:
        names = " and ".join(map(repr, about["protected"]))
        title = _WORDS[about["kind"]].format(names)
        by_group = f"; {len(inner)} models, one for each group" if about["by_group"] else ""
        return replace(
            inner[0],
            title=f"{inner[0].title or inner[0].learner}, {title}{by_group}",
            task=about["task"],
            schema=Schema.from_json(about["schema"]),
            training={**inner[0].training, **about["training"]},
        )
    except (LookupError, TypeError, ValueError) as error:
        raise files.damaged(f"the fair model in the file cannot be read ({error!r})") from error
