"""Squared error as bias, variance and noise."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import clearwood as cw
from clearwood.benchmarking import bias_variance
from clearwood.benchmarking.diagnostics.bias_variance import split_squared_error

arrays = st.integers(1, 6).flatmap(
    lambda rows: st.tuples(
        st.lists(st.floats(-50, 50), min_size=rows, max_size=rows),
        st.lists(
            st.lists(st.floats(-50, 50), min_size=rows, max_size=rows), min_size=1, max_size=5
        ),
        st.lists(st.floats(-50, 50), min_size=rows, max_size=rows),
    )
)


@settings(max_examples=80, deadline=None)
@given(arrays)
def test_squared_error_is_bias_and_variance_exactly(drawn):
    y, predictions, truth = drawn
    plain = split_squared_error(y, predictions)
    np.testing.assert_allclose(plain["risk"], plain["bias"] + plain["variance"], atol=1e-9)
    known = split_squared_error(y, predictions, truth)
    parts = known["noise"] + known["bias"] + known["variance"] + known["cross"]
    np.testing.assert_allclose(known["risk"], parts, atol=1e-9)
    np.testing.assert_allclose(known["risk"], plain["risk"], atol=1e-9)


def test_parts_of_a_learner_add_up(diabetes):
    result = bias_variance("tree", diabetes, samples=10)
    assert result.risk == pytest.approx(result.bias + result.variance, rel=1e-12)
    assert np.isnan(result.noise)
    assert result.to_json()["noise"] is None


def test_probabilities_are_taken_apart_as_brier_score(wine):
    result = bias_variance("tree", wine, samples=10)
    assert result.risk == pytest.approx(result.bias + result.variance, rel=1e-12)
    assert 0 < result.risk < 1


def test_with_a_truth_a_simple_learner_is_biased_and_a_complex_one_varies():
    truth = cw.datasets.insurance_truth()
    data = cw.datasets.insurance(1500, seed=3)
    constant = bias_variance("baseline", data, samples=10, truth=truth.mean)
    tree = bias_variance("tree", data, samples=10, truth=truth.mean)
    for result in (constant, tree):
        parts = result.noise + result.bias + result.variance + result.cross
        assert result.risk == pytest.approx(parts, rel=1e-12)
    assert constant.bias > 10 * constant.variance
    assert tree.variance > 10 * constant.variance
    assert constant.noise == pytest.approx(tree.noise)
