"""Files of forests: plain arrays and settings, no executable code."""

import os
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood import files
from clearwood._shared.errors import InputError
from clearwood.forest import encoders as _encoders

if TYPE_CHECKING:
    from clearwood.forest.forest import Forest

__all__ = ["ARRAYS", "contents", "from_archive", "from_settings", "load", "save", "settings"]

KIND = "forest"
SETTINGS = "forest.json"

#: The fields of a forest that are stored as arrays.
ARRAYS = (
    "roots",
    "left",
    "right",
    "feature",
    "threshold",
    "value",
    "cover",
    "base",
    "default_left",
    "zero_missing",
    "category_start",
    "category_size",
    "category_words",
    "unseen_left",
    "tree_output",
    "tree_weight",
    "divisor",
    "groups",
)


def settings(forest: "Forest") -> dict[str, Any]:
    """Return everything but the arrays and the encoder as plain JSON values."""
    classes = forest.classes
    as_they_are = (
        *("source", "aggregation", "link", "temperature", "exponential", "precision", "accumulate"),
        *("zero_is_positive", "positive_above", "missing_value", "accepts_missing"),
    )
    return {
        **{name: getattr(forest, name) for name in as_they_are},
        "feature_names": list(forest.feature_names),
        "columns": list(forest.columns),
        "levels": [None if levels is None else list(levels) for levels in forest.levels],
        "classes": None if classes is None else classes.tolist(),
        "classes_dtype": None if classes is None else classes.dtype.str,
    }


def from_settings(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a forest that `settings` gave as plain JSON values."""
    raw = dict(document)
    dtype = raw.pop("classes_dtype")
    if raw["classes"] is not None:
        raw["classes"] = np.array(raw["classes"], dtype=object if dtype == "|O" else dtype)
    raw["feature_names"] = tuple(raw["feature_names"])
    raw["columns"] = tuple(raw["columns"])
    raw["levels"] = tuple(None if levels is None else tuple(levels) for levels in raw["levels"])
    return raw


def save(forest: "Forest", path: str | os.PathLike[str], *, force: bool = False) -> Path:
    """Write the forest to a file of plain arrays; `clearwood.forest.load` reads it.

    Parameters
    ----------
    path
        Path of the file.
    force
        Whether to replace an existing file.
    """
    manifest, members = contents(forest)
    files.write(path, manifest, members, force=force)
    return Path(path)


def contents(forest: "Forest") -> tuple[files.Manifest, dict[str, bytes]]:
    """Return the contents of a forest's file."""
    members = {f"{name}.npy": files.from_array(getattr(forest, name)) for name in ARRAYS}
    members[SETTINGS] = files.from_json(settings(forest))
    members |= _encoders.members(forest.encoder)
    libraries = {name: version(name) for name in ("numpy", "scikit-learn", "skops")}
    return files.Manifest(KIND, libraries), members


def load(path: str | os.PathLike[str]) -> "Forest":
    """Read a forest from a file that `Forest.save` wrote; no code in the file is executed.

    Examples
    --------
    >>> import tempfile
    >>> import clearwood as cw
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> model = DecisionTreeRegressor(max_depth=1).fit([[0.0], [1.0]], [3.0, 5.0])
    >>> path = cw.forest.from_model(model).save(Path(tempfile.mkdtemp()) / "tree.cw")
    >>> cw.forest.load(path).predict([[0.2], [0.9]])
    array([3., 5.])
    """
    archive = files.read(path)
    if archive.manifest.kind != KIND:
        raise InputError(
            f"{str(path)!r} holds a {archive.manifest.kind}, not a forest",
            parameter="path",
            value=str(path),
            hint="read it with cw.load, then use cw.forest.from_model on the model.",
        )
    return from_archive(archive)


def from_archive(archive: files.Archive) -> "Forest":
    """Return the forest in an archive."""
    from clearwood.forest.forest import Forest

    arrays: dict[str, Any] = {name: archive.array(f"{name}.npy") for name in ARRAYS}
    fields = from_settings(archive.json(SETTINGS))
    return Forest(**fields, **arrays, encoder=_encoders.from_archive(archive))
