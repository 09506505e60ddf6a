"""Columns that predict the target by themselves."""

import numpy as np
import pytest

import clearwood as cw
from clearwood.checks import leakage

N_ROWS = 400


def normal(seed):
    return np.random.default_rng(seed).normal(size=N_ROWS)


@pytest.fixture
def x():
    return normal(0)


@pytest.fixture
def table(x):
    """Make a table with the column x, noise, the target y and further columns."""

    def make(y, **columns):
        return cw.read({"x": x, "noise": normal(1), **columns, "y": y}, target="y")

    return make


def test_a_transformed_copy_of_the_target_is_suspected(x, table):
    assert leakage(table(x, hidden=np.exp(x))).suspects == ("x", "hidden")


def test_a_noisy_signal_is_not_suspected(x, table):
    assert leakage(table(x + normal(2), hidden=np.exp(x))).suspects == ()


def test_the_share_explained_is_that_of_the_signal(x, table):
    result = leakage(table(2 * x + normal(2)))
    assert result["x"] == pytest.approx(0.8, abs=0.12)  # a tree is rougher than the line
    assert result["noise"] < 0.05


def test_levels_that_name_the_class_are_suspected(x, table):
    label = np.where(x > 0, "claim", "none")
    code = np.where(x > 0, "paid", "open")
    assert "code" in leakage(table(label, code=code)).suspects


def test_levels_of_two_rows_each_explain_nothing(table):
    """A key memorises training rows and does not predict held-out ones."""
    keys = [f"k{k // 2}" for k in range(N_ROWS)]
    assert leakage(table(normal(2), keys=keys))["keys"] < 0.1


def test_missing_values_and_dates_are_columns_like_others(x, table):
    day = np.datetime64("2024-01-01", "us") + np.arange(N_ROWS) * np.timedelta64(1, "D")
    gaps = np.where(np.arange(N_ROWS) % 3 == 0, np.nan, x)
    result = leakage(table(np.arange(float(N_ROWS)), day=day, gaps=gaps))
    assert result.suspects == ("day",)
    assert np.isfinite(result["gaps"])


def test_the_seed_fixes_the_result(x, table):
    data = table(x + normal(2))
    first, second = leakage(data, seed=3), leakage(data, seed=3)
    assert np.array_equal(first.explained, second.explained)


def test_json_has_the_suspects_and_the_frame_starts_with_the_best_column(x, table):
    result = leakage(table(x))
    assert result.to_json()["suspects"] == ["x"]
    assert result.to_frame("dict")["column"][0] == "x"


def test_a_table_without_a_target_is_refused(x):
    with pytest.raises(cw.InputError, match="no target") as error:
        leakage({"x": x})
    assert error.value.parameter == "target"
