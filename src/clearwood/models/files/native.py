"""Boosted models in the formats of their own libraries.

LightGBM, XGBoost and CatBoost each have a documented file format that holds trees and numbers. A
model file keeps those bytes as a member of its own; in the estimator's place stands a `Native`,
with the constructor's parameters and the few attributes that scikit-learn's wrapper adds.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from clearwood._shared.errors import MissingExtraError
from clearwood.files import damaged
from clearwood.models.files.integrity import replace

__all__ = ["Native", "restore", "take_out"]


@dataclass
class Native:
    """Stands for an estimator whose model is stored in its library's own format.

    Parameters
    ----------
    estimator
        The class, as ``library.Class``; one of those known here.
    member
        The member of the file that holds the model; empty for an estimator that is not fitted, such
        as the template that a stack keeps.
    state
        The estimator's other attributes, or of one that is not fitted its parameters.
    """

    estimator: str
    member: str
    state: dict[str, Any]


@dataclass(frozen=True)
class _Format:
    """How one library writes and reads its models."""

    extra: str
    suffix: str
    dump: Callable[[Any], tuple[bytes, dict[str, Any]]]
    load: Callable[[type[Any], bytes, dict[str, Any]], Any]


def _dump_lightgbm(estimator: Any) -> tuple[bytes, dict[str, Any]]:
    state = {**vars(estimator)}
    booster = state.pop("_Booster")
    state["best_iteration of the booster"] = booster.best_iteration
    # A default dictionary of scores on validation data, which predictions do not need.
    state["_best_score"] = {name: dict(scores) for name, scores in state["_best_score"].items()}
    # -1: all trees, so that predictions with more than the best iteration stay possible
    return booster.model_to_string(num_iteration=-1).encode("utf-8"), state


def _load_lightgbm(kind: type[Any], model: bytes, state: dict[str, Any]) -> Any:
    from lightgbm import Booster

    booster = Booster(model_str=model.decode("utf-8"))
    booster.best_iteration = state.pop("best_iteration of the booster")
    return _filled(kind, {**state, "_Booster": booster})


def _dump_xgboost(estimator: Any) -> tuple[bytes, dict[str, Any]]:
    state = {**vars(estimator)}
    return bytes(state.pop("_Booster").save_raw("ubj")), state


def _load_xgboost(kind: type[Any], model: bytes, state: dict[str, Any]) -> Any:
    from xgboost import Booster

    booster = Booster()
    booster.load_model(bytearray(model))
    return _filled(kind, {**state, "_Booster": booster})


def _dump_catboost(estimator: Any) -> tuple[bytes, dict[str, Any]]:
    # The bytes `save_model` would write; it can write only to a path.
    return estimator._serialize_model(), dict(estimator.get_params())  # noqa: SLF001


def _load_catboost(kind: type[Any], model: bytes, state: dict[str, Any]) -> Any:
    estimator = kind(**state)
    estimator.load_model(blob=model)
    return estimator


def _filled(kind: type[Any], attributes: dict[str, Any]) -> Any:
    estimator = object.__new__(kind)
    vars(estimator).update(attributes)
    return estimator


_LIGHTGBM = _Format("lightgbm", "lightgbm.txt", _dump_lightgbm, _load_lightgbm)
_XGBOOST = _Format("xgboost", "xgboost.ubj", _dump_xgboost, _load_xgboost)
_CATBOOST = _Format("catboost", "catboost.cbm", _dump_catboost, _load_catboost)

_FORMATS = {
    "lightgbm.LGBMClassifier": _LIGHTGBM,
    "lightgbm.LGBMRegressor": _LIGHTGBM,
    "xgboost.XGBClassifier": _XGBOOST,
    "xgboost.XGBRegressor": _XGBOOST,
    "xgboost.XGBRFClassifier": _XGBOOST,
    "xgboost.XGBRFRegressor": _XGBOOST,
    "catboost.CatBoostClassifier": _CATBOOST,
    "catboost.CatBoostRegressor": _CATBOOST,
}


def take_out(model: Any) -> tuple[Any, dict[str, bytes]]:
    """Replace every boosted model by a `Native`, and return the members that hold them."""
    members: dict[str, bytes] = {}

    def swap(value: Any) -> Any:
        name = _public_name(value)
        if name is None:
            return value
        if not _is_fitted(value):
            return Native(name, "", dict(value.get_params()))
        data, state = _FORMATS[name].dump(value)
        member = f"native/{len(members):03d}.{_FORMATS[name].suffix}"
        members[member] = data
        return Native(name, member, state)

    return replace(model, swap), members


def restore(model: Any, members: Mapping[str, bytes]) -> Any:
    """Undo `take_out` on an estimator that was just loaded."""

    def swap(value: Any) -> Any:
        return _load(value, members) if isinstance(value, Native) else value

    return replace(model, swap)


def _load(native: Native, members: Mapping[str, bytes]) -> Any:
    attributes = {"estimator": None, "member": None, "state": None, **vars(native)}
    name, member, state = attributes["estimator"], attributes["member"], attributes["state"]
    form = _FORMATS.get(name) if isinstance(name, str) else None
    if form is None or not isinstance(state, dict) or (member and member not in members):
        raise damaged(f"the file has a model of kind {name!r} in {member!r}, which cannot be read")
    library, _, kind = native.estimator.rpartition(".")
    if find_spec(library) is None:
        raise MissingExtraError(f"this model ({name})", extra=form.extra)
    try:
        estimator = getattr(import_module(library), kind)
        if not member:
            return estimator(**state)
        return form.load(estimator, members[member], dict(state))
    except Exception as error:
        raise damaged(f"{library} cannot read the model in {member!r}: {error}") from error


def _public_name(value: Any) -> str | None:
    kind = type(value)
    name = f"{kind.__module__.partition('.')[0]}.{kind.__name__}"
    return name if name in _FORMATS else None


def _is_fitted(estimator: Any) -> bool:
    """Whether there is a model to store."""
    if type(estimator).__module__.startswith("catboost"):
        return bool(estimator.is_fitted())
    return vars(estimator).get("_Booster") is not None
