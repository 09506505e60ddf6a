"""A condensed tree as JSON, and back: everything that predicts and that a checker needs."""

import json
import math
import os
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from clearwood._shared.errors import Call, InputError, words
from clearwood._shared.messages import tell
from clearwood.condensing.tree.certificate import Certificate
from clearwood.condensing.tree.condensed_tree import CondensedTree
from clearwood.condensing.tree.diagram import Diagram
from clearwood.condensing.tree.fingerprint import of_diagram
from clearwood.forest import ARRAYS, Forest, LearnerEncoder, from_settings, settings
from clearwood.table import Encoder, Schema

__all__ = ["FORMAT", "read_file", "read_json", "save", "to_json"]

Tree = TypeVar("Tree", bound=CondensedTree)

FORMAT = "clearwood condensed tree"
VERSION = 1


def to_json(condensed: CondensedTree) -> dict[str, Any]:
    """Return the tree as plain JSON values; `from_json` reads them.

    The arrays of the diagram and of the model's settings are lists; numbers that JSON lacks are
    the strings "NaN", "Infinity" and "-Infinity". An array of the ensemble that holds one value
    only is that value and a shape. The encoder of a learner is kept, so the tree still reads the
    user's tables. The steps of a pipeline are code and are not kept: such a tree reads the columns
    that they make.
    """
    diagram = {
        item.name: _listed(getattr(condensed.diagram, item.name))
        for item in fields(condensed.diagram)
    }
    return {
        "format": FORMAT,
        "version": VERSION,
        "equal": condensed.equal,
        "effort": condensed.effort,
        "objective": condensed.objective,
        "tolerance": condensed.tolerance,
        "certificate": condensed.certificate.to_json(),
        "diagram": diagram,
        "model": _of_forest(condensed.shell),
        "encoder": _of_encoder(condensed.shell.encoder),
        "fallback": None if condensed.fallback is None else _of_forest(condensed.fallback),
    }


def read_json(document: Any, kind: type[Tree]) -> Tree:
    """Read the tree that `to_json` wrote, as a class of condensed trees."""
    if not isinstance(document, Mapping) or document.get("format") != FORMAT:
        raise InputError(
            f'this is not a condensed tree: it lacks "format": "{FORMAT}"',
            parameter="document",
            hint=words("make one with ", Call("condense", ("model",)), "."),
        )
    if document.get("version") != VERSION:
        raise InputError(
            f"the tree is in version {document.get('version')!r} of the format; "
            f"this version of Clearwood reads version {VERSION}",
            parameter="document",
            hint="read it with the version of Clearwood that wrote it.",
        )
    try:
        return _read(document, kind)
    except InputError as error:
        raise InputError(words("the tree is damaged: ", error.message)) from error
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise InputError(
            f"the tree is damaged: {reason}", hint="condense the model again."
        ) from error


def save(condensed: CondensedTree, path: str | os.PathLike[str], *, force: bool = False) -> Path:
    """Write the tree to a JSON file."""
    from clearwood.files import atomic_write

    with atomic_write(path, force=force, text=True) as file:
        json.dump(to_json(condensed), file, ensure_ascii=False, allow_nan=False)
        file.write("\n")
    return Path(path)


