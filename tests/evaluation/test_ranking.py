"""Rankings against brute force over all pairs, and the influence of rows against differences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats
from sklearn.metrics import average_precision_score, roc_auc_score

from clearwood.evaluation import Estimate, Pairs, auc, bounds
from clearwood.evaluation.ranking import (
    average_precision,
    concentration,
    gini_of_auc,
    ks,
    ks_bounds,
    normalised,
    ranks_within,
    shares_below,
)


def sample(n=60, seed=0):
    """Scores with ties, classes, amounts with zeros, weights and two fits."""
    rng = np.random.default_rng(seed)
    score = np.round(rng.normal(size=n), 1)
    member = rng.random(n) < 1 / (1 + np.exp(-score))
    amount = rng.poisson(np.exp(score)).astype(float)
    weights = rng.uniform(0.2, 3.0, n)
    return score, member, amount, weights, rng.integers(0, 2, n)


def one_fit(n):
    return np.zeros(n, dtype=np.intp)


def test_auc_is_the_weighted_share_of_pairs_ranked_correctly_within_fits():
    score, member, _, weights, fits = sample()
    right = total = 0.0
    for i in np.flatnonzero(member):
        for j in np.flatnonzero(~member):
            if fits[i] == fits[j]:
                share = float(score[i] > score[j]) + 0.5 * float(score[i] == score[j])
                right += weights[i] * weights[j] * share
                total += weights[i] * weights[j]
    assert auc(member, score, fits, weights).value == pytest.approx(right / total)
    together = auc(member, score, one_fit(60), weights).value
    assert together == pytest.approx(roc_auc_score(member, score, sample_weight=weights))


def test_the_interval_of_the_auc_has_the_variance_of_delong():
    score, member, _, _, _ = sample(400)
    area = auc(member, score, one_fit(400), np.ones(400))
    yes, no = score[member], score[~member]
    wins = (yes[:, None] > no) + 0.5 * (yes[:, None] == no)
    variance = wins.mean(1).var(ddof=1) / len(yes) + wins.mean(0).var(ddof=1) / len(no)
    pairs = Pairs.of(member, score)
    low, high = bounds(Estimate(area.value, area.influence), pairs, 0.9)
    assert (high - low) / 2 == pytest.approx(stats.norm.ppf(0.95) * np.sqrt(variance), rel=0.02)


def test_gini_is_one_minus_twice_the_area_under_the_lorenz_curve():
    _, _, amount, weights, _ = sample()
    score = np.random.default_rng(1).normal(size=60)  # without ties the area is that of a polygon
    order = np.argsort(score)
    x = np.concatenate([[0], np.cumsum(weights[order])]) / weights.sum()
    y = np.concatenate([[0], np.cumsum((weights * amount)[order])]) / (weights * amount).sum()
    area = integrate.trapezoid(y, x)
    assert concentration(amount, score, weights).value == pytest.approx(1 - 2 * area)


def test_normalised_gini_of_two_classes_is_twice_the_auc_less_one():
    score, member, _, weights, _ = sample()
    truth = member.astype(float)
    relative = normalised(
        concentration(truth, score, weights), concentration(truth, truth, weights)
    )
    area = gini_of_auc(auc(member, score, one_fit(60), weights))
    assert relative.value == pytest.approx(area.value)
    assert relative.influence == pytest.approx(area.influence)


def test_average_precision_is_that_of_scikit_learn():
    score, member, _, weights, _ = sample()
    expected = average_precision_score(member, score, sample_weight=weights)
    assert average_precision(member, score, weights).value == pytest.approx(expected)


MEASURES = {
    "auc": lambda s, m, a, w, f: auc(m, s, f, w),
    "gini": lambda s, m, a, w, f: concentration(a, s, w),
    "normalised gini": lambda s, m, a, w, f: normalised(
        concentration(a, s, w), concentration(a, a, w)
    ),
    "average precision": lambda s, m, a, w, f: average_precision(m, s, w),
}


@pytest.mark.parametrize("name", MEASURES)
def test_influence_is_the_derivative_with_respect_to_the_weight_of_a_row(name):
    score, member, amount, weights, fits = sample()
    estimate = MEASURES[name](score, member, amount, weights, fits)
    step = 1e-6
    for row in range(0, 60, 7):
        more, less = weights.copy(), weights.copy()
        more[row] += step
        less[row] -= step
        first, second = (
            MEASURES[name](score, member, amount, moved, fits).value for moved in (more, less)
        )
        derivative = weights.sum() * (first - second) / (2 * step)
        assert estimate.influence[row] == pytest.approx(derivative, abs=1e-5)
    assert np.average(estimate.influence, weights=weights) == pytest.approx(0, abs=1e-10)


def test_ks_is_the_two_sample_statistic():
    rng = np.random.default_rng(0)
    truth = rng.random(300) < 0.3
    score = rng.normal(size=300) + truth
    value, level = ks(Pairs.of(truth, score))
    expected = stats.ks_2samp(score[~truth], score[truth], alternative="greater")
    assert value == pytest.approx(expected.statistic)
    assert level == pytest.approx(expected.statistic_location)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1000))
def test_a_constant_score_ranks_nothing(seed):
    rng = np.random.default_rng(seed)
    member, weights = rng.random(30) < 0.5, rng.uniform(0.5, 2, 30)
    member[:2] = [True, False]
    score = np.full(30, 0.3)
    pairs = Pairs.of(member, score, weights)
    area = auc(member, score, one_fit(30), weights)
    assert area.value == pytest.approx(0.5)
    assert bounds(area, pairs, 0.9) == pytest.approx((0.5, 0.5))
    assert ks(pairs)[0] == pytest.approx(0.0, abs=1e-12)
    assert concentration(member.astype(float), score, weights).value == pytest.approx(0, abs=1e-12)


def test_a_perfect_ranking_has_an_interval_that_few_rows_make_wide():
    for n in (10, 1000):
        member = np.arange(n) >= n // 2
        score = np.arange(n, dtype=float)
        pairs = Pairs.of(member, score)
        area = auc(member, score, one_fit(n), np.ones(n))
        low, high = bounds(area, pairs, 0.9)
        assert (area.value, high) == (1.0, 1.0)
        assert low == pytest.approx((n // 2) / (n // 2 + stats.norm.ppf(0.95) ** 2))
        below, above = ks_bounds(pairs, 0.9)
        assert above == 1.0
        assert below < 1.0


def test_ranks_are_within_fits_and_scores_stay_where_there_is_one():
    score = np.array([1.0, 2.0, 10.0, 20.0])
    ranks = ranks_within(score, np.array([0, 0, 1, 1]), np.ones(4))
    assert ranks.tolist() == [0.25, 0.75, 0.25, 0.75]
    assert ranks_within(score, np.zeros(4, dtype=np.intp), np.ones(4)) is score
    assert shares_below(score, np.ones(4), np.array([10.0])) == pytest.approx([0.625])
