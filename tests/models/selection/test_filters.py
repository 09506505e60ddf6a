"""Scores of single columns against scipy, scikit-learn and brute force."""

import numpy as np
import pytest
from scipy import stats
from sklearn.feature_selection import chi2 as chi2_of_indicators
from sklearn.feature_selection import (
    f_classif,
    f_regression,
    mutual_info_classif,
    mutual_info_regression,
)
from sklearn.metrics import mutual_info_score

from clearwood.models.selection import filters
from clearwood.models.selection.filters import (
    anova,
    chi2,
    correlation,
    mrmr,
    mutual_information,
    relief,
)
from clearwood.table import Task


@pytest.fixture
def numbers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    return X, X[:, 0] + 0.3 * X[:, 1] + rng.normal(size=120)


def _named(X):
    return {f"x{j}": column for j, column in enumerate(X.T)}


def test_anova_of_numbers_is_that_of_scikit_learn(numbers, candidates_of):
    X, y = numbers
    np.testing.assert_allclose(
        anova(candidates_of(_named(X), y)), -np.log10(f_regression(X, y)[1]), rtol=1e-8
    )
    classes = np.digitize(y, [-0.5, 0.8])
    np.testing.assert_allclose(
        anova(candidates_of(_named(X), classes, task=Task.MULTICLASS)),
        -np.log10(f_classif(X, classes)[1]),
        rtol=1e-8,
    )


def test_anova_of_a_category_is_the_one_way_analysis_of_variance(candidates_of):
    rng = np.random.default_rng(1)
    town = rng.choice(list("abcd"), 90)
    y = rng.normal(size=90) + (town == "b")
    _, p = stats.f_oneway(*(y[town == level] for level in "abcd"))
    (score,) = anova(candidates_of({"town": town}, y))
    assert score == pytest.approx(-np.log10(p))


def test_correlation_is_absolute_and_that_of_a_category_the_correlation_ratio(candidates_of):
    rng = np.random.default_rng(2)
    x, town = rng.normal(size=80), rng.choice(list("abc"), 80)
    y = -x + (town == "a") + rng.normal(size=80)
    means = {level: y[town == level].mean() for level in "abc"}
    ratio = np.std([means[level] for level in town]) / np.std(y)
    expected = [abs(np.corrcoef(x, y)[0, 1]), ratio]
    np.testing.assert_allclose(correlation(candidates_of({"x": x, "town": town}, y)), expected)


def test_chi2_is_the_test_of_the_contingency_table(candidates_of):
    rng = np.random.default_rng(3)
    town, y = rng.choice(list("abc"), 200), rng.integers(0, 2, 200)
    table = [[np.sum((town == level) & (y == k)) for k in (0, 1)] for level in "abc"]
    p = stats.chi2_contingency(table, correction=False).pvalue
    (score,) = chi2(candidates_of({"town": town}, y, task=Task.BINARY))
    assert score == pytest.approx(-np.log10(p))


def test_chi2_is_the_sum_of_scikit_learns_over_the_indicators_of_levels(candidates_of):
    rng = np.random.default_rng(12)
    town, y = rng.choice(list("abcd"), 150), rng.choice(3, 150)
    statistics, _ = chi2_of_indicators(town[:, None] == list("abcd"), y)
    (score,) = chi2(candidates_of({"town": town}, y, task=Task.MULTICLASS))
    assert score == pytest.approx(-np.log10(stats.chi2.sf(statistics.sum(), 6)))


@pytest.mark.parametrize("score", [anova, chi2])
def test_columns_whose_p_values_vanish_are_still_told_apart(score, candidates_of):
    rng = np.random.default_rng(14)
    y = rng.normal(size=6000)
    columns = {f"x{j}": y + noise * rng.normal(size=6000) for j, noise in enumerate((0.8, 0.5, 0))}
    scores = score(candidates_of(columns, y))
    assert np.isfinite(scores).all()
    assert 300 < scores[0] < scores[1] < scores[2]


def test_tails_beyond_the_smallest_number_continue_those_of_scipy():
    ratio, first, second = np.array([220.0, 60.0]), np.array([1.0, 6.0]), np.array([3000.0, 4000.0])
    exact = stats.f.logsf(ratio, first, second)
    np.testing.assert_allclose(filters._log_f_tail(ratio, first, second), exact, atol=0.1)
    statistic, freedom = np.array([900.0, 1000.0]), np.array([1.0, 12.0])
    exact = stats.chi2.logsf(statistic, freedom)
    np.testing.assert_allclose(filters._log_chi2_tail(statistic, freedom), exact, atol=0.1)


