"""Numbers as a network sees them."""

import numpy as np
import pytest

from clearwood.models.catalogue.network.plan import centre_and_spread


@pytest.mark.parametrize("rare", [1, 40])
@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-3.0, 5.0)])
def test_the_two_values_of_a_column_end_one_apart(rare, low, high):
    column = np.where(np.arange(200) < rare, high, low)
    centre, spread = centre_and_spread(column[:, None], np.ones(200))
    assert centre[0] == pytest.approx(column.mean())
    assert (high - low) / spread[0] == pytest.approx(1.0)


def test_three_values_are_divided_by_their_standard_deviation():
    column = np.arange(300) % 3.0
    _, spread = centre_and_spread(column[:, None], np.ones(300))
    assert spread[0] == pytest.approx(column.std())


def test_rows_without_weight_do_not_make_a_third_value():
    column, weight = np.array([0.0, 1.0, 0.0, 9.0]), np.array([1.0, 1.0, 1.0, 0.0])
    centre, spread = centre_and_spread(column[:, None], weight)
    assert centre[0] == pytest.approx(1 / 3)
    assert spread[0] == 1.0


def test_a_constant_column_is_divided_by_one():
    _, spread = centre_and_spread(np.full((5, 1), 0.1), np.array([0.3, 0.1, 0.7, 0.2, 0.9]))
    assert spread[0] == 1.0
