"""Parts of sums, told from what rounding leaves."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from clearwood._shared.rounding import without_rounding

sizes = st.floats(1e-12, 1e12)


@given(sizes, st.integers(2, 40), st.integers(0, 2**32 - 1))
def test_what_a_sum_leaves_of_nothing_is_zero_whatever_its_size(size, n, seed):
    numbers = size * np.random.default_rng(seed).normal(size=n)
    left = float(numbers.sum() - numbers[::-1].sum())
    parts = without_rounding([size, left, -size])
    assert parts.tolist() == [size, 0.0, -size]


@given(sizes)
def test_small_parts_that_are_not_rounding_stay(size):
    assert without_rounding([size, 1e-9 * size], size).tolist() == [size, 1e-9 * size]


def test_each_row_and_output_has_its_own_size():
    parts = np.array([[[1.0, 1e-16], [1e-16, 1e-16]], [[1e-16, 1.0], [1e-16, 1.0]]])
    expected = [[[1, 1e-16], [0, 1e-16]], [[1e-16, 1], [1e-16, 1]]]
    assert without_rounding(parts, axis=1).tolist() == expected
    assert without_rounding(parts[:, :, 0], 1.0, axis=1).tolist() == [[1, 0], [0, 0]]
