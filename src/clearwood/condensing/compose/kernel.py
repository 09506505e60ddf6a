"""The compiled composer: typed values in and out of its dictionaries of arrays."""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood import kernels
from clearwood._shared.choices import Effort, Objective
from clearwood.condensing.compose.atoms import Atoms
from clearwood.condensing.compose.composed import Composed
from clearwood.condensing.compose.decision import Decision, gains
from clearwood.condensing.tree.budget import Limit
from clearwood.forest import Forest

__all__ = ["Attempt", "Box", "Problem", "Shrinking", "Solution", "compose_all", "compose_within"]

_OBJECTIVES = {"leaves": 0, "depth": 1, "questions": 2}
_LIMITS = {"": None, "leaves": Limit.LEAVES, "seconds": Limit.TIME, "memory": Limit.MEMORY}
_NO_LIMIT = 2**62
_VALUES = {"value": "value", "low": "lower", "high": "upper"}


@dataclass(frozen=True, eq=False, kw_only=True)
class Problem:
    """An ensemble, its columns and questions in ranks, and what decides its outcome."""

    forest: Forest
    atoms: Atoms
    decision: Decision

    @property
    def is_of_values(self) -> bool:
        """Whether leaves hold values, rather than classes."""
        return self.decision.mode != "class"

    def arrays(self) -> dict[str, Any]:
        """Return the ensemble as the kernel reads it."""
        forest, atoms, columns = self.forest, self.atoms, self.atoms.columns
        sizes = [c.n_atoms if c.is_set else len(c.cuts) for c in columns]
        missing = [not c.is_set and c.missing_rank < 0 for c in columns]
        return {
            "is_set": np.array([c.is_set for c in columns], np.int32),
            "n_cuts": np.array(sizes, np.int32),
            "missing_atom": np.array(missing, np.int32),
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

    def composed(self, arrays: dict[str, Any]) -> Composed:
        """Read a diagram that the kernel wrote."""
        shape = (len(arrays["left"]), self.forest.n_outputs if self.is_of_values else 0)
        values = {name: arrays[key].reshape(shape) for name, key in _VALUES.items()}
        names = ("feature", "cut", "default_left", "left", "right", "outcome")
        return Composed(
            **{name: arrays[name] for name in names},
            **values,
            certified=arrays["certified"].astype(bool),
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Shrinking:
    """How a composed diagram is made smaller.

    Parts of up to ten million boxes are proved, and all at once where there are up to 120
    million, in less than a second; above them the two most promising questions are tried. On the
    forests of Vidal and Schiffer (2020) that comes within one per cent of the least. ``places`` are
    rows in ranks, for the expected number of questions.
    """

    effort: Effort
    objective: Objective
    memory: int
    places: NDArray[np.int32] | None = None

    def arrays(self) -> dict[str, Any]:
        """Return what the kernel reads."""
        weighted = self.objective == "questions"
        is_proof = self.effort == "optimal"
        return {
            "breadth": 0 if self.effort == "fast" and not weighted else 2,
            "work": 3e8,
            "provable": 1e5 if weighted else 1e7,
            "whole": 1e5 if weighted else min(1.2e8, self.memory / 8),
            "cells": float(self.memory) / 16 if is_proof else 4e6,
            "objective": _OBJECTIVES[self.objective],
            "prove": is_proof,
            "bytes": float(self.memory),
            "rows": _flat(self.places),
        }


@dataclass(frozen=True, eq=False, kw_only=True)
class Attempt:
    """How far an attempt at the whole tree came."""

    tree: Composed | None  # None where a limit ended the work
    stopped: Limit | None
    is_shrunk: bool  # whether the diagram was made as small as the effort makes it
    proof_bytes: float  # what the proof of the smallest tree would have needed; 0 if available
    progress: float  # share of the space that was composed
    early_progress: float  # the same after a fifth of the nodes allowed
    n_nodes: int
    n_bytes: int
    seconds: float


def compose_all(
    problem: Problem,
    shrinking: Shrinking,
    *,
    memory: int,
    nodes: int | None = None,
    seconds: float | None = None,
) -> Attempt:
    """Compose the whole tree, and make it smaller; limits that are None do not apply."""
    began = time.monotonic()
    result = kernels.compose(
        problem.arrays(),
        problem.decision.arrays(),
        _limits(nodes=nodes, seconds=seconds, memory=memory),
        shrinking.arrays(),
    )
    stopped = _LIMITS[result["stopped"]]
    return Attempt(
        tree=problem.composed(result) if stopped is None else None,
        stopped=stopped,
        is_shrunk=result["shrunk"],
        proof_bytes=result["too_large"],
        progress=result["progress"],
        early_progress=result["early_progress"],
        n_nodes=result["nodes_made"],
        n_bytes=result["bytes"],
        seconds=time.monotonic() - began,
    )


@dataclass(frozen=True, eq=False)
class Box:
    """A part of the space in ranks.

    Per column the first and the last rank (columns without order are not restricted), and whether
    missing values with a place of their own are in the box.
    """

    low: NDArray[np.int32]
    high: NDArray[np.int32]
    missing: NDArray[np.int32]


@dataclass(frozen=True, eq=False, kw_only=True)
class Solution:
    """The tree that was composed."""

    tree: Composed
    is_shrunk: bool = False  # whether it was made as small as the effort makes it
    stopped: Limit | None = None  # the limit at which the work ended; None: all is certified
    uncertified: Box | None = None  # holds the leaves that are not certified


def compose_within(
    problem: Problem,
    *,
    memory: int,
    leaves: int | None,
    seconds: float | None,
    places: NDArray[np.int32] | None,
    classes: NDArray[np.int32] | None,
    n_threads: int,
) -> Solution:
    """Compose where most rows are first, and stop at the limits; those that are None do not apply.

    ``places`` are the rows in ranks, ``classes`` the positions of the classes predicted for them.
    """
    result = kernels.compose_within(
        problem.arrays(),
        problem.decision.arrays(),
        _limits(seconds=seconds, memory=memory),
        {"rows": _flat(places), "classes": _flat(classes)},
        _NO_LIMIT if leaves is None else int(leaves),
        n_threads,
    )
    box = Box(result["open_low"], result["open_high"], result["open_missing"])
    stopped = _LIMITS[result["stopped"]]
    return Solution(tree=problem.composed(result), stopped=stopped, uncertified=box)


def _limits(*, memory: int, nodes: int | None = None, seconds: float | None) -> dict[str, Any]:
    return {
        "nodes": _NO_LIMIT if nodes is None else int(nodes),
        "seconds": np.inf if seconds is None else float(seconds),
        "bytes": memory,
    }


def _flat(places: NDArray[np.int32] | None) -> NDArray[np.int32]:
    return np.empty(0, np.int32) if places is None else np.ascontiguousarray(places).ravel()
