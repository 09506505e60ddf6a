"""The losses that all packages share."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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
