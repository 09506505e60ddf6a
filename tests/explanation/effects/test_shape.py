"""The shape of an effect in words."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clearwood as cw
from clearwood.explanation import sentence_of, shape_of
from clearwood.explanation.results.shape import turning_points

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
        lambda frame: np.array([price[t] for t in frame["town"]]), data, "town", n_bootstrap=0
    )
    shape = shape_of(effect)
    assert shape.trend == "levels"
    assert shape.at == ("Bern", "Chur")


@pytest.mark.filterwarnings("ignore::clearwood.ClearwoodWarning")
def test_a_curve_that_leaves_the_data_everywhere_is_told_whole_and_that_is_said():
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    twins = np.column_stack([x, x + rng.normal(0, 0.01, 300)])
    effect = cw.effect(lambda X: X[:, 0], twins, "x0", points=30, n_bootstrap=0)
    everywhere = replace(effect, outside=np.ones(len(effect.grid[0])))
    shape = shape_of(everywhere)
    assert not shape.is_within
    assert shape.at == (effect.grid[0][0], effect.grid[0][-1])
    assert "all of this relies on combinations of values that rarely occur" in sentence_of(
        everywhere
    )


# What a sentence must not hide


def curve(values, *, outside=(), at=None, missing=None):
    """Make an effect with these values at 0, 1, 2, ..."""
    plain = cw.effect(lambda X: X[:, 0], np.arange(10.0)[:, None], "x0", n_bootstrap=0)
    grid = np.arange(len(values), dtype=float) if at is None else np.asarray(at)
    if missing is not None:
        grid, values = np.append(grid, np.nan), [*values, missing]
    marked = np.zeros(len(grid))
    marked[list(outside)] = 1.0
    return replace(
        plain,
        grid=(grid,),
        values=np.asarray(values, float),
        shares=np.full(len(grid), 1 / len(grid)),
        outside=marked,
        is_ordered=(grid.dtype.kind == "f",),
    )


def test_a_fall_before_a_rise_is_told():
    falls_first = curve([11.0, 9.0, 10.0, 25.0, 42.0])
    assert shape_of(falls_first).trend == "dips"
    assert sentence_of(falls_first) == (
        "the average prediction falls from 11 at x0 = 0 to 9 at 1, then rises to 42 at 4"
    )


def test_moves_too_small_for_a_turning_point_are_told_by_their_size():
    wiggly = curve([0.0, 30.0, 28.0, 60.0, 100.0])
    assert shape_of(wiggly).trend == "rises"
    assert shape_of(wiggly).reversal == 2.0
    assert "with moves of up to 2 the other way" in sentence_of(wiggly)


def test_all_turning_points_are_told_up_to_four_moves_and_then_counted():
    assert sentence_of(curve([0, 4, 1, 5])) == (
        "the average prediction rises from 0 at x0 = 0 to 4 at 1, falls to 1 at 2, "
        "then rises to 5 at 3"
    )
    many = sentence_of(curve([0, 4, 1, 5, 2, 6]))
    assert "changes direction 4 times between x0 = 0 (0) and 5 (6)" in many


@given(
    st.lists(st.floats(-100, 100).map(lambda v: round(v, 3)), min_size=2, max_size=30),
    st.floats(0, 50),
)
def test_between_turning_points_no_move_against_the_direction_exceeds_the_tolerance(values, limit):
    values = np.array(values)
    turns = turning_points(values, limit)
    assert turns[0] == 0
    assert turns[-1] == len(values) - 1
    for first, last in pairwise(turns):
        part = values[first : last + 1]
        part = part if part[-1] >= part[0] else -part
        drop = (np.maximum.accumulate(part) - part).max()
        # at the two ends of the curve a move up to the tolerance may be left over
        assert drop <= 2 * limit + 1e-9
    inner = values[turns[1:-1]]
    if len(inner):
        assert (np.abs(np.diff(inner)) > limit).all()


def test_the_range_is_the_supported_one_and_what_lies_beyond_is_said():
    ends = curve([50.0, 1.0, 2.0, 3.0, -70.0, -80.0], outside=[0, 4, 5])
    shape = shape_of(ends)
    assert (shape.trend, shape.at) == ("rises", (1.0, 3.0))
    assert (shape.n_below, shape.n_above, shape.n_between) == (1, 2, 0)
    assert sentence_of(ends) == (
        "the average prediction rises from 1 at x0 = 1 to 3 at 3; values below 1 and above 3 are "
        "left out: they rely on combinations of values that rarely occur"
    )


def test_unsupported_values_within_the_range_are_counted():
    gap = curve([1.0, 2.0, 90.0, 3.0], outside=[2])
    assert shape_of(gap).n_between == 1
    assert "1 value in between is left out: it relies on" in sentence_of(gap)


def test_missing_and_empty_values_are_told_beside_the_curve():
    holes = curve([1.0, np.nan, 3.0], missing=9.0)
    shape = shape_of(holes)
    assert (shape.trend, shape.missing, shape.n_empty) == ("rises", 9.0, 1)
    assert sentence_of(holes) == (
        "the average prediction rises from 1 at x0 = 0 to 3 at 2; 9 where x0 is missing; "
        "no rows lie at 1 value"
    )


def test_a_flat_curve_is_told_with_its_range():
    assert sentence_of(curve([1.0, 1.0, 1.0])) == (
        "the average prediction hardly changes with x0 by itself (1, from 0 to 2)"
    )
    assert "(1 to 1.5, from 0 to 2)" in sentence_of(curve([1.0, 1.5, 1.2]), negligible=1.0)


def test_levels_that_are_rare_or_unsupported_are_counted():
    town = replace(
        curve([1.0, 2.0, 9.0, -9.0], at=np.array(["Bern", "Chur", "Ulm", "Graz"], object)),
        shares=np.array([0.5, 0.4, 0.001, 0.099]),
        outside=np.array([0.0, 0, 0, 1]),
    )
    shape = shape_of(town)
    assert (shape.at, shape.n_rare, shape.n_between) == (("Bern", "Chur"), 1, 1)
    assert sentence_of(town) == (
        "the average prediction is lowest for x0 = 'Bern' (1) and highest for 'Chur' (2); "
        "1 other level is left out: it relies on combinations of values that rarely occur; "
        "1 level with under 1 % of the rows is left out"
    )


def test_a_sentence_tells_how_many_of_the_rows_it_is_averaged_over():
    some = cw.effect(lambda X: X[:, 0], X, "x0", sample=20, n_bootstrap=0)
    assert (some.n_rows, some.n_data) == (20, 80)
    assert some.sentence.endswith("; averaged over 20 of 80 rows.")
    every = cw.effect(lambda X: X[:, 0], X, "x0", n_bootstrap=0)
    assert every.n_data is None
    assert "averaged over" not in every.sentence
    assert every.sentence in repr(every)
    assert every.to_json()["sentence"] == every.sentence
