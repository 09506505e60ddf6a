"""An ensemble of one tree: that tree, where no smaller one was found."""

from typing import Any

import numpy as np

from clearwood.condensing.compose.atoms import Atoms
from clearwood.forest import Forest
from clearwood.forest.links import predict as on_scale
from clearwood.forest.predict import raw_of_leaves

__all__ = ["the_tree_itself"]


def the_tree_itself(forest: Forest, atoms: Atoms, *, values: bool) -> dict[str, Any]:
    """Give the one tree of a forest as the composer gives what it found.

    The composer asks where most is decided at once, which for a tree grown deep can cut its
    branches into more pieces than it has.

    Parameters
    ----------
    forest
        An ensemble of one tree.
    atoms
        Its columns in ranks.
    values
        Whether leaves hold the raw prediction, rather than the class.
    """
    n = forest.n_nodes
    leaf = forest.is_leaf
    raw = raw_of_leaves(forest, np.arange(n, dtype=np.int32)[:, None])
    outcome = np.full(n, -1)
    if not values:
        assert forest.classes is not None
        position = {label: k for k, label in enumerate(forest.classes.tolist())}
        labels = on_scale(forest, raw[:, 0] if forest.n_outputs == 1 else raw)
        outcome = np.where(leaf, [position[label] for label in labels.tolist()], -1)
    is_set = np.array([column.is_set for column in atoms.columns], bool)
    asks_set = ~leaf & is_set[np.where(leaf, 0, forest.feature)]
    value = np.where(leaf[:, None], raw, np.nan) if values else np.empty((n, 0))
    return {
        "feature": np.where(leaf, -1, forest.feature).astype(np.int32),
        "cut": atoms.cut,
        # in a column of sets this would say that the sides were exchanged
        "default_left": np.where(asks_set, 0, atoms.default_left).astype(np.int32),
        "left": forest.left,
        "right": forest.right,
        "outcome": outcome.astype(np.int32),
        "value": value,
        "lower": value,
        "upper": value,
        "certified": np.ones(n, bool),
    }
