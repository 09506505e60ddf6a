"""What the condensing kernel refuses, on arrays that no caller of ours makes."""

import numpy as np
import pytest

from clearwood.kernels import compose, compose_within


def stump(n_outputs):
    """One question, whose right side adds one to the last output."""
    gain = np.zeros((3, n_outputs))
    gain[2, -1] = 1.0
    return {
        "is_set": np.zeros(1, np.int32),
        "n_cuts": np.ones(1, np.int32),
        "missing_atom": np.zeros(1, np.int32),
        "left": np.array([1, -1, -1], np.int32),
        "right": np.array([2, -1, -1], np.int32),
        "feature": np.array([0, -1, -1], np.int32),
        "cut": np.zeros(3, np.int32),
        "default_left": np.zeros(3, np.int32),
        "gain": gain.ravel(),
        "roots": np.zeros(1, np.int32),
        "tree_output": np.full(1, -1, np.int32),
        "set_words": np.empty(0, np.uint64),
        "set_start": np.zeros(1, np.int64),
        "base": np.zeros(n_outputs),
        "divisor": np.ones(n_outputs),
        "weight": np.ones(1),
        "single": False,
        "divides": False,
    }


def between_classes(n_classes):
    a, b = np.triu_indices(n_classes, 1)
    return {
        "mode": 0,
        "a": a.astype(np.int32),
        "b": b.astype(np.int32),
        "above": np.zeros(len(a)),
        "below": np.full(len(a), -1e-9),
        "cut": 0.0,
        "tolerance": 0.0,
        "slack": 0.0,
        "divide": False,
        "n_classes": n_classes,
    }


LIMITS = {"nodes": 1000, "seconds": 60.0, "bytes": 1 << 30}
OPTIONS = {
    "breadth": 0,
    "cells": 1e6,
    "work": 1e6,
    "provable": 1e6,
    "whole": 1e6,
    "objective": 0,
    "prove": False,
    "bytes": 1e9,
    "rows": np.zeros(1, np.int32),
}


def test_sixty_four_classes_are_composed():
    tree = compose(stump(64), between_classes(64), LIMITS, OPTIONS)
    assert sorted(tree["outcome"][tree["left"] < 0]) == [0, 63]


@pytest.mark.parametrize("n_classes", [-1, 1, 65, 300])
def test_classes_that_do_not_fit_a_word_are_refused(n_classes):
    decision = between_classes(2) | {"n_classes": n_classes}
    message = f"between 2 and 64 classes, not {n_classes}"
    with pytest.raises(ValueError, match=message):
        compose(stump(max(n_classes, 1)), decision, LIMITS, OPTIONS)
    with pytest.raises(ValueError, match=message):
        compose_within(stump(max(n_classes, 1)), decision, LIMITS, OPTIONS, 8, 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mode": 4}, "no known mode"),
        ({"a": np.array([3], np.int32)}, "class or output of the decision is out of range"),
        ({"b": np.array([-1], np.int32)}, "class or output of the decision is out of range"),
        ({"n_classes": 3}, "no output for every class"),
    ],
)
def test_decisions_that_do_not_fit_the_ensemble_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        compose(stump(2), between_classes(2) | change, LIMITS, OPTIONS)
