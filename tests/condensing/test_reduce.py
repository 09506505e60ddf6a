"""Smaller trees: still equal on every cell, and the least where that is proved."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
import sklearn.datasets
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier

import clearwood as cw
from clearwood.condensing import ProofTooLargeError
from clearwood.condensing.compose.atoms import atoms_of

FORESTS = Path(__file__).parents[2].parent / "shared" / "data" / "born_again" / "forests"
#: Least leaves of the first fold, by the dynamic program of Vidal and Schiffer (2020).
LEAST = {
    "HTRU2": 11,
    "COMPAS-ProPublica": 31,
    "FICO": 96,
    "Seeds": 314,
    "Pima-Diabetes": 344,
    "Breast-Cancer-Wisconsin": 671,
}


def public_forest(table, fold=1):
    path = FORESTS / f"{table}.RF{fold}.txt"
    if not path.exists():
        pytest.skip("the public forests are not here")
    return cw.forest.read_text(path)


@pytest.mark.parametrize("effort", ["good", "optimal"])
@pytest.mark.parametrize("objective", ["leaves", "depth", "questions"])
@pytest.mark.parametrize(
    ("task", "equal"), [("binary", "class"), ("classes", "class"), ("number", "value")]
)
@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_smaller_trees_predict_the_same_on_every_cell(
    any_forest, cells, task, equal, objective, effort, seed
):
    forest = any_forest(seed, task=task, whole=task != "number", trees=4)
    X = cells(forest)
    rows = X[np.random.default_rng(seed).integers(0, len(X), 50)]
    one = cw.condense(forest, equal=equal, effort=effort, objective=objective, data=rows)
    if equal == "class":
        np.testing.assert_array_equal(one.predict(X), forest.predict(X))
    else:
        np.testing.assert_array_equal(one.predict_raw(X), forest.predict_raw(X))


def least(forest, X, labels, objective):
    """Search all trees over the cells: the oracle for small spaces."""
    ordered = [not column.is_set for column in atoms_of(forest).columns]
    asked = {}
    for node in np.flatnonzero(~forest.is_leaf):
        j = int(forest.feature[node])
        left, missing = forest.goes_left(int(node), X[:, j]), np.isnan(X[:, j])
        sides = [left]
        if ordered[j]:
            # missing values may go to either side of a threshold, or stand alone
            sides += [left | missing, left & ~missing, missing]
        asked |= {(j, side.tobytes()): None for side in sides}
    questions = [np.frombuffer(side, bool) for _, side in asked]

    @cache
    def cost(members):
        here = np.frombuffer(members, bool)
        if len(set(labels[here])) == 1:
            return 1 if objective == "leaves" else 0
        options = []
        for left in questions:
            one, two = here & left, here & ~left
            if one.any() and two.any():
                sides = cost(one.tobytes()), cost(two.tobytes())
                options.append(sum(sides) if objective == "leaves" else 1 + max(sides))
        return min(options)

    return cost(np.ones(len(X), bool).tobytes())


@pytest.mark.parametrize("objective", ["leaves", "depth"])
@pytest.mark.parametrize(
    ("kinds", "missing"),
    [
        (["number"] * 3, False),
        (["number"] * 3, True),
        (["category", "number", "category"], True),
        (["zero", "number", "number"], True),
    ],
)
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(seed=st.integers(0, 10**6))
def test_optimal_trees_are_as_small_as_a_search_of_all_trees_finds(
    any_forest, cells, kinds, missing, objective, seed
):
    forest = any_forest(seed, task="binary", whole=True, missing=missing, kinds=kinds, trees=3)
    X = cells(forest)
    assume(len(X) <= 40)
    one = cw.condense(forest, effort="optimal", objective=objective)
    found = one.n_leaves if objective == "leaves" else one.depth
    assert found == least(forest, X, forest.predict(X), objective)
    assert one.certificate.optimal


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_fewest_questions_are_no_more_than_those_of_other_efforts(any_forest, cells, seed):
    forest = any_forest(seed, task="binary", whole=True, missing=False, kinds=["number"] * 3)
    X = cells(forest)
    rows = X[np.random.default_rng(seed).integers(0, len(X), 100)]
    asked = {
        effort: cw.condense(forest, effort=effort, objective="questions", data=rows)
        .diagram.questions(rows)
        .mean()
        for effort in ("good", "optimal")
    }
    fewest_leaves = cw.condense(forest, effort="optimal").diagram.questions(rows).mean()
    assert asked["optimal"] <= asked["good"] + 1e-12
    assert asked["optimal"] <= fewest_leaves + 1e-12


def least_over_boxes(forest):
    """Return the fewest leaves by the dynamic program over boxes of Vidal and Schiffer (2020).

    A side of a box is a range of one column, with or without the missing value, which may go to
    either side of each cut.
    """
    cuts = [
        np.unique(forest.threshold[(forest.feature == j) & ~forest.is_leaf])
        for j in range(forest.n_features)
    ]
    inside = [np.convolve([cut[0] - 2, *cut, cut[-1] + 2], [0.5, 0.5], "valid") for cut in cuts]
    sides = [np.append(values, np.nan) for values in inside]
    grid = np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1)
    labels = forest.predict(grid.reshape(-1, len(cuts))).reshape(grid.shape[:-1])

    def places(j, low, high, missing):
        return [*range(low, high), *([len(cuts[j]) + 1] if missing else [])]

    def halves(low, high, missing):
        for cut in range(low, high + 1):
            for left in {False, missing}:
                one, two = (low, cut, left), (cut, high, missing and not left)
                if all(start < end or known for start, end, known in (one, two)):
                    yield one, two

    @cache
    def leaves(box):
        here = labels[np.ix_(*(places(j, *side) for j, side in enumerate(box)))]
        if here.min() == here.max():
            return 1
        return min(
            sum(leaves((*box[:j], half, *box[j + 1 :])) for half in pair)
            for j, side in enumerate(box)
            for pair in halves(*side)
        )

    return leaves(tuple((0, len(cut) + 1, True) for cut in cuts))


@pytest.mark.parametrize(
    ("table", "columns", "trees"),
    [
        ("iris", [2, 3], 10),
        ("wine", [6, 9], 4),
        ("breast_cancer", [0, 1], 4),
        ("wine", [0, 6, 9], 2),
    ],
)
def test_the_least_number_of_leaves_of_packaged_tables_is_found(table, columns, trees):
    data = getattr(sklearn.datasets, f"load_{table}")()
    model = RandomForestClassifier(trees, max_depth=3, random_state=0)
    forest = cw.forest.from_model(model.fit(data.data[:, columns], data.target))
    one = cw.condense(forest, effort="optimal")
    assert one.n_leaves == least_over_boxes(forest)
    assert one.certificate.optimal


@pytest.mark.parametrize("table", LEAST)
def test_the_least_number_of_leaves_of_the_public_forests_is_found(table):
    forest = public_forest(table)
    one = cw.condense(forest, effort="optimal")
    assert one.n_leaves == LEAST[table]


@pytest.mark.parametrize("fold", [1, 2, 3])
@pytest.mark.parametrize("table", LEAST)
def test_good_trees_of_the_public_forests_are_equal_everywhere(table, fold):
    forest = public_forest(table, fold)
    rng = np.random.default_rng(fold)
    X = rng.integers(-1, 12, (20_000, forest.n_features)).astype(float)
    one = cw.condense(forest)
    np.testing.assert_array_equal(one.predict(X), forest.predict(X))
    if fold == 1:
        assert one.n_leaves <= 1.02 * LEAST[table]


def test_a_proof_that_does_not_fit_is_refused_with_its_size(any_forest):
    forest = any_forest(3, task="binary", trees=8, kinds=["number"] * 3)
    with pytest.raises(ProofTooLargeError, match=r"needs more memory than any.*memory") as error:
        cw.condense(forest, effort="optimal", memory=1e3)
    assert error.value.n_bytes > error.value.memory == 1000
