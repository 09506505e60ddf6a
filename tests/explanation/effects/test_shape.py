"""The shape of an effect in words."""

import numpy as np
import pytest

import clearwood as cw
from clearwood.explanation.effects.shape import shape_of

X = np.linspace(-1, 1, 80)[:, None]


@pytest.mark.parametrize(
    ("function", "trend"),
    [
        (lambda x: x**3, "rises"),
        (lambda x: -np.exp(x), "falls"),
        (lambda x: 1 - x**2, "peaks"),
        (lambda x: x**2, "dips"),
        (lambda x: np.sin(12 * x), "varies"),
        (lambda x: 0 * x + 3, "flat"),
    ],
)
def test_curves_are_named_by_what_they_do(function, trend):
    effect = cw.effect(lambda X: function(X[:, 0]), X, "x0", points=30)
    assert shape_of(effect).trend == trend


def test_a_trend_tells_its_ends():
    shape = shape_of(cw.effect(lambda X: 2 * X[:, 0], X, "x0", points=30))
    assert shape.at == (-1.0, 1.0)
    assert shape.values == (-2.0, 2.0)


def test_small_wiggles_do_not_hide_a_trend():
    wiggly = cw.effect(lambda X: X[:, 0] + 0.01 * np.sin(40 * X[:, 0]), X, "x0", points=40)
    assert shape_of(wiggly).trend == "rises"


def test_an_effect_below_what_is_negligible_is_flat():
    effect = cw.effect(lambda X: 0.01 * X[:, 0], X, "x0")
    assert shape_of(effect, negligible=0.05).trend == "flat"


def test_levels_are_told_from_lowest_to_highest_and_rare_ones_are_not():
    town = ["Bern"] * 100 + ["Chur"] * 99 + ["Ulm"]
    price = {"Bern": 1.0, "Chur": 2.0, "Ulm": 9.0}
    data = {"town": town, "x": np.sin(np.arange(200.0))}
    effect = cw.effect(
        lambda frame: np.array([price[t] for t in frame["town"]]), data, "town", bands=0
    )
    shape = shape_of(effect)
    assert shape.trend == "levels"
    assert shape.at == ("Bern", "Chur")


@pytest.mark.filterwarnings("ignore::clearwood.ClearwoodWarning")
def test_where_most_of_a_curve_leaves_the_data_it_is_told_whole_and_that_is_said():
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    twins = np.column_stack([x, x + rng.normal(0, 0.01, 300)])
    lonely = np.column_stack([x, rng.normal(size=300)])
    effect = cw.effect(lambda X: X[:, 0], twins, "x0", points=30, bands=0)
    shape = shape_of(effect)
    assert not shape.is_within
    assert shape.at == (effect.grid[0][0], effect.grid[0][-1])
    assert shape_of(cw.effect(lambda X: X[:, 0], lonely, "x0", points=30, bands=0)).is_within
