"""Clearwood's own single trees, whose surrogates become ordinary splits."""

from typing import Any

import numpy as np

from clearwood._shared.errors import Call, InputError, words
from clearwood.forest.forest import Forest
from clearwood.forest.importers.sklearn import feature_names

__all__ = ["cart"]


def cart(model: Any) -> Forest:
    """Import a tree; its values are those of the leaves, as they are."""
    sampled = words(Call("explain", ("model", "data")), " samples its predictions.")
    if getattr(model, "costs", None) is not None:
        raise InputError(
            "this tree predicts the class of the least expected cost, and a forest the most "
            "probable one",
            parameter="model",
            hint=sampled,
        )
    plain = model.tree_.plain
    if plain is None:
        raise InputError(
            f"this tree of {model.get_n_leaves()} leaves has so many surrogates that it cannot be "
            "written as ordinary splits",
            parameter="model",
            hint=words("fit it with fewer surrogates or a smaller depth. ", sampled),
        )
    classes = getattr(model, "classes_", None)
    return Forest(
        **plain.split_arrays(),
        base=np.zeros(plain.n_outputs),
        feature_names=feature_names(model),
        zero_missing=np.zeros(len(plain.left), bool),
        tree_weight=np.ones(1),
        classes=None if classes is None else np.asarray(classes),
        source=type(model).__name__,
    )
