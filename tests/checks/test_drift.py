"""Drift between two tables."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import clearwood as cw
from clearwood.checks import drift

# the ages drawn here are normal, so a few are negative
pytestmark = pytest.mark.filterwarnings("ignore:column 'age' should not be negative")


def draw(seed, shift=0.0, n=500, levels=("a", "b", "c")):
    rng = np.random.default_rng(seed)
    return {
        "age": rng.normal(40 + shift, 10, n),
        "power": rng.normal(90, 20, n),
        "town": rng.choice(levels, n),
    }


def test_a_shifted_column_is_found_and_the_others_are_not():
    result = drift(draw(1), draw(2, shift=8))
    assert [entry.column for entry in result.differing] == ["age"]
    assert result.columns[0].column == "age"


def test_tables_drawn_alike_raise_no_alarm():
    """At a level of 1 % over all columns, forty draws alarm hardly ever."""
    alarms = sum(bool(drift(draw(k), draw(1000 + k)).differing) for k in range(40))
    assert alarms <= 2


def test_new_levels_are_named():
    result = drift(draw(1), draw(2, levels=("a", "b", "c", "new")))
    assert result["town"].new_levels == ("new",)
    assert result["town"].differs


def test_missing_values_are_a_difference():
    later = draw(2)
    later["power"] = np.where(np.arange(500) % 2, np.nan, later["power"])
    assert drift(draw(1), later)["power"].differs


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 1000), st.floats(-50, 50))
def test_distances_are_symmetric_and_within_bounds(seed, shift):
    one, two = draw(seed, n=60), draw(seed + 1, shift, n=60)
    there, back = drift(one, two), drift(two, one)
    for entry in there.columns:
        assert 0 <= entry.distance <= 1
        assert entry.distance == pytest.approx(back[entry.column].distance)


def test_p_values_are_adjusted_for_the_number_of_columns():
    one, two = draw(1), draw(2, shift=3)
    single = drift(one, two, columns=["age"])["age"].p_value
    assert drift(one, two)["age"].p_value == pytest.approx(3 * single)


def test_the_target_is_compared_where_both_have_it():
    first = cw.read(draw(1), target="power")
    assert {e.column for e in drift(first, cw.read(draw(2), target="power")).columns} == {
        "age",
        "town",
        "power",
    }


def test_too_few_rows_are_refused():
    with pytest.raises(cw.InputError, match="2 test rows"):
        drift(draw(1), {"age": [1.0, 2.0], "power": [1.0, 2.0], "town": ["a", "b"]})
