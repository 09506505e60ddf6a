"""Equations as text: what they compute, and what they refuse."""

import json

import numpy as np
import pytest

import clearwood as cw
from clearwood.causal.scm.parse import equations_of_text, quoted

ROOTS = {
    "x": "normal(0, 1)",
    "region": 'choice("city", "town")',
    "n": "poisson(2)",
}


def model(**equations):
    return cw.SCM({**ROOTS, **equations})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x.real", "attributes"),
        ("().__class__.__bases__[0].__subclasses__()", "only functions by their plain name"),
        ("__import__('os').system('true')", "only functions by their plain name"),
        ("eval('1')", "the function 'eval' is not allowed"),
        ("open('f')", "the function 'open' is not allowed"),
        ("x(1)", "the function 'x' is not allowed"),
        ("(lambda: 1)()", "only functions by their plain name"),
        ("lambda: 1", "lambda"),
        ("[q for q in (1, 2)]", "there is no column 'q'|comprehensions"),
        ("[x for x in (1, 2)]", "comprehensions"),
        ("{x: 1 for x in (1, 2)}", "comprehensions"),
        ("sum(x for x in (1,))", "the function 'sum' is not allowed"),
        ("exp(x for x in (1,))", "comprehensions"),
        ("9**9**9", "the power 3.8742e\\+08 is larger than 64"),
        ("2**1000", "the power 1000 is larger"),
        ("x**-99", "the power -99 is larger"),
        ("1e400 + x", "a number is too large"),
        ("1" * 400 + " + x", "a number is too large"),
        ("x @ x", "cannot be used"),
        ("x % 2", "cannot be used"),
        ("x // 2", "cannot be used"),
        ("~n", "cannot be used"),
        ("x[0]", "brackets after anything but a table of levels"),
        ("(1, 2)", "tuples"),
        ("f'{x}'", "formatted strings"),
        ("(z := 1)", "there is no column 'z'|assignments"),
        ("x if", "it cannot be read"),
        ("x = 1", "it cannot be read"),
        ("import os", "it cannot be read"),
        ("", "it is empty"),
        ("   ", "it is empty"),
        ("1j * x", "is not a number"),
        ("True + x", "True is not a number"),
        ("None", "None is not a number"),
        ("'city'", "is not a number"),
        ("xx + 1", "there is no column 'xx'"),
        ("exp + 1", "exp is a function"),
        ("exp(x, 2)", "exp takes 1 argument, and 2 are given"),
        ("normal(0)", "normal takes 2 arguments, and 1 is given"),
        ("normal(0, sd=1)", "by position"),
        ("exp(*(x,))", "starred"),
        ("normal(normal(0, 1), 1)", "is itself drawn"),
        ("region + 1", "'region' is a category"),
        ("region == 'village'", "'region' has no level 'village'"),
        ("region < 'town'", "by == or !="),
        ("region == 1", "its levels are texts in quotes"),
        ("{'city': 1}[region]", "lacks 'town'"),
        ("{'city': 1, 'town': 2}[x]", "'x' is not a category"),
        ("{'city': 1, 'town': 2}", "table of levels without"),
        ("1 + choice('a', 'b')", "must be the whole equation"),
        ("choice('a')", "needs two or more"),
        ("choice('a', 'a')", "needs two or more"),
        ("choice()", "takes levels"),
        ("choice(1, 2)", "levels are texts"),
        ("round(x, n)", "whole number of digits"),
        ("y + 1", "depends on itself"),
        ("(" * 300 + "x" + ")" * 300, "it cannot be read"),
        ("-" * 15_000 + "x", "it cannot be read|inside each other"),
        ("x" + " + x" * 2000, "inside each other"),
        ("x and " * 30_000 + "x", "inside each other"),
        ("x < " * 40_000 + "x", "inside each other"),
        ("x + " * 60_000 + "x", "more than 200,000 characters"),
    ],
)
def test_what_is_not_allowed_is_an_error_that_names_the_equation(text, reason):
    with pytest.raises(cw.InputError, match=reason) as caught:
        model(y=text)
    assert "equation of 'y'" in str(caught.value)
    assert caught.value.value == "y"
    assert len(str(caught.value)) < 1500


