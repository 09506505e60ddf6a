"""Association between columns, whatever their kinds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import clearwood as cw
from clearwood.checks import association


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    x = rng.normal(size=600)
    town = np.where(x > 0, "Bern", "Chur")
    return {
        "x": x,
        "bent": x**2 + rng.normal(0, 0.05, 600),
        "town": town,
        "noise": rng.normal(size=600),
        "coin": rng.choice(["heads", "tails"], 600),
    }


def test_curves_and_categories_are_detected(table):
    result = association(table)
    assert result.between("x", "bent") > 0.9
    assert result.between("x", "town") > 0.7
    assert result.between("noise", "coin") == 0


def test_groups_are_connected_columns_with_the_strongest_first(table):
    result = association({**table, "twin": table["noise"] * 2}, min_strength=0.7)
    assert result.groups == (("noise", "twin"), ("x", "bent", "town"))


def test_pairs_are_sorted_and_leave_out_those_without_association(table):
    pairs = association(table).pairs()
    strengths = [value for _, _, value in pairs]
    assert strengths == sorted(strengths, reverse=True)
    assert all(value > 0 for value in strengths)
    assert association(table).to_frame("dict")["strength"] == strengths


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 1000), st.integers(3, 60))
def test_the_matrix_is_symmetric_with_ones_and_within_bounds(seed, n_rows):
    X = np.random.default_rng(seed).integers(0, 4, size=(n_rows, 3)).astype(float)
    strength = association(X).strength
    assert np.array_equal(strength, strength.T)
    assert np.all(np.diag(strength) == 1)
    assert np.all((strength >= 0) & (strength <= 1))


def test_the_target_is_left_out_unless_it_is_named(table):
    data = cw.read(table, target="noise")
    assert "noise" not in association(data).columns
    assert association(data, columns=["x", "noise"]).columns == ("x", "noise")


def test_the_figure_has_a_cell_for_each_ordered_pair(table):
    figure = association(table).plot().to_dict()
    assert len(figure["data"]["values"]) == 5 * 4
    assert "x and bent" in figure["description"]


def test_a_threshold_of_zero_is_refused(table):
    with pytest.raises(cw.InputError, match="min_strength=0: it must be above 0") as error:
        association(table, min_strength=0)
    assert (error.value.parameter, error.value.value) == ("min_strength", 0)
