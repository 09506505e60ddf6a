"""The dispersion of counts: right for Poisson's law and beyond it, whatever the unit."""

import numpy as np
import pytest

from clearwood._shared.dispersion import count_dispersion


def drawn(n, mean, extra, seed):
    rng = np.random.default_rng(seed)
    frailty = rng.gamma(1 / extra, extra, n) if extra else 1.0
    return rng.poisson(mean * frailty, n).astype(float)


def test_equal_means_give_pearsons_statistic():
    y = drawn(500, 2.0, 0.5, 0)
    ones = np.ones(500)
    mean = np.full(500, y.mean())
    pearson = float(((y - mean) ** 2 / mean).sum()) / 499
    found = count_dispersion(y, mean, ones, ones, taken=float(y.mean()))
    assert found.value == pytest.approx(pearson)
    assert found.freedom == pytest.approx(499)


@pytest.mark.parametrize("level", [0.03, 0.3, 3.0])
def test_the_estimate_is_as_exact_for_sparse_counts_as_for_large_ones(level):
    found = []
    for seed in range(200):
        y = drawn(400, level, 0.0, [seed, 1])
        ones = np.ones(400)
        mean = np.full(400, max(y.mean(), 1 / 400))
        found.append(float(((y - mean) ** 2).sum()) / float(mean.sum()))
        assert count_dispersion(y, mean, ones, ones).value >= 1
    assert np.mean(found) == pytest.approx(1.0, abs=0.03)
    assert np.std(found) == pytest.approx(np.sqrt(2 / 400), rel=0.25)


def test_repeated_rows_and_units_of_exposure():
    y = drawn(100, 2.0, 1.0, 0)
    ones, mean = np.ones(100), np.full(100, 2.0)
    times = np.random.default_rng(1).integers(0, 4, 100)
    repeated = np.repeat(np.arange(100), times)
    plain = count_dispersion(y[repeated], mean[repeated], ones[repeated], ones[repeated])
    assert count_dispersion(y, mean, times.astype(float), ones).value == pytest.approx(plain.value)
    days = 365 * ones
    by_day = count_dispersion(y / days, mean / days, days, days)
    assert by_day.value == pytest.approx(count_dispersion(y, mean, ones, ones).value)


def test_amounts_have_the_dispersion_of_their_unit():
    y = np.random.default_rng(0).gamma(4.0, 0.05, 300)
    ones, mean = np.ones(300), np.full(300, y.mean())
    one, other = (count_dispersion(k * y, k * mean, ones, ones).value for k in (1.0, 1e-3))
    assert one < 0.2
    assert other == pytest.approx(1e-3 * one)


def test_a_fit_that_uses_up_all_rows_says_nothing():
    y = np.array([1.0, 2.0])
    found = count_dispersion(y, y, np.ones(2), np.ones(2), taken=3.0)
    assert (found.value, found.freedom) == (1.0, np.inf)