def test_no_file_is_touched_by_a_hostile_equation(tmp_path):
    target = tmp_path / "owned"
    for text in (
        f"open({str(target)!r}, 'w')",
        f"__import__('pathlib').Path({str(target)!r}).touch()",
    ):
        with pytest.raises(cw.InputError):
            model(y=text)
    assert not target.exists()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2 * x - 1", lambda v: 2 * v["x"] - 1),
        ("-x ** 2", lambda v: -(v["x"] ** 2)),
        ("x / 4 + +1", lambda v: v["x"] / 4 + 1),
        ("1 if x > 0 else -1", lambda v: np.where(v["x"] > 0, 1, -1)),
        (
            "where(x > 0 and n >= 2, x, n)",
            lambda v: np.where((v["x"] > 0) & (v["n"] >= 2), v["x"], v["n"]),
        ),
        ("0 < x < 1", lambda v: (v["x"] > 0) & (v["x"] < 1)),
        ("not x > 0", lambda v: ~(v["x"] > 0)),
        ("(x > 0) + (x > 1)", lambda v: (v["x"] > 0) * 1 + (v["x"] > 1)),
        ("(x > 0) - (x > 1)", lambda v: (v["x"] > 0) * 1 - (v["x"] > 1)),
        ("-(x > 0)", lambda v: -1.0 * (v["x"] > 0)),
        ('3 * (region == "town")', lambda v: 3 * (v["region"] == 1)),
        ('region in ("town", "city")', lambda v: np.ones(len(v["x"]))),
        ('"town" != region', lambda v: v["region"] != 1),
        ('{"town": x, "city": 2}[region]', lambda v: np.where(v["region"] == 1, v["x"], 2)),
        ("round(x, 1)", lambda v: np.round(v["x"], 1)),
        ("clip(x, -1, 1)", lambda v: np.clip(v["x"], -1, 1)),
        (
            "maximum(minimum(x, 1), floor(n / 2))",
            lambda v: np.maximum(np.minimum(v["x"], 1), v["n"] // 2),
        ),
        (
            "expit(x) + logit(0.25) + log1p(exp(x))",
            lambda v: 1 / (1 + np.exp(-v["x"])) + np.log(1 / 3) + np.log1p(np.exp(v["x"])),
        ),
    ],
)
def test_equations_compute_what_python_would(text, expected):
    drawn = model(y=text).draw(200, 4)
    np.testing.assert_allclose(
        drawn["y"].astype(float), np.asarray(expected(drawn), float), rtol=1e-12
    )


def test_names_that_are_no_plain_words_go_in_backticks():
    names = ["miles per year", "a`b", "lambda", "größe", "x\"y'z", "<b>", "ﬁ", "#3"]
    equations = dict.fromkeys(names, "normal(0, 1)")
    equations["sum"] = " + ".join(quoted(name) for name in names)
    scm = cw.SCM(equations)
    drawn = scm.draw(20)
    np.testing.assert_allclose(drawn["sum"], np.sum([drawn[name] for name in names], axis=0))
    assert scm.parents("sum") == tuple(names)
    again = cw.SCM.from_json(json.loads(json.dumps(scm.to_json())))
    assert again.graph == scm.graph
    assert cw.SCM(str(scm)).graph == scm.graph


def test_a_text_of_lines_makes_a_model():
    text = (
        "x = normal(0, 1)  # noise\n\n# a comment\n`y 2` = 2 * x  # twice\ng = choice('#1', '#2')"
    )
    assert list(equations_of_text(text)) == ["x", "y 2", "g"]
    assert cw.SCM(text).levels("g") == ("#1", "#2")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x normal(0, 1)", "line 1 of the equations is not an equation"),
        ("x = 1\nx = 2", "column 'x' has two equations"),
        ("", "there are no equations"),
    ],
)
def test_a_text_that_is_no_list_of_equations_is_refused(text, reason):
    with pytest.raises(cw.InputError, match=reason):
        cw.SCM(text)


def test_cycles_are_named():
    with pytest.raises(
        cw.InputError, match=r"cycle: (a -> b -> c -> a|b -> c -> a -> b|c -> a -> b -> c)"
    ):
        cw.SCM({"a": "c + 1", "b": "a + 1", "c": "b + normal(0, 1)", "d": "a"})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("log(x)", "not a finite number in"),
        ("1 / (n - n)", "not a finite number in 50 of 50 rows"),
        ("exp(exp(10 + x))", "not a finite number"),
        ("normal(0, x)", "standard deviation, must be positive"),
        ("poisson(x)", "the mean, must not be negative"),
        ("bernoulli(2 * x)", "a probability, from 0 to 1"),
        ("gamma(x, 1)", "shape must not be negative"),
        ("uniform(1, 0)", "larger than its first"),
        ("binomial(1.5, 0.5)", "whole number"),
        ('choice({"a": x, "b": 1})', "weights must not be negative"),
    ],
)
def test_draws_that_cannot_be_made_name_the_equation(text, reason):
    with pytest.raises(cw.InputError, match=reason) as caught:
        model(y=text).sample(50)
    assert "equation of 'y'" in str(caught.value)


@pytest.mark.parametrize("own", [None, 1j, [1], True, b"1"])
def test_equations_are_texts_or_functions(own):
    with pytest.raises(cw.InputError, match="it must be text or a function"):
        cw.SCM({"x": own})


def test_a_number_is_an_equation():
    assert (cw.SCM({"x": 3}).sample(4)["x"].values == 3).all()
