"""Numbers, names and shapes as sentences."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import clearwood as cw
from clearwood.reporting.collect.collector import collect
from clearwood.reporting.collect.findings import Options
from clearwood.reporting.collect.inputs import report_input
from clearwood.reporting.sections.words import (
    effect_sentence,
    listed,
    named,
    number,
    sentence,
    value_of,
)


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_any_number_can_be_written(value):
    text = number(value)
    assert text
    assert "nan" not in text.lower()
    assert "inf" not in text


@given(st.floats(1e-3, 1e12))
def test_three_digits_are_right(value):
    assert np.isclose(float(number(value).replace(",", "")), value, rtol=6e-3)


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
    options = Options(quick=True, sections=("importance",))
    findings = collect(
        report_input(lambda frame: 3 - frame["age"].to_numpy() / 20, data),
        title="t",
        options=options,
    )
    views = findings.effects["age"]
    text = effect_sentence(findings, views)
    assert text.startswith("The average prediction falls from")
    first, last = views.pdp.values[0], views.pdp.values[-1]
    at = value_of(views.pdp.grid[0][0])
    assert f"from {number(first)} at age = {at} to {number(last)}" in text
    assert "hardly changes with z" in effect_sentence(findings, findings.effects["z"])


def test_classes_without_probabilities_are_not_called_probable():
    x = np.random.default_rng(0).normal(size=60)
    data = cw.read({"x": x, "y": np.where(x > 0, "yes", "no")}, target="y")
    model = cw.learner("hyperplane").fit(data)
    bench = cw.benchmark(data, model, loss="zero-one", outer=2, tune=0, interval="naive", repeats=1)
    page = cw.report(model, data, benchmark=bench, quick=True, sections=["summary", "performance"])
    text = page.to_html()
    assert "predicts which of 2 classes y is" in text
    assert "Its predicted class is correct for" in text
    assert "predicts the probability" not in text
