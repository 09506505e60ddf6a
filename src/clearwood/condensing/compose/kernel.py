"""Between forests and the compiled composer: arrays in, a diagram out."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood.condensing.compose.atoms import Atoms
from clearwood.condensing.compose.decision import gains
from clearwood.condensing.condensed import Effort, Objective
from clearwood.condensing.diagram import Diagram
from clearwood.forest import Forest

__all__ = ["diagram_from", "ensemble_arrays", "limits", "shrinking"]

_OBJECTIVES = {"leaves": 0, "depth": 1, "questions": 2}


def ensemble_arrays(forest: Forest, atoms: Atoms) -> dict[str, Any]:
    """Give the forest as the kernel reads it."""
    columns = atoms.columns
    return {
        "is_set": np.array([c.is_set for c in columns], np.int32),
        "n_cuts": np.array([c.n_atoms if c.is_set else len(c.cuts) for c in columns], np.int32),
        "missing_atom": np.array([not c.is_set and c.missing_rank < 0 for c in columns], np.int32),
        "left": forest.left,
        "right": forest.right,
        "feature": forest.feature,
        "cut": atoms.cut,
        "default_left": atoms.default_left,
        "gain": np.ascontiguousarray(gains(forest).ravel()),
        "roots": forest.roots,
        "tree_output": forest.tree_output,
        "set_words": atoms.set_words,
        "set_start": atoms.set_start,
        "base": forest.base,
        "divisor": forest.divisor,
        "weight": forest.tree_weight,
        "single": forest.accumulate == "float32",
        "divides": forest.aggregation not in ("sum", "weighted median"),
    }


def limits(
    *, nodes: int | None = None, seconds: float | None = None, memory: int | None = None
) -> dict[str, Any]:
    """Give the kernel's limits; None is no limit."""
    return {
        "nodes": 2**62 if nodes is None else int(nodes),
        "seconds": np.inf if seconds is None else float(seconds),
        "bytes": 2**62 if memory is None else int(memory),
    }


def shrinking(
    effort: Effort,
    objective: Objective,
    *,
    memory: int,
    places: NDArray[np.int32] | None = None,
) -> dict[str, Any]:
    """Give how a composed diagram is made smaller.

    Parts of up to ten million boxes are proved, and all at once where there are up to 120
    million, in less than a second; above them the two most promising questions are tried. On the
    forests of Vidal and Schiffer (2020) that comes within one per cent of the least.
    """
    weighted = objective == "questions"
    return {
        "breadth": 0 if effort == "fast" and not weighted else 2,
        "work": 3e8,
        "provable": 1e5 if weighted else 1e7,
        "whole": 1e5 if weighted else min(1.2e8, memory / 8),
        "cells": float(memory) / 16 if effort == "optimal" else 4e6,
        "objective": _OBJECTIVES[objective],
        "prove": effort == "optimal",
        "bytes": float(memory),
        "rows": np.empty(0, np.int32) if places is None else np.ascontiguousarray(places).ravel(),
    }


def diagram_from(
    found: Mapping[str, Any], forest: Forest, atoms: Atoms, *, values: bool
) -> Diagram:
    """Spell out the kernel's questions in the user's numbers and categories."""
    feature, cut = found["feature"], found["cut"]
    n = len(feature)
    inner = feature >= 0
    threshold = np.zeros(n)
    default_left = found["default_left"].astype(bool)
    left, right = found["left"].copy(), found["right"].copy()
    zero_missing = np.zeros(n, bool)
    unseen_left = np.zeros(n, bool)
    category_start = np.full(n, -1, np.int32)
    category_size = np.zeros(n, np.int32)
    for j in np.unique(feature[inner]):
        column = atoms.columns[j]
        at = np.flatnonzero(feature == j)
        if column.is_set:
            # asked as the forest asks it; the kernel may have exchanged the sides
            node = atoms.set_node[cut[at]]
            exchanged = at[default_left[at]]
            left[exchanged], right[exchanged] = right[exchanged], left[exchanged]
            threshold[at] = forest.threshold[node]
            zero_missing[at] = forest.zero_missing[node]
            unseen_left[at] = forest.unseen_left[node]
            category_start[at] = forest.category_start[node]
            category_size[at] = forest.category_size[node]
            default_left[at] = forest.default_left[node]
        else:
            threshold[at] = np.append(column.cuts, np.inf)[cut[at]]
            if column.missing_rank >= 0:
                default_left[at] = column.missing_rank <= cut[at]
    shape = (n, forest.n_outputs if values else 0)
    return Diagram(
        feature=feature,
        threshold=threshold,
        default_left=default_left & inner,
        zero_missing=zero_missing,
        category_start=category_start,
        category_size=category_size,
        category_words=forest.category_words,
        unseen_left=unseen_left,
        left=left,
        right=right,
        outcome=found["outcome"],
        value=found["value"].reshape(shape),
        lower=found["lower"].reshape(shape),
        upper=found["upper"].reshape(shape),
        certified=found["certified"].astype(bool),
        precision=forest.precision,
        n_features=forest.n_features,
    )
