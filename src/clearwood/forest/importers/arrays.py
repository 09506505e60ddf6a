"""Trees that Clearwood's own estimators hold as plain arrays."""

from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood.forest.forest import Forest
from clearwood.forest.inputs import default_names

if TYPE_CHECKING:
    from clearwood.models import TreeArrays

__all__ = ["tree_arrays"]


def tree_arrays(trees: "TreeArrays") -> Forest:
    """Import trees: their sum, without a constant and without a link."""
    arrays: dict[str, Any] = dict(trees.split_arrays())
    return Forest(
        **arrays,
        base=np.zeros(trees.n_outputs),
        feature_names=default_names(trees.n_features),
        zero_missing=np.zeros(len(trees.left), bool),
        tree_weight=np.ones(len(trees.roots)),
        source="trees",
    )
