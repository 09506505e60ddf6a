"""The functions of a model and its data, and the methods of an explanation that they call."""

import ast
import inspect

import numpy as np
import pytest

import clearwood as cw

QUESTIONS = (
    "agreement",
    "contributions",
    "effect",
    "importance",
    "lime",
    "monotone",
    "shapley",
    "what_if",
)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    columns = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]}
    return cw.read({**columns, "y": 2 * X[:, 0] - X[:, 1]}, target="y")


@pytest.fixture(scope="module")
def model(data):
    return cw.learner("ridge").fit(data)


def written(function):
    """Return the parameters that the source of a function declares, with their defaults."""
    node = next(
        one
        for one in ast.walk(ast.parse(inspect.getsource(inspect.getmodule(function))))
        if isinstance(one, ast.FunctionDef) and one.name == function.__name__
    )
    arguments = node.args
    assert not node.decorator_list
    assert not arguments.posonlyargs
    required = len(arguments.args) - len(arguments.defaults)
    defaults = [None] * required + arguments.defaults
    pairs = [*zip(arguments.args, defaults, strict=True)]
    pairs += [(arguments.vararg, None)] if arguments.vararg else []
    pairs += zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    pairs += [(arguments.kwarg, None)] if arguments.kwarg else []
    return [(one.arg, ast.literal_eval(d) if d else inspect.Parameter.empty) for one, d in pairs]


@pytest.mark.parametrize("name", ["explain", *QUESTIONS])
def test_the_signature_of_a_function_is_the_one_in_its_source(name):
    function = getattr(cw, name)
    shown = inspect.signature(function, follow_wrapped=False).parameters
    assert [(one.name, one.default) for one in shown.values()] == written(function)
    by_name = inspect.Parameter.POSITIONAL_OR_KEYWORD
    assert [(one.name, one.kind) for one in shown.values()][:2] == [
        ("model", by_name),
        ("data", by_name),
    ]


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_method_takes_what_its_function_takes_after_model_and_data(name):
    function = inspect.signature(getattr(cw, name))
    method = inspect.signature(getattr(cw.Explanation, name))
    assert list(function.parameters.values())[2:] == list(method.parameters.values())[1:]
    assert function.return_annotation == method.return_annotation


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_documentation_of_a_function_names_each_of_its_parameters(name):
    function = getattr(cw, name)
    listed = function.__doc__.partition("    Parameters\n")[2].partition("    Returns\n")[0]
    named = [word for line in listed.splitlines() for word in line.split(", ") if line[4:5] != " "]
    assert {word.strip(" *") for word in named} >= set(inspect.signature(function).parameters)


GIVEN = {
    "agreement": {"columns": ["a"]},
    "contributions": {},
    "importance": {"kind": "permutation", "repeats": 2},
    "lime": {"row": 3, "n_samples": 200, "repeats": 2},
    "monotone": {"columns": {"a": "up"}},
    "shapley": {},
    "what_if": {"row": 3, "changes": {"a": 1.5}},
}


@pytest.mark.parametrize("name", GIVEN)
def test_a_function_with_everything_by_name_gives_the_result_of_the_method(name, model, data):
    by_function = getattr(cw, name)(model=model, data=data, **GIVEN[name])
    by_method = getattr(cw.explain(model, data), name)(**GIVEN[name])
    assert by_function.to_json() == by_method.to_json()
    np.testing.assert_equal(by_function.to_frame("dict"), by_method.to_frame("dict"))


def test_the_function_of_an_effect_gives_the_result_of_the_method(model, data):
    why = cw.explain(model, data)
    for columns in (["a"], ["a", "b"]):
        by_function = cw.effect(model, data, *columns, kind="ale")
        assert by_function.to_json() == why.effect(*columns, kind="ale").to_json()
