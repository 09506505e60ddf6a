"""Short names for forests and diagrams that change with anything that could change a prediction."""

import hashlib
from dataclasses import fields
from typing import Any

import numpy as np

from clearwood.condensing.tree.diagram import Diagram
from clearwood.forest import Forest

__all__ = ["of_diagram", "of_forest"]

# None changes a class or a raw prediction: how many rows reached a node, the words for where it
# came from, and whose exp shows the raw prediction on the target's scale. An encoder is code, which
# has no arrays to hash; what it feeds the forest is checked by name.
_SILENT = {"cover", "source", "encoder", "exponential"}


def of_forest(forest: Forest) -> str:
    """Return the SHA-256 of everything in a forest that a prediction depends on.

    Examples
    --------
    >>> import clearwood as cw
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> tree = cw.forest.from_model(DecisionTreeRegressor().fit([[0.0], [1.0]], [3.0, 5.0]))
    >>> len(of_forest(tree)), of_forest(tree) == of_forest(tree)
    (64, True)
    """
    return _sha256(forest, _SILENT)


def of_diagram(diagram: Diagram) -> str:
    """Return the SHA-256 of a diagram's arrays."""
    return _sha256(diagram, set())


def _sha256(holder: Forest | Diagram, without: set[str]) -> str:
    digest = hashlib.sha256()
    for item in sorted(fields(holder), key=lambda item: item.name):
        if item.name not in without:
            digest.update(f"{item.name}=".encode())
            digest.update(_bytes(getattr(holder, item.name)))
            digest.update(b"\n")
    return digest.hexdigest()


def _bytes(value: Any) -> bytes:
    if isinstance(value, np.ndarray) and value.dtype != object:
        # the same numbers give the same bytes on machines of either byte order
        plain = np.ascontiguousarray(value, value.dtype.newbyteorder("<"))
        return f"{plain.dtype.kind}{plain.shape}".encode() + plain.tobytes()
    if isinstance(value, np.ndarray):
        value = value.tolist()
    return repr(value).encode()
