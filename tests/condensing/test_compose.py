"""One tree equal to the ensemble on every cell, for every kind of ensemble."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import clearwood as cw

KINDS = [
    ("binary", "sum", False),
    ("binary", "sum", True),
    ("binary", "mean", False),
    ("binary", "weighted vote", False),
    ("scores", "mean", False),
    ("scores", "hard vote", True),
    ("classes", "sum", False),
    ("classes", "sum", True),
    ("classes", "mean", False),
    ("classes", "hard vote", True),
    ("classes", "weighted vote", False),
]


@pytest.mark.parametrize(("task", "aggregation", "whole"), KINDS)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_class_is_the_ensembles_on_every_cell(
    any_forest, cells, task, aggregation, whole, seed
):
    forest = any_forest(seed, task=task, aggregation=aggregation, whole=whole)
    X = cells(forest)
    one = cw.condense(forest, effort="fast")
    np.testing.assert_array_equal(one.predict(X), forest.predict(X))


@pytest.mark.parametrize(
    ("task", "aggregation"),
    [("number", "sum"), ("number", "mean"), ("number", "weighted median"), ("classes", "mean")],
)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_value_is_the_ensembles_to_the_last_bit(any_forest, cells, task, aggregation, seed):
    forest = any_forest(seed, task=task, aggregation=aggregation)
    X = cells(forest)
    one = cw.condense(forest, effort="fast", equal="value")
    np.testing.assert_array_equal(one.predict_raw(X), forest.predict_raw(X))


@pytest.mark.parametrize("task", ["number", "binary", "classes"])
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), tolerance=st.floats(1e-3, 3))
def test_no_value_is_off_by_more_than_the_tolerance(any_forest, cells, task, seed, tolerance):
    forest = any_forest(seed, task=task)
    X = cells(forest)
    one = cw.condense(forest, equal="value", tolerance=tolerance)
    exact = forest.predict_raw(X)
    assert np.abs(one.predict_raw(X) - exact).max() <= tolerance
    leaves = one.apply(X)
    wide = exact.reshape(len(X), -1)
    assert (one.diagram.low[leaves] <= wide).all()
    assert (wide <= one.diagram.high[leaves]).all()


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_ties_fall_as_the_library_lets_them_fall(any_forest, cells, seed):
    # sums of tenths tie on paper and differ by rounding, in an order-dependent way
    forest = any_forest(seed, task="binary", trees=8)
    rounded = np.round(forest.value, 0) * 0.1
    forest = cw.forest.Forest(
        **{
            name: getattr(forest, name)
            for name in forest.__dataclass_fields__
            if name not in ("value", "base")
        },
        value=rounded,
        base=np.zeros(1),
    )
    X = cells(forest)
    one = cw.condense(forest, effort="fast")
    np.testing.assert_array_equal(one.predict(X), forest.predict(X))


def test_a_forest_of_one_answer_becomes_one_leaf(any_forest):
    forest = any_forest(0, task="binary", whole=True)
    constant = cw.forest.Forest(
        **{
            name: getattr(forest, name)
            for name in forest.__dataclass_fields__
            if name not in ("value", "base")
        },
        value=np.ones_like(forest.value),
        base=np.zeros(1),
    )
    one = cw.condense(constant)
    assert (one.n_leaves, one.depth, one.n_nodes) == (1, 0, 1)
