"""Full trees against those that rpart 4.1.19 grows on the same rows, surrogates included."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

from clearwood.models.catalogue.trees.tree import Growth, Presorted

EXPECTED = json.loads((Path(__file__).parent / "rpart_trees.json").read_text())


def with_gaps(X, seed):
    X = X.copy()
    X[np.random.default_rng(seed).random(X.shape) < 0.1] = np.nan
    return X


def generated():
    """Five columns, the last two of categories, with gaps; a target, its mean and a generator."""
    n, rng = 300, np.random.default_rng(0)
    X = rng.normal(size=(n, 5))
    X[:, 1] = X[:, 0] + rng.normal(size=n) * 0.4
    X[:, 2] += X[:, 0] / 2
    X = X.round(2)
    X[:, 3] = rng.integers(0, 6, n)
    X[:, 4] = np.floor(X[:, 3] / 2 + 2 * rng.random(n))
    mean = 2 * (X[:, 0] > 0) + np.array([0, 1, 0, 2, 1, 0])[X[:, 3].astype(int)]
    mean = mean + 0.5 * X[:, 4] * (X[:, 2] > 0)
    y = (mean + rng.normal(size=n) / 2).round(3)
    X[rng.random(X.shape) < 0.12] = np.nan
    return X, y, mean, rng


def table(name):
    """Return rows, target, categorical columns, how to grow, and weights."""
    if name == "diabetes":
        return *load_diabetes(return_X_y=True), (), Growth("squared", min_samples_leaf=15), None
    if name == "iris":
        return *load_iris(return_X_y=True), (), Growth("gini", 3, min_samples_leaf=3), None
    if name == "wine":
        X, y = load_wine(return_X_y=True)
        return with_gaps(X, 0), y, (), Growth("entropy", 3, min_samples_leaf=7), None
    if name == "breast cancer":
        X, y = load_breast_cancer(return_X_y=True)
        return with_gaps(X, 1), y, (), Growth("squared", min_samples_leaf=15), None
    X, y, mean, rng = generated()
    weight = None
    if name == "counts":
        y = rng.poisson(np.exp(mean / 3))
        growth = Growth("poisson", min_samples_leaf=15)
    elif name == "three classes":
        y, growth = np.digitize(y, [1.0, 2.2]), Growth("gini", 3, min_samples_leaf=15)
    elif name == "two classes":
        y, growth = np.digitize(y, [1.5]), Growth("entropy", 2, min_samples_leaf=15)
    else:
        growth = Growth("squared", min_samples_leaf=15)
        weight = rng.integers(1, 4, len(y)) if name == "weighted numbers" else None
    return X, y, (3, 4), growth, weight


def present_levels(X, column, rows):
    codes = X[rows, column]
    return {int(code) for code in codes[~np.isnan(codes)]}


def check(tree, X, expected, node, rows):
    """Compare a node and everything below it; ``rows`` are those that reach it."""
    nodes = tree.nodes
    assert len(rows) == nodes["n_rows"][node] == expected["n"]
    assert (nodes["left"][node] < 0) == ("below" not in expected)
    if nodes["left"][node] < 0:
        return
    assert nodes["column"][node] == expected["column"]
    turned = False
    if "levels" in expected:
        left = set(tree.category_set(nodes, node)) & {
            *expected["levels"][0],
            *expected["levels"][1],
        }
        turned = left == set(expected["levels"][1])
        assert turned or left == set(expected["levels"][0])
    else:
        assert nodes["threshold"][node] == pytest.approx(expected["threshold"], rel=1e-9)
    check_surrogates(tree, expected["surrogates"], node, turned=turned)
    children = [int(nodes["left"][node]), int(nodes["right"][node])]
    leaves = tree.leaves(X[rows])
    in_left = leaves < children[1]  # a left subtree comes before the right one
    parts = [rows[in_left], rows[~in_left]]
    below = expected["below"][::-1] if turned else expected["below"]
    for child, part, of_child in zip(children, parts, below, strict=True):
        check(tree, X, of_child, child, part)


def check_surrogates(tree, expected, node, *, turned):
    first, count = tree.nodes["first_surrogate"][node], tree.nodes["n_surrogates"][node]
    assert count == len(expected)
    held = tree.surrogates
    for at, other in zip(range(first, first + count), expected, strict=True):
        assert held["column"][at] == other["column"]
        assert held["agreement"][at] == pytest.approx(other["agreement"], abs=1e-6)
        assert held["gain"][at] == pytest.approx(other["gain"], abs=1e-6)
        if "levels" in other:
            known = {*other["levels"][0], *other["levels"][1]}
            assert set(tree.category_set(held, at)) & known == set(other["levels"][turned])
        else:
            assert held["threshold"][at] == pytest.approx(other["threshold"], rel=1e-9)
            assert held["flipped"][at] == (other["flipped"] != turned)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_full_tree_and_its_surrogates_are_those_of_rpart(name):
    X, y, categorical, growth, weight = table(name)
    weight = np.ones(len(y)) if weight is None else weight.astype(float)
    rows = Presorted(X, categorical=categorical)
    rows.has_missing[:] = True  # rpart has surrogates for complete columns too
    tree = rows.grow(growth, y.astype(float), weight, weight)
    check(tree, X, EXPECTED[name], 0, np.arange(len(y)))
