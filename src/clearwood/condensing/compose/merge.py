"""Ensembles of very many classes, whose class is read off the value; equal branches kept once."""

from collections.abc import Mapping
from typing import Any

import numpy as np

__all__ = ["MOST_IN_PAIRS", "class_of_value", "merged"]

#: The composer bounds differences between all pairs of classes, for up to so many classes.
MOST_IN_PAIRS = 64


def class_of_value(found: Mapping[str, Any], n_classes: int) -> dict[str, Any]:
    """Turn a composed diagram for the value into one for the class.

    The class of a leaf is that of its largest score, the first among equals, as `predict` has it.

    Parameters
    ----------
    found
        What the composer gives: children come after their parents.
    n_classes
        How many scores a leaf has.
    """
    n = len(found["left"])
    value = np.nan_to_num(np.asarray(found["value"]).reshape(n, n_classes), nan=-np.inf)
    answers = (np.asarray(found["left"]) < 0) & np.asarray(found["certified"]).astype(bool)
    outcome = np.where(answers, np.argmax(value, axis=1), -1).astype(np.int32)
    nothing = np.empty((n, 0))
    return merged(
        {**found, "outcome": outcome, "value": nothing, "lower": nothing, "upper": nothing}
    )


def merged(found: Mapping[str, Any]) -> dict[str, Any]:
    """Keep equal branches once, and drop questions between equal branches.

    Parameters
    ----------
    found
        A diagram as the composer gives it, with one row a node in ``value``, ``lower`` and
        ``upper``; children come after their parents.
    """
    left, right = found["left"].tolist(), found["right"].tolist()
    answers = [
        *(np.asarray(found[name]).tolist() for name in ("outcome", "certified")),
        *([row.tobytes() for row in np.asarray(found[name])] for name in _VALUES),
    ]
    asked = [found[name].tolist() for name in ("feature", "cut", "default_left")]
    # the last of equal nodes stands for all: it comes after the parents of every one of them
    stands_for = list(range(len(left)))
    known: dict[tuple[Any, ...], int] = {}
    for node in range(len(left) - 1, -1, -1):
        if left[node] < 0:
            key = tuple(answer[node] for answer in answers)
        else:
            children = stands_for[left[node]], stands_for[right[node]]
            if children[0] == children[1]:
                stands_for[node] = children[0]
                continue
            key = (*(part[node] for part in asked), *children)
        stands_for[node] = known.setdefault(key, node)
    kept = _reached(stands_for, left, right)
    number = {node: k for k, node in enumerate(kept)}
    made = dict(found)
    for name in ("feature", "cut", "default_left", "certified", "outcome", *_VALUES):
        made[name] = np.asarray(found[name])[kept]
    for name, side in (("left", left), ("right", right)):
        below = [-1 if side[node] < 0 else number[stands_for[side[node]]] for node in kept]
        made[name] = np.array(below, np.int32)
    return made


_VALUES = ("value", "lower", "upper")


def _reached(stands_for: list[int], left: list[int], right: list[int]) -> list[int]:
    waiting, seen = [stands_for[0]], {stands_for[0]}
    while waiting:
        node = waiting.pop()
        if left[node] < 0:
            continue
        for child in (stands_for[left[node]], stands_for[right[node]]):
            if child not in seen:
                seen.add(child)
                waiting.append(child)
    return sorted(seen)
