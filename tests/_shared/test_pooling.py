"""Rubin's rules, against numbers that follow by hand and by the limits of the formulas."""

import numpy as np
import pytest
from scipy import stats

from clearwood._shared.pooling import pool, pooled_test


def test_equal_estimates_have_the_variance_within_tables():
    joined = pool(np.ones((5, 2)), np.full((5, 2), 0.25), np.inf)
    np.testing.assert_allclose(joined.standard_errors, 0.5)
    np.testing.assert_array_equal(joined.unknown, 0.0)
    assert np.isinf(joined.freedom).all()


def test_degrees_of_freedom_lie_below_those_without_gaps():
    """Barnard and Rubin (1999): below (m - 1) / λ², and below the complete-data freedom."""
    rng = np.random.default_rng(0)
    values, variances = rng.normal(size=(10, 50)), rng.gamma(4.0, size=(10, 50))
    few, many = pool(values, variances, 20.0), pool(values, variances, np.inf)
    share = 1.1 * values.var(axis=0, ddof=1) / many.standard_errors**2
    np.testing.assert_allclose(many.freedom, 9 / share**2)
    assert (few.freedom < np.minimum(20.0, many.freedom)).all()
    known = 21 / 23 * 20 * (1 - share)
    np.testing.assert_allclose(1 / few.freedom, 1 / many.freedom + 1 / known)
    assert ((few.unknown > share) & (few.unknown < 1)).all()


def test_one_coefficient_is_tested_as_by_its_interval():
    rng = np.random.default_rng(1)
    values, variances = rng.normal(1.0, 0.3, (8, 1)), rng.gamma(4.0, 0.1, (8, 1))
    joined = pool(values, variances, 40.0)
    _, rank, p_value = pooled_test(values, variances[:, :, None], 40.0)
    t = joined.values / joined.standard_errors
    assert rank == 1
    assert p_value == pytest.approx(2 * stats.t.sf(abs(t[0]), joined.freedom[0]))


@pytest.mark.parametrize("freedom", [np.inf, 400.0])
def test_p_values_of_several_coefficients_are_uniform_without_an_effect(freedom):
    """Tables whose true variances between and within are known."""
    rng = np.random.default_rng(2)
    m, k, rounds = 10, 3, 2000
    p_values = []
    for _ in range(rounds):
        # the mean of infinitely many tables varies by within + between
        centre = rng.normal(0, np.sqrt(1.0 + 0.5), k)
        values = centre + rng.normal(0, np.sqrt(0.5), (m, k))
        p_values.append(pooled_test(values, np.stack([np.eye(k)] * m), freedom)[2])
    for level in (0.05, 0.1, 0.5):
        error = np.sqrt(level * (1 - level) / rounds)
        assert abs(np.mean(np.array(p_values) < level) - level) < 4 * error


def test_more_gaps_than_rows_still_give_a_p_value():
    rng = np.random.default_rng(3)
    values = rng.normal(size=(3, 2)) * 10
    statistic, rank, p_value = pooled_test(values, np.stack([np.eye(2)] * 3), 8.0)
    assert statistic >= 0
    assert rank == 2
    assert 0 < p_value <= 1
