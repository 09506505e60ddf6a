"""The losses that all packages share."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import mean_tweedie_deviance

import clearwood as cw
from clearwood.losses import LOSSES, default_loss, find_loss
from clearwood.table import Task

numbers = st.lists(st.floats(0.1, 100), min_size=3, max_size=20).map(np.array)


@pytest.mark.parametrize(
    ("name", "best"),
    [
        ("squared", np.mean),
        ("absolute", np.median),
        ("poisson", np.mean),
        ("gamma", np.mean),
        ("tweedie", np.mean),
        ("tweedie:1.9", np.mean),
        ("quantile:0.9", lambda y: np.quantile(y, 0.9, method="inverted_cdf")),
    ],
)
@given(y=numbers)
def test_the_mean_loss_is_smallest_at_what_the_loss_estimates(name, best, y):
    per_row = find_loss(name).per_row
    smallest = per_row(y, np.full(len(y), best(y))).mean()
    for factor in (0.7, 0.95, 1.05, 1.4):
        other = per_row(y, np.full(len(y), factor * best(y))).mean()
        assert smallest <= other + 1e-9 * max(1.0, abs(other))


@given(st.floats(0.01, 0.99), st.floats(0.01, 0.99))
@pytest.mark.parametrize("name", ["log", "brier"])
def test_strictly_proper_losses_prefer_the_true_probability(name, truth, other):
    per_row = find_loss(name).per_row

    def expected(p):
        rows = np.array([[1 - p, p]] * 2)
        return np.array([1 - truth, truth]) @ per_row(np.array([0, 1]), rows)

    assert expected(truth) <= expected(other) + 1e-12


def test_every_loss_has_a_name_of_its_own_and_titles():
    assert all(loss.name == name for name, loss in LOSSES.items())
    assert len({loss.title for loss in LOSSES.values()}) == len(LOSSES)
    assert find_loss("squared").risk_title == "mean squared error"
    assert find_loss("zero-one").risk_title == "error rate"


@pytest.mark.parametrize("task", list(Task))
def test_the_default_loss_can_be_used_for_its_task(task):
    assert task in default_loss(task).tasks


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("squred", "there is no loss 'squred'.*'squared'"),
        ("quantile:2", "quantile takes a level between 0 and 1"),
        ("huber:-1", "huber takes a positive number"),
        ("log:2", "log takes no number"),
    ],
)
def test_unknown_losses_and_numbers_are_refused(name, message):
    with pytest.raises(cw.InputError, match=message) as error:
        find_loss(name)
    assert (error.value.parameter, error.value.value) == ("loss", name)


def test_a_loss_that_does_not_suit_the_task_is_refused():
    with pytest.raises(cw.InputError, match=r"cannot be used for regression.*squared"):
        find_loss("log", task=Task.REGRESSION)


deviances = pytest.mark.parametrize(
    ("name", "power"), [("poisson", 1), ("tweedie", 1.5), ("tweedie:1.2", 1.2), ("gamma", 2)]
)


@deviances
def test_deviances_are_those_of_scikit_learn(name, power):
    rng = np.random.default_rng(0)
    y, mean = rng.gamma(1.0, 2.0, (2, 50))
    y = np.where(rng.random(50) < 0.3, 0.0, y) if power < 2 else y
    ours = find_loss(name).per_row(y, mean).mean()
    assert ours == pytest.approx(mean_tweedie_deviance(y, mean, power=power))


@deviances
@given(
    st.floats(0.05, 5.0),
    st.lists(st.floats(0.01, 1.0), min_size=2, max_size=4),
    st.floats(0.1, 10.0),
    st.floats(0.1, 10.0),
)
def test_parts_of_a_policy_have_the_difference_of_risks_of_the_whole(name, power, y, parts, a, b):
    """The total y over the exposure of all parts, against y shared among them in any way."""
    per_row, exposure = find_loss(name).per_row, np.array(parts)
    total = exposure.sum()
    totals = y * exposure[::-1] / total
    rates = totals / exposure

    def difference(rate, weights):
        means = (np.full(len(rate), mean) for mean in (a, b))
        one, two = (weights @ per_row(rate, mean) for mean in means)
        return one - two

    whole = difference(np.array([y / total]), np.array([total]))
    assert difference(rates, exposure) == pytest.approx(whole, rel=1e-7, abs=1e-9)


def test_an_event_that_was_predicted_to_be_impossible_has_a_large_finite_loss():
    losses = find_loss("poisson").per_row(np.array([1.0, 0.0]), np.zeros(2))
    assert 60 < losses[0] < 80
    assert losses[1] == 0


@pytest.mark.parametrize(
    ("name", "y", "message"),
    [
        ("gamma", [1.0, 0.0], "more than zero, but one is 0. Hint: use loss='tweedie', which"),
        ("gamma", [1.0, -2.0], "more than zero, but one is -2. Hint: use loss='squared'"),
        ("tweedie", [1.0, -2.0], "zero or more, but one is -2"),
    ],
)
def test_amounts_without_a_deviance_are_refused_with_a_loss_that_has_one(name, y, message):
    with pytest.raises(cw.InputError, match=message):
        find_loss(name).per_row(np.array(y), np.ones(2))