@pytest.mark.parametrize("task", [Task.MULTICLASS, Task.REGRESSION])
def test_mutual_information_is_that_of_scikit_learn(task, numbers, candidates_of):
    X, y = numbers
    town = np.random.default_rng(13).choice(list("abc"), len(y))
    codes = np.array([{"a": 0, "b": 1, "c": 2}[level] for level in town])
    estimate = mutual_info_regression
    if task is Task.MULTICLASS:
        y, estimate = np.digitize(y, [-0.5, 0.8]), mutual_info_classif
    expected = estimate(
        np.column_stack([X, codes]), y, discrete_features=[4], random_state=0, n_neighbors=3
    )
    these = candidates_of({**_named(X), "town": town}, y, task=task)
    np.testing.assert_allclose(mutual_information(these), expected, atol=1e-9)


@pytest.mark.parametrize("score", [anova, correlation, chi2])
def test_whole_weights_are_repeated_rows(score, candidates_of):
    rng = np.random.default_rng(4)
    times = rng.integers(0, 4, 100)
    columns = {"x": rng.normal(size=100), "town": rng.choice(list("abc"), 100)}
    y = columns["x"] + rng.normal(size=100)
    weighted = candidates_of(columns, y, weight=times.astype(float))
    repeated = candidates_of({k: np.repeat(v, times) for k, v in columns.items()}, y.repeat(times))
    np.testing.assert_allclose(score(weighted), score(repeated), rtol=1e-8)


def test_mutual_information_finds_a_parabola_that_has_no_correlation(candidates_of):
    rng = np.random.default_rng(5)
    x, other = rng.uniform(-1, 1, (2, 400))
    these = candidates_of({"x": x, "other": other}, x**2 + 0.05 * rng.normal(size=400))
    assert mutual_information(these)[0] > 10 * max(mutual_information(these)[1], 0.02)
    assert correlation(these)[0] < 0.15


def test_rows_of_small_weight_hardly_count_for_mutual_information(candidates_of):
    rng = np.random.default_rng(6)
    x = rng.uniform(-1, 1, 600)
    is_noise = np.arange(600) >= 300
    y = np.where(is_noise, rng.uniform(-1, 1, 600), x)
    weight = np.where(is_noise, 0.01, 1.0)
    (all_rows,) = mutual_information(candidates_of({"x": x}, y))
    (good_rows,) = mutual_information(candidates_of({"x": x}, y, weight=weight))
    assert good_rows > 2 * all_rows


def _relief_by_loops(X, y, k):
    """ReliefF for classes, one pair of rows at a time."""
    n, p = X.shape
    scaled = X / (X.max(0) - X.min(0))
    shares = {c: np.mean(y == c) for c in np.unique(y)}
    weights = np.zeros(p)
    for i in range(n):
        for c, share in shares.items():
            rows = [j for j in range(n) if y[j] == c and j != i]
            rows = sorted(rows, key=lambda j: np.abs(scaled[i] - scaled[j]).sum())[:k]
            apart = np.mean([np.abs(scaled[i] - scaled[j]) for j in rows], axis=0)
            weights += (-1 if c == y[i] else share / (1 - shares[y[i]])) * apart / n
    return weights


def test_relief_is_that_of_loops_over_rows(candidates_of):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] * X[:, 1] > 0).astype(int) + (X[:, 2] > 1)
    these = candidates_of(_named(X), y, task=Task.MULTICLASS)
    np.testing.assert_allclose(relief(these, 5), _relief_by_loops(X, y, 5), atol=1e-12)


@pytest.mark.parametrize("task", [Task.BINARY, Task.REGRESSION])
def test_relief_finds_columns_that_matter_only_together(task, candidates_of):
    rng = np.random.default_rng(8)
    X = rng.uniform(-1, 1, size=(500, 5))
    town = rng.choice(["n", "s"], 500)
    sign = np.sign(X[:, 0]) * np.where(town == "n", 1, -1)
    y = (sign > 0).astype(int) if task is Task.BINARY else sign + 0.1 * rng.normal(size=500)
    scores = relief(candidates_of({**_named(X), "town": town}, y, task=task), 10)
    assert set(np.argsort(scores)[-2:]) == {0, 5}


def test_mrmr_chooses_as_a_search_by_hand_does(candidates_of):
    rng = np.random.default_rng(9)
    codes = rng.integers(0, 3, size=(300, 4))
    codes[:, 1] = np.where(rng.random(300) < 0.9, codes[:, 0], codes[:, 1])
    y = (codes[:, 0] + codes[:, 2] > 2).astype(int)
    names = np.array(list("pqr"))
    these = candidates_of(_named(names[codes]), y, task=Task.BINARY)

    def corrected(a, b):
        chance = (len(np.unique(a)) - 1) * (len(np.unique(b)) - 1) / (2 * 300)
        return mutual_info_score(a, b) - chance

    chosen = []
    while len(chosen) < 3:
        scores = {
            j: corrected(codes[:, j], y)
            - np.mean([corrected(codes[:, j], codes[:, k]) for k in chosen] or [0])
            for j in range(4)
            if j not in chosen
        }
        chosen.append(max(scores, key=scores.get))
    assert mrmr(these, 3)[1].tolist() == chosen
    assert set(chosen[:2]) == {0, 2}  # and not the near copy of the first
