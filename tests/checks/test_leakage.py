"""What each column predicts on its own."""

import numpy as np
import pytest

import clearwood as cw
from clearwood.checks import alone

RNG = np.random.default_rng(0)
X = RNG.normal(size=400)


def table(y, **columns):
    return cw.read({"x": X, "noise": RNG.normal(size=400), **columns, "y": y}, target="y")


def test_a_column_in_other_words_is_suspected():
    found = alone(table(X + RNG.normal(size=400), hidden=np.exp(X)))
    assert found.suspects == ()
    assert alone(table(X, hidden=np.exp(X))).suspects == ("x", "hidden")


def test_the_share_explained_is_that_of_the_signal():
    found = alone(table(2 * X + RNG.normal(size=400)))
    assert found["x"] == pytest.approx(0.8, abs=0.12)  # a tree is rougher than the line
    assert found["noise"] < 0.05


def test_levels_that_name_the_class_are_suspected():
    label = np.where(X > 0, "claim", "none")
    code = np.where(X > 0, "paid", "open")
    assert "code" in alone(table(label, code=code)).suspects


def test_levels_seen_once_explain_nothing():
    """A key that differs in every row is known by heart, and tells nothing about new rows."""
    keys = [f"k{k // 2}" for k in range(400)]
    found = alone(table(RNG.normal(size=400), keys=keys))
    assert found["keys"] < 0.1


def test_missing_values_and_dates_are_columns_like_others():
    day = np.datetime64("2024-01-01", "us") + np.arange(400) * np.timedelta64(1, "D")
    gaps = np.where(np.arange(400) % 3 == 0, np.nan, X)
    found = alone(table(np.arange(400.0), day=day, gaps=gaps))
    assert found.suspects == ("day",)
    assert np.isfinite(found["gaps"])


def test_the_seed_fixes_it():
    data = table(X + RNG.normal(size=400))
    assert np.array_equal(alone(data, seed=3).explained, alone(data, seed=3).explained)


def test_a_table_without_a_target_is_refused():
    with pytest.raises(cw.InputError, match="no target"):
        alone({"x": X})
