"""Weights of rows: whole weights are repeated rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearwood import InputError
from clearwood._shared.weights import counted, effective, quantiles

LEVELS = [0.0, 0.05, 0.25, 0.5, 0.9, 1.0]


@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.integers(0, 4)), min_size=1, max_size=40))
def test_quantiles_with_whole_weights_are_those_of_repeated_rows(rows):
    values, weights = np.transpose([*rows, (0.0, 1)])
    repeated = np.repeat(values, weights.astype(int))
    expected = np.quantile(repeated, LEVELS, method="averaged_inverted_cdf")
    np.testing.assert_allclose(quantiles(values, LEVELS, weights), expected, atol=1e-300)
    np.testing.assert_allclose(quantiles(values, LEVELS, 0.1 * weights), expected, atol=1e-300)


def test_rows_of_weight_zero_do_not_count():
    rows, weights = counted([0.0, 2.0, 0.0, 1.5], 4)
    assert rows.tolist() == [1, 3]
    assert weights.tolist() == [2.0, 1.5]


@pytest.mark.parametrize("weights", [[1.0], [1.0, -1.0], [1.0, np.nan], [0.0, 0.0]])
def test_weights_that_are_none_are_refused(weights):
    with pytest.raises(InputError) as error:
        counted(weights, 2)
    assert error.value.parameter == "weights"


def test_equal_weights_are_as_exact_as_their_number():
    assert effective(np.full(7, 3.0)) == pytest.approx(7)
