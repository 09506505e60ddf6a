"""Calls that do not fit a question are answered in the user's words."""

import numpy as np
import pytest

import clearwood as cw


def first(X):
    return np.asarray(X)[:, 0]


@pytest.fixture
def rows():
    return np.random.default_rng(0).normal(size=(30, 3))


@pytest.mark.parametrize("verb", ["importance", "agreement"])
def test_a_target_by_position_is_answered_with_its_name(verb, rows):
    with pytest.raises(cw.InputError, match=rf"cw\.{verb}\(model, data, y=y\)") as error:
        getattr(cw, verb)(first, rows, rows[:, 0])
    assert error.value.parameter == "y"


@pytest.mark.parametrize(
    ("verb", "arguments"),
    [
        ("effect", ("x0",)),
        ("importance", ()),
        ("shapley", ()),
        ("lime", (0,)),
        ("contributions", ()),
        ("agreement", ()),
    ],
)
def test_an_unknown_option_is_answered_with_the_nearest(verb, arguments, rows):
    with pytest.raises(cw.InputError, match=rf"{verb} has no option 'outputs'.*'output'") as error:
        getattr(cw, verb)(first, rows, *arguments, outputs="yes")
    assert (error.value.parameter, error.value.value) == ("outputs", "yes")


def test_an_option_of_the_explanation_is_answered_with_where_it_belongs(rows):
    with pytest.raises(cw.InputError, match=r"cw\.explain\(model, data, weights=…\)"):
        cw.effect(first, rows, "x0", weights=np.ones(30))


@pytest.mark.parametrize("arguments", [(), ("model",), ("model", "data")])
def test_missing_arguments_are_named(arguments, rows):
    given = [{"model": first, "data": rows}[name] for name in arguments]
    missing = " and ".join(["model", "data", "row"][len(given) :])
    with pytest.raises(cw.InputError, match=f"lime needs {missing} by position"):
        cw.lime(*given)


def test_too_many_arguments_are_answered_with_the_options(rows):
    with pytest.raises(cw.InputError, match="by position, and 5 arguments are given"):
        cw.what_if(first, rows, 0, {"x0": 1.0}, "more")
    with pytest.raises(cw.InputError, match="give options by name: output"):
        cw.contributions(first, rows, rows, "more")


def test_arguments_that_have_names_may_be_given_by_name(rows):
    assert cw.lime(first, rows, row=0).terms == ("x0",)
