"""Numbers, names and shapes as sentences."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import clearwood as cw
from clearwood.reporting.collect.findings import Options
from clearwood.reporting.collect.gather import gather
from clearwood.reporting.collect.inputs import check
from clearwood.reporting.sections.words import (
    effect_sentence,
    listed,
    named,
    number,
    percent,
    sentence,
)


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_any_number_can_be_written(value):
    text = number(value)
    assert text
    assert "nan" not in text
    assert "inf" not in text


@given(st.floats(1e-3, 1e12))
def test_four_digits_are_right(value):
    assert np.isclose(float(number(value).replace(",", "")), value, rtol=6e-4)


@given(st.floats(0, 1))
def test_shares_never_round_to_all_or_nothing_falsely(value):
    text = percent(value)
    assert (text.startswith("0\u00a0")) <= (value == 0)
    assert (text.startswith("100")) <= (value > 0.9985)


@given(st.lists(st.text(min_size=1, max_size=80), max_size=9))
def test_lists_count_what_they_leave_out(names):
    text = listed(names, most=4)
    if len(names) > 5:
        assert text.endswith(f"and {len(names) - 4} more")
    for name in names[:4]:
        assert named(name) in text


def test_sentences_begin_and_end_as_such_and_keep_names():
    assert sentence("iPhone sales rise") == "IPhone sales rise."
    assert sentence("what?") == "What?"


def test_the_sentence_of_an_effect_has_the_effects_own_numbers():
    rng = np.random.default_rng(0)
    data = cw.read({"age": rng.uniform(18, 60, 300), "z": rng.normal(size=300)})
    options = Options(quick=True, sections=("why",))
    found = gather(
        check(lambda frame: 3 - frame["age"].to_numpy() / 20, data, None, None),
        title="t",
        options=options,
    )
    views = found.effects["age"]
    told = effect_sentence(found, views)
    assert told.startswith("The mean prediction falls from")
    first, last = views.pdp.values[0], views.pdp.values[-1]
    assert f"from {number(first)} at age = {number(views.pdp.grid[0][0])} to {number(last)}" in told
    assert "hardly changes with z" in effect_sentence(found, found.effects["z"])
