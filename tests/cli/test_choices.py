"""Options of the command line take the words that the library takes."""

import inspect
import typing

import pytest

import clearwood as cw
from clearwood.cli.support.verb import words_of
from clearwood.cli.verbs import benchmark, condense
from clearwood.cli.verbs.explain import effects, importance, predictions


@pytest.mark.parametrize(
    ("verb", "function"),
    [
        (benchmark.benchmark, cw.benchmark),
        (condense.condense, cw.condense),
        (effects.effect, cw.effect),
        (importance.importance, cw.importance),
        (predictions.shapley, cw.shapley),
        (predictions.lime, cw.lime),
    ],
)
def test_verbs_take_the_words_of_the_library(verb, function):
    hints = typing.get_type_hints(function)
    compared = 0
    for name, parameter in inspect.signature(verb).parameters.items():
        typed, known = words_of(parameter.annotation), words_of(hints.get(name))
        if typed and known:
            assert set(typed) >= set(known), name
            compared += 1
    assert compared


def test_options_have_the_defaults_of_the_library():
    for verb, function in ((benchmark.benchmark, cw.benchmark), (condense.condense, cw.condense)):
        library = inspect.signature(function).parameters
        for name, parameter in inspect.signature(verb).parameters.items():
            if name in library and library[name].default is not parameter.empty:
                assert parameter.default == library[name].default, name
