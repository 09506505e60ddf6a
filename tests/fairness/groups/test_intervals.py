"""Intervals of shares, means, differences and ratios hold the truth as often as they promise."""

import numpy as np
import pytest
from scipy import stats

from clearwood.evaluation import Mean
from clearwood.fairness.groups.intervals import (
    Spread,
    difference,
    mean_of,
    observed_over_expected,
    ratio,
    share_of,
)

SHARES = (0.003, 0.01, 0.03, 0.07, 0.15, 0.3, 0.5, 0.8, 0.95, 0.99)
CONFIDENCE = 0.9
LEAST = 0.87


def spreads(n: int) -> list[Spread]:
    """The interval for every number of selected rows of a group."""
    return [
        share_of(Mean.of(np.r_[np.ones(k), np.zeros(n - k)], None, None), CONFIDENCE)
        for k in range(n + 1)
    ]


def exact_coverage(n_first, n_second, combine, truth_of):
    """The least coverage over all pairs of shares, from the binomial laws of both counts."""
    table = [[combine(a, b) for b in spreads(n_second)] for a in spreads(n_first)]
    low = np.array([[cell.low for cell in row] for row in table])
    high = np.array([[cell.high for cell in row] for row in table])
    low, high = np.nan_to_num(low, nan=-np.inf), np.nan_to_num(high, nan=np.inf, posinf=np.inf)
    least = 1.0
    for p in SHARES:
        of_first = stats.binom.pmf(np.arange(n_first + 1), n_first, p)
        for q in SHARES:
            of_second = stats.binom.pmf(np.arange(n_second + 1), n_second, q)
            truth = truth_of(p, q)
            holds = (low <= truth + 1e-12) & (high >= truth - 1e-12)
            least = min(least, float(of_first @ holds @ of_second))
    return least


@pytest.mark.parametrize("n", [10, 30, 100, 300])
def test_single_shares_cover_exactly(n):
    of_count = spreads(n)
    low, high = np.array([cell.low for cell in of_count]), np.array([c.high for c in of_count])
    for share in np.r_[np.linspace(0.003, 0.1, 98), np.linspace(0.1, 0.997, 180)]:
        holds = (low <= share) & (share <= high)
        assert stats.binom.pmf(np.arange(n + 1), n, share) @ holds >= LEAST


@pytest.mark.parametrize(("n_first", "n_second"), [(10, 10), (10, 100), (30, 30), (30, 100)])
def test_ratios_of_shares_cover_exactly(n_first, n_second):
    assert exact_coverage(n_first, n_second, ratio, lambda p, q: p / q) >= LEAST


@pytest.mark.parametrize(("n_first", "n_second"), [(10, 10), (10, 100), (30, 30), (30, 100)])
def test_differences_of_shares_cover_exactly(n_first, n_second):
    assert exact_coverage(n_first, n_second, difference, lambda p, q: p - q) >= LEAST


@pytest.mark.parametrize("spread_of_log", [0.3, 0.8])
@pytest.mark.parametrize(("n_first", "n_second"), [(30, 30), (30, 500)])
def test_ratios_of_mean_predictions_cover(spread_of_log, n_first, n_second):
    rng = np.random.default_rng(0)
    held = 0
    for _ in range(600):
        first, second = (
            mean_of(np.exp(rng.normal(0, spread_of_log, n)), np.ones(n), None, CONFIDENCE)
            for n in (n_first, n_second)
        )
        result = ratio(first, second)
        held += result.low <= 1 <= result.high
    assert held / 600 >= LEAST


def _counts(rng, expected):
    return rng.poisson(expected).astype(float)


def _claims(rng, expected):
    """Amounts of compound Poisson claims: most rows have none."""
    counts = rng.poisson(expected)
    return np.where(counts > 0, rng.gamma(2.0 * np.maximum(counts, 1), 0.5), 0.0)


@pytest.mark.parametrize("draw", [_counts, _claims])
@pytest.mark.parametrize(("n", "mean"), [(30, 0.1), (100, 0.03), (300, 0.02), (30, 2.0)])
def test_observed_over_expected_covers(draw, n, mean):
    rng = np.random.default_rng(3)
    held = 0
    for _ in range(600):
        expected = mean * np.exp(rng.normal(0, 0.4, 4 * n))
        observed = draw(rng, expected)
        total = observed.sum()
        factor = total / expected.sum()
        dispersion = ((observed - factor * expected) ** 2).sum() / total if total else 1.0
        result = observed_over_expected(
            observed[:n], expected[:n], np.ones(n), None, CONFIDENCE, dispersion=dispersion
        )
        held += result.low <= 1 <= result.high
    assert held / 600 >= LEAST


def test_whole_weights_are_repeated_rows():
    rng = np.random.default_rng(1)
    selected = (rng.random(60) < 0.3).astype(float)
    weights = rng.integers(1, 4, 60).astype(float)
    repeated = np.repeat(np.arange(60), weights.astype(int))
    by_weight = share_of(Mean.of(selected, weights, None), CONFIDENCE)
    by_unit = share_of(Mean.of(selected[repeated], None, repeated), CONFIDENCE)
    assert by_weight == by_unit


def test_a_ratio_to_a_group_without_any_selected_row_has_no_upper_end():
    some, none = (
        share_of(Mean.of(np.array(x), None, None), 0.9) for x in ([1.0, 0] * 20, [0.0] * 40)
    )
    result = ratio(some, none)
    assert np.isnan(result.value)
    assert result.high == np.inf
    assert result.low > 1


def test_the_inverse_of_a_ratio_has_the_inverse_ends():
    first, second = Spread(0.4, 0.3, 0.55), Spread(0.5, 0.45, 0.6)
    there, back = ratio(first, second), ratio(second, first)
    assert there.low == pytest.approx(1 / back.high)
    assert there.high == pytest.approx(1 / back.low)


def test_huge_predictions_have_finite_intervals():
    values = np.array([1e300, 2e300, 3e300])
    assert np.isfinite(mean_of(values / 1e10, np.ones(3), None, 0.9).high)


@pytest.mark.parametrize(
    ("draw", "truth"),
    [
        (lambda rng, n: rng.poisson(0.05, n), 0.05),
        (lambda rng, n: rng.negative_binomial(0.5, 0.625, n), 0.3),
        (lambda rng, n: rng.binomial(1, 0.2, n) * rng.gamma(1.0, 2.0, n), 0.4),
    ],
)
@pytest.mark.parametrize("n", [40, 150])
def test_rates_and_amounts_with_zeros_are_covered_on_either_side(draw, truth, n):
    """On the scale of the mean itself, ends were below 0 and a skewed mean missed above it."""
    rng = np.random.default_rng(n)
    found = [mean_of(draw(rng, n).astype(float), np.ones(n), None, 0.9) for _ in range(500)]
    known = [one for one in found if one.value > 0]
    assert all(one.low > 0 for one in known)
    assert sum(one.low <= truth <= one.high for one in known) >= 0.86 * len(known)
    assert sum(truth > one.high for one in known) <= 0.1 * len(known)


def test_nothing_observed_has_no_interval_of_no_width():
    none = mean_of(np.zeros(30), np.ones(30), None, 0.9)
    assert none.value == 0
    assert np.isnan([none.low, none.high]).all()
