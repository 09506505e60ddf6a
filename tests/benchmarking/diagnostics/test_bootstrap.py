import json

import numpy as np
import pytest
from joblib import parallel_config

import clearwood as cw
from clearwood import InputError
from clearwood.benchmarking import bootstrap_risk
from clearwood.benchmarking.diagnostics.bootstrap import bootstrap_estimates, no_information_risk
from clearwood.losses import find_loss


def noise_table(n=80, seed=0):
    """Two classes that have nothing to do with the features."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.permutation(n) < n // 2, "a", "b")
    return cw.read({"x": rng.normal(size=n), "z": rng.normal(size=n), "y": y}, target="y")


def test_without_information_only_632_plus_reports_chance():
    # one neighbour repeats its training rows perfectly and knows nothing
    learner = cw.learner("knn", n_neighbors=1)
    several = [
        bootstrap_risk(learner, noise_table(seed=seed), loss="zero-one", samples=30)
        for seed in range(6)
    ]
    for result in several:
        assert result.training == 0.0
        assert result.no_information == pytest.approx(0.5)
        assert result.weighted == pytest.approx(0.632 * result.leave_one_out)
    assert np.mean([result.weighted for result in several]) < 0.35
    assert np.mean([result.overfitting for result in several]) > 0.9
    assert 0.44 < np.mean([result.corrected for result in several]) <= 0.5


def by_hand(y, counts):
    """Leave-one-out bootstrap of the training mean, squared loss, written out."""
    losses = np.full(counts.shape, np.nan)
    for sample, times in enumerate(counts):
        mean = (times * y).sum() / times.sum()
        losses[sample, times == 0] = (y[times == 0] - mean) ** 2
    rows = [np.mean(losses[counts[:, i] == 0, i]) for i in range(len(y))]
    return losses, np.mean(rows)


def drawn(n, samples, rng):
    return np.stack([np.bincount(rng.integers(0, n, n), minlength=n) for _ in range(samples)])


def test_estimates_are_those_written_out():
    rng = np.random.default_rng(1)
    y = rng.normal(size=12)
    counts = drawn(12, 40, rng)
    losses, expected = by_hand(y, counts)
    training = (y - y.mean()) ** 2
    pairs = np.mean([(a - y.mean()) ** 2 for a in y])
    result = bootstrap_estimates(counts, losses, training, pairs)
    assert result["leave_one_out"] == pytest.approx(expected)
    assert result["weighted"] == pytest.approx(0.368 * training.mean() + 0.632 * expected)


def test_without_overfitting_632_plus_is_632():
    result = bootstrap_estimates([[1, 0], [0, 1]], [[np.nan, 1.0], [1.0, np.nan]], [1.0, 1.0], 5.0)
    assert result["overfitting"] == 0.0
    assert result["corrected"] == pytest.approx(result["weighted"])


def test_632_plus_follows_efron_and_tibshirani():
    training, left_out, chance = 0.1, 0.4, 0.5
    result = bootstrap_estimates(
        [[1, 0], [0, 1]], [[np.nan, left_out], [left_out, np.nan]], [training] * 2, chance
    )
    rate = (left_out - training) / (chance - training)
    weighted = 0.368 * training + 0.632 * left_out
    extra = (left_out - training) * 0.368 * 0.632 * rate / (1 - 0.368 * rate)
    assert result["corrected"] == pytest.approx(weighted + extra)


def test_standard_error_is_about_the_spread_over_tables():
    rng = np.random.default_rng(2)
    estimates, errors = [], []
    for _ in range(150):
        y = rng.normal(size=40)
        counts = drawn(40, 300, rng)
        losses, _ = by_hand(y, counts)
        result = bootstrap_estimates(counts, losses, np.zeros(40), 10.0)
        estimates.append(result["leave_one_out"])
        errors.append(result["se"])
    assert 0.85 < np.mean(errors) / np.std(estimates) < 1.4


@pytest.mark.parametrize("n", [50, 2500])
def test_no_information_risk_is_that_of_pairs_at_random(n):
    rng = np.random.default_rng(3)
    y, predicted = rng.normal(size=n), rng.normal(size=n)
    result = no_information_risk(find_loss("absolute"), y, predicted)
    expected = np.abs(y[:, None] - predicted).mean()
    assert result == pytest.approx(expected, rel=1e-10 if n == 50 else 0.02)


def test_no_information_risk_of_probabilities_is_exact():
    y = np.array([0, 1, 1])
    p = np.array([[0.9, 0.1], [0.4, 0.6], [0.2, 0.8]])
    expected = np.mean([-np.log(p[j, y[i]]) for i in range(3) for j in range(3)])
    assert no_information_risk(find_loss("log"), y, p) == pytest.approx(expected)


def test_bagging_helps_an_unstable_learner_out_of_bag():
    data = cw.datasets.load("diabetes").head(200)
    result = bootstrap_risk(cw.learner("tree"), data, samples=40)
    assert result.out_of_bag < 0.9 * result.leave_one_out
    assert result.training < result.weighted < result.corrected < result.leave_one_out


@pytest.mark.parametrize("loss", ["log", "zero-one", "brier"])
def test_every_kind_of_prediction_can_be_bagged(loss):
    result = bootstrap_risk("logistic", cw.datasets.load("wine"), loss=loss, samples=5)
    assert 0 <= result.out_of_bag < result.no_information
    json.dumps(result.to_json(), allow_nan=False)


def test_workers_do_not_change_the_numbers():
    data = cw.datasets.load("diabetes").head(80)
    alone = bootstrap_risk("tree", data, samples=20)
    with parallel_config("threading", n_jobs=2):
        assert bootstrap_risk("tree", data, samples=20) == alone


def test_result_has_a_frame_and_words():
    result = bootstrap_risk("ols", cw.datasets.load("diabetes").head(60), samples=25)
    assert result.to_frame("dict")["estimate"][1] == "leave-one-out bootstrap"
    assert "±" in repr(result)


def test_several_learners_at_once_are_refused():
    with pytest.raises(InputError, match="there are 2 learners, but one is needed"):
        bootstrap_risk(["knn", "tree"], noise_table())