def read_file(path: str | os.PathLike[str], kind: type[Tree], *, check: bool = True) -> Tree:
    """Read a tree from a JSON file; with ``check``, warn where its certificate names another."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise InputError(
            f"cannot read {str(path)!r}: {reason.lower()}",
            parameter="path",
            value=path,
            hint=words("a tree is a JSON file, as saved after ", Call("condense", ("model",)), "."),
        ) from error
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{str(path)!r} is damaged: it is not JSON ({error})",
            parameter="path",
            value=path,
            hint=words("make it again with ", Call("condense", ("model",)), "."),
        ) from error
    condensed = read_json(document, kind)
    if check and of_diagram(condensed.diagram) != condensed.certificate.diagram:
        tell(
            words(
                f"the tree in {str(path)!r} was changed after it was certified; ",
                Call("certify", ("tree", "model")),
                " checks whether it is still equal",
            )
        )
    return condensed


def _of_encoder(encoder: Any) -> dict[str, Any] | None:
    if not isinstance(encoder, LearnerEncoder):
        return None
    values, arrays = encoder.encoder.state()
    held = {
        name: {
            "dtype": array.dtype.str,
            "shape": list(array.shape),
            "values": _listed(array.ravel()),
        }
        for name, array in arrays.items()
    }
    return {"state": values, "arrays": held, "schema": encoder.schema.to_json()}


def _encoder(document: Mapping[str, Any] | None) -> LearnerEncoder | None:
    if document is None:
        return None
    arrays = {
        name: _array(held["values"]).astype(held["dtype"]).reshape(held["shape"])
        for name, held in document["arrays"].items()
    }
    encoder = Encoder.from_state(document["state"], arrays)
    return LearnerEncoder(encoder, Schema.from_json(document["schema"]))


def _of_forest(forest: Forest) -> dict[str, Any]:
    arrays = {name: _shortly(getattr(forest, name)) for name in ARRAYS}
    kept = settings(forest)
    for name in ("missing_value", "temperature"):
        kept[name] = _listed(kept[name])
    return {**kept, **arrays}


def _read(document: Mapping[str, Any], kind: type[Tree]) -> Tree:
    raw = dict(document["diagram"])
    arrays: dict[str, Any] = {
        name: _array(value) if isinstance(value, list) else value for name, value in raw.items()
    }
    n = len(arrays["feature"])
    for name in ("value", "low", "high"):
        arrays[name] = np.asarray(arrays[name], np.float64).reshape(n, -1)
    return kind(
        diagram=Diagram(**arrays),
        shell=replace(_forest(document["model"]), encoder=_encoder(document["encoder"])),
        equal=document["equal"],
        effort=document["effort"],
        objective=document["objective"],
        tolerance=document["tolerance"],
        certificate=Certificate.from_json(document["certificate"]),
        fallback=None if document["fallback"] is None else _forest(document["fallback"]),
    )


def _forest(document: Mapping[str, Any]) -> Forest:
    raw = from_settings(document)
    for name in ("missing_value", "temperature"):
        raw[name] = _number(raw[name])
    for name in ARRAYS:
        raw[name] = _spelt_out(raw[name])
    n_nodes = len(raw["left"])
    raw["value"] = np.asarray(raw["value"], np.float64).reshape(n_nodes, -1)
    return Forest(**raw)


_WORDS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def _number(value: Any) -> Any:
    return _WORDS[value] if isinstance(value, str) else value


def _shortly(array: np.ndarray[Any, Any]) -> Any:
    """Return an array that holds one value only as that: most flags of most models do."""
    flat = array.ravel()
    first = flat[:1]
    same = np.isnan(flat) if flat.dtype.kind == "f" and np.isnan(first).any() else flat == first
    if len(flat) > 2 and same.all():
        return {"every": _listed(first[0].item()), "shape": list(array.shape)}
    return _listed(array)


def _spelt_out(held: Any) -> np.ndarray[Any, Any]:
    if isinstance(held, Mapping):
        return np.full([int(n) for n in held["shape"]], _number(held["every"]))
    return _array(held)


def _array(values: list[Any]) -> np.ndarray[Any, Any]:
    if values and isinstance(values[0], list):
        return np.array([[_number(value) for value in row] for row in values])
    return np.array([_number(value) for value in values])


def _listed(value: Any) -> Any:
    """Return arrays as lists and numbers that JSON lacks as words."""
    if isinstance(value, np.ndarray):
        listed = value.tolist()
        if value.dtype.kind == "f" and not np.isfinite(value).all():
            return _listed(listed)
        return listed
    if isinstance(value, list):
        return [_listed(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value
