"""Draws, interventions and counterfactuals of structural models."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import clearwood as cw
from clearwood.causal import Inversion
from clearwood.table import Kind

MIXED = cw.SCM(
    {
        "u": "normal(0, 1)",
        "g": 'choice("a", "b", "c")',
        "w": "exp(0.3 * u + normal(0, 0.5))",
        "h": "round(10 + 2 * (g == 'b') + u + normal(0, 1), 1)",
        "c": "poisson(exp(0.4 * u + 0.2 * (g == 'c')))",
        "k": 'choice({"no": 1, "yes": exp(u)})',
        "b": "bernoulli(expit(u + 0.1 * h))",
        "t": "gamma(1 + c, w)",
        "d": "u + 2 * b",
        "m": "maximum(u + normal(0, 1), 0)",
    }
)


def same(one, other):
    return np.array_equal(one.values, other.values)


def test_tables_have_kinds_and_levels():
    table = MIXED.sample(100)
    assert table["g"].levels == ("a", "b", "c")
    kinds = {name: table.kind(name) for name in ("g", "c", "b", "h", "w")}
    assert kinds == {
        "g": Kind.CATEGORY,
        "c": Kind.WHOLE,
        "b": Kind.YES_NO,
        "h": Kind.NUMBER,
        "w": Kind.NUMBER,
    }
    assert set(table.to_dict()["b"]) == {0, 1}


def test_an_intervention_changes_what_follows_and_nothing_else():
    before, after = MIXED.sample(500, seed=3), MIXED.do(500, seed=3, h=12.0)
    changed = {name for name in before.names if not same(before[name], after[name])}
    assert changed <= {"h", *MIXED.descendants("h")}
    assert {"h", "b"} <= changed


def test_columns_have_streams_of_their_own():
    """A column that is added, and an equation that draws more, leave the others as they are."""
    one = cw.SCM({"x": "normal(0, 1)", "y": "normal(0, 1)"}).sample(50)
    other = cw.SCM({"x": "gamma(2, 1) + normal(0, 1)", "y": "normal(0, 1)", "z": "x"}).sample(50)
    assert same(one["y"], other["y"])


def test_order_of_equations_follows_causes():
    scm = cw.SCM({"y": "x + 1", "x": "normal(0, 1)"})
    assert scm.order == ("x", "y")
    assert scm.sample(3).names == ("y", "x")


def test_the_graph_has_an_arrow_for_every_column_that_an_equation_names():
    assert MIXED.graph.parents("b") == ("u", "h")
    assert cw.SCM({"x": "normal(0, 1)"}).graph.nodes == ("x",)


def test_doing_to_a_root_equals_conditioning_on_it():
    scm = cw.SCM({"x": "bernoulli(0.5)", "z": "x + normal(0, 1)", "y": "z * x + normal(0, 1)"})
    rows = scm.sample(200_000, seed=1)
    given_one = rows["y"].values[rows["x"].values == 1].mean()
    assert scm.do(200_000, seed=2, x=1)["y"].values.mean() == pytest.approx(given_one, abs=0.03)


@pytest.mark.parametrize("column", ["u", "g", "h", "c"])
def test_a_counterfactual_with_nothing_changed_returns_the_row(column):
    rows = MIXED.sample(400, seed=5)
    same_value = rows[column].labels()
    result = MIXED.counterfactual(rows, values={column: same_value}, seed=9)
    for name in rows.names:
        got, want = result.table[name].values, rows[name].values
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9, err_msg=name)


def test_additive_noise_is_inverted_exactly():
    scm = cw.SCM({"x": "normal(0, 1)", "y": "2 * x + normal(0, 0.5)", "z": "exp(y + x) * 3"})
    rows = scm.sample(100)
    noise = rows["y"].values - 2 * rows["x"].values
    result = scm.counterfactual(rows, x=rows["x"].values + 1)
    np.testing.assert_allclose(result.table["y"].values, 2 * (rows["x"].values + 1) + noise)
    assert result.inversions["y"] is Inversion.EXACT
    assert result.inversions["z"] is Inversion.DETERMINISTIC
    assert result.is_exact


def test_scale_of_noise_that_depends_on_causes_is_undone():
    scm = cw.SCM({"x": "uniform(1, 2)", "y": "x + normal(0, x)"})
    rows = scm.sample(50)
    standard = (rows["y"].values - rows["x"].values) / rows["x"].values
    result = scm.counterfactual(rows, x=5)
    np.testing.assert_allclose(result.table["y"].values, 5 + 5 * standard)
    assert result.is_exact


def test_counts_are_labelled_and_have_the_law_of_the_intervention():
    """Recovered noise is uniform on average, so counterfactual counts are those of do()."""
    scm = cw.SCM(
        {
            "x": "bernoulli(0.5)",
            "c": "poisson(1 + 2 * x)",
            "k": 'choice({"a": 1, "b": 1 + x, "c": 1})',
        }
    )
    rows = scm.do(100_000, seed=1, x=0)
    result = scm.counterfactual(rows, x=1)
    assert result.assumes_monotone_noise == ("c", "k")
    assert str(result.inversions["c"]) == "assuming monotone noise"
    expected = scm.do(100_000, seed=2, x=1)
    for name in ("c", "k"):
        shares = [
            np.bincount(t[name].values.astype(int), minlength=30) / 1e5
            for t in (result.table, expected)
        ]
        np.testing.assert_allclose(*shares, atol=0.01)
    assert (result.table["c"].values >= rows["c"].values).all()


def test_rounded_noise_is_drawn_within_the_rounding():
    scm = cw.SCM({"x": "normal(0, 1)", "y": "round(x + normal(0, 1))"})
    rows = scm.sample(2000)
    moved = scm.counterfactual(rows, x=rows["x"].values + 0.5)
    step = moved.table["y"].values - rows["y"].values
    assert set(step) == {0.0, 1.0}
    assert step.mean() == pytest.approx(0.5, abs=0.05)
    assert moved.inversions["y"] is Inversion.DRAWN


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x + normal(0, 1) + uniform(0, 1)", "'y'.* 2 noise terms"),
        ("x + normal(0, 1) ** 2", "'y'.*power that is not odd"),
        ("x + abs(normal(0, 1))", "'y'.*abs of its noise is not monotone"),
        ("x + sin(normal(0, 1))", "'y'.*sin of its noise"),
        ("x / exp(normal(0, 1))", "'y'.*divides by its noise"),
        ("x if normal(0, 1) > 0 else 1", "'y'.*decides between"),
        ("x > normal(0, 1)", "'y'.*> of its noise is not monotone"),
    ],
)
def test_noise_that_cannot_be_recovered_is_refused_by_name(text, reason):
    scm = cw.SCM({"x": "normal(0, 1)", "y": text})
    with pytest.raises(cw.InputError, match=reason):
        scm.counterfactual(scm.sample(5), x=1)
    # what does not follow from the columns set need not be recovered
    kept = scm.counterfactual(scm.sample(5), y=1)
    assert kept.inversions["x"] is Inversion.KEPT


def test_hidden_causes_are_left_out_and_refused():
    scm = cw.SCM({"h": "normal(0, 1)", "x": "h + normal(0, 1)", "y": "x + h"}, hidden=["h"])
    assert scm.sample(3).names == ("x", "y")
    assert scm.graph.hidden == ("h",)
    with pytest.raises(
        cw.InputError, match="noise of 'y' cannot be recovered: its cause 'h' is hidden"
    ):
        scm.counterfactual(scm.sample(3), x=1)


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ({"x": [1.0, 2.0], "y": [5.0, None]}, "'y' has 1 missing value"),
        (
            {"x": [0.0, 1.0], "y": [3.0, -1.0]},
            "'y': 1 row cannot come from its equation; row 1 has -1",
        ),
        ({"x": [1.0]}, "no column 'y'"),
    ],
)
def test_rows_that_the_model_cannot_give_are_named(rows, reason):
    scm = cw.SCM({"x": "normal(0, 1)", "y": "x ** 2 + exponential(2)"})
    with pytest.raises(cw.InputError, match=reason):
        scm.counterfactual(rows, x=3)


def test_fractions_are_no_counts():
    scm = cw.SCM({"x": "normal(0, 1)", "y": "poisson(exp(x))"})
    with pytest.raises(cw.InputError, match="'y': 1 row cannot come from its equation"):
        scm.counterfactual({"x": [0.0, 0.0], "y": [1.5, 1.0]}, x=1)


@settings(max_examples=30, deadline=None)
@given(st.floats(-3, 3), st.floats(-50, 50), st.floats(-3, 3))
def test_counterfactuals_undo_each_other(x, noise, new):
    scm = cw.SCM({"x": "normal(0, 1)", "y": "(3 - x * x * normal(0, 1) / 7) ** 3"})
    assert scm.kind("y") is Kind.NUMBER
    y = (3 - x * x * noise / 7) ** 3
    if abs(x) < 0.1 or abs(new) < 0.1:
        return
    there = scm.counterfactual({"x": x, "y": y}, x=new).table
    back = scm.counterfactual({"x": new, "y": float(there["y"].values[0])}, x=x).table
    np.testing.assert_allclose(back["y"].values, y, rtol=1e-5, atol=1e-5)


def test_insurance_counterfactuals_keep_what_gender_does_not_act_on():
    scm = cw.datasets.insurance_truth().scm
    women = scm.do(2000, seed=4, gender="female")
    men = scm.counterfactual(women, gender="male")
    np.testing.assert_allclose(men.table["height"].values - women["height"].values, 20, atol=1e-6)
    assert same(men.table["power"], women["power"])
    ratio = men.table["mileage"].values / women["mileage"].values
    assert np.median(ratio) == pytest.approx(np.exp(0.25), rel=0.02)
    assert (men.table["accidents"].values >= women["accidents"].values).all()
    assert set(men.assumes_monotone_noise) == {"accidents", "claim_amount"}
    paid = men.table["claim_amount"].values > 0
    assert (paid == (men.table["accidents"].values > 0)).all()


def test_linear_models_have_the_covariance_of_their_coefficients():
    graph = cw.Graph("a -> b -> c; a -> c; h -> {b c}", hidden=["h"])
    slopes = {("a", "b"): 0.5, ("b", "c"): -1.5, ("a", "c"): 2.0, ("h", "b"): 1, ("h", "c"): 1}
    scm = cw.SCM.linear(graph, slopes, {"a": 2, "b": 1, "c": 0.5, "h": 1}, intercepts={"c": 3})
    rows = scm.sample(200_000, seed=2)
    assert set(rows.names) == {"a", "b", "c"}
    order = ["a", "h", "b", "c"]
    arrows = np.zeros((4, 4))
    for (cause, effect), slope in slopes.items():
        arrows[order.index(effect), order.index(cause)] = slope
    spread = np.linalg.inv(np.eye(4) - arrows) @ np.diag([2, 1, 1, 0.5])
    expected = (spread @ spread.T)[np.ix_([0, 2, 3], [0, 2, 3])]
    got = np.cov([rows[name].values for name in ("a", "b", "c")])
    np.testing.assert_allclose(got, expected, atol=0.06)
    assert rows["c"].values.mean() == pytest.approx(3, abs=0.03)
    effects = {c: scm.do(1000, b=c)["c"].values.mean() for c in (0, 1)}
    assert effects[1] - effects[0] == pytest.approx(-1.5)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"coefficients": {("x", "z"): 1}}, "x -> z is not in the graph"),
        ({"coefficients": {}}, "x -> y has no number"),
        ({"coefficients": float("nan")}, "is not finite"),
        ({"sd": -1}, "must not be negative"),
        ({"sd": {"x": 1}}, "'y' has no number"),
        ({"intercepts": {"q": 1}}, "'q' is not in the graph"),
    ],
)
def test_linear_models_name_what_does_not_fit_the_graph(options, reason):
    with pytest.raises(cw.InputError, match=reason):
        cw.SCM.linear("x -> y", **options)


def test_models_are_kept_as_plain_text(tmp_path):
    MIXED.save(tmp_path / "model.json")
    again = cw.SCM.load(tmp_path / "model.json")
    for name, column in zip(MIXED.columns, MIXED.sample(20, seed=8), strict=True):
        assert same(again.sample(20, seed=8)[name], column)
    document = json.loads((tmp_path / "model.json").read_text())
    document["equations"]["u"] = "__import__('os')"
    with pytest.raises(cw.InputError, match="equation of 'u'"):
        cw.SCM.from_json(document)


@pytest.mark.parametrize(
    "document",
    [
        "{",
        "[]",
        "{}",
        {"format": "other"},
        {"format": "clearwood structural causal model", "version": 2},
        {"format": "clearwood structural causal model", "version": 1, "equations": {"x": 1}},
        "[" * 100_000,
    ],
)
def test_documents_that_are_no_model_are_refused(document):
    with pytest.raises(cw.InputError):
        cw.SCM.from_json(document)


def test_functions_are_columns_too():
    def town(rng, n):
        return rng.choice(["Bern", "Chur"], n)

    scm = cw.SCM(
        {
            "town": town,
            "x": lambda town, rng, n: (town == "Chur") * 2.0 + rng.normal(size=n),
            "y": 'x + 3 * (town == "Bern")',
            "z": lambda y: y**2,
        },
        levels={"town": ("Bern", "Chur")},
    )
    rows = scm.sample(200)
    assert rows["town"].levels == ("Bern", "Chur")
    np.testing.assert_allclose(rows["z"].values, rows["y"].values ** 2)
    assert scm.counterfactual(rows, y=2).table["z"].values[0] == 4
    with pytest.raises(cw.InputError, match="noise of 'x' cannot be recovered: it is a function"):
        scm.counterfactual(rows, town="Bern")
    with pytest.raises(cw.InputError, match="'town' is a function"):
        scm.to_json()


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda q: q, "no column 'q'"),
        (lambda *args: 1, "its parameters must be names of columns"),
        (lambda n: np.zeros(n + 1), "returned the shape"),
        (lambda n: ["a"] * n, "not numbers.*levels="),
        (lambda n: np.full(n, np.nan), "not finite"),
        (lambda y: y, "depends on itself"),
    ],
)
def test_functions_that_cannot_be_used_are_named(function, reason):
    with pytest.raises(cw.InputError, match=reason) as caught:
        cw.SCM({"y": function}).sample(5)
    assert "'y'" in str(caught.value)


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda: MIXED.sample(0), "n=0"),
        (lambda: MIXED.sample(2.5), "n=2.5"),
        (lambda: MIXED.do(3, nope=1), "no column 'nope'"),
        (lambda: MIXED.do(3, g="z"), "g='z'"),
        (lambda: MIXED.do(3, u="big"), "must be a number"),
        (lambda: MIXED.do(3, u=np.inf), "finite"),
        (lambda: MIXED.do(3, b=2), "0 or 1"),
        (lambda: MIXED.do(3, u=[1, 2]), "u has 2 values for 3 rows"),
        (lambda: cw.SCM({"x": "1"}, hidden="y"), "no column 'y'"),
        (lambda: cw.SCM({"x": "1"}, levels={"x": ("a", "b")}), "states its levels"),
    ],
)
def test_bad_calls_are_named(call, reason):
    with pytest.raises(cw.InputError, match=reason):
        call()


def test_columns_named_like_options_are_set_by_a_mapping():
    scm = cw.SCM({"seed": "normal(0, 1)", "y": "seed + 1"})
    assert (scm.do(3, values={"seed": 2})["y"].values == 3).all()


def test_counts_in_the_far_tail_are_recovered():
    scm = cw.SCM({"x": "normal(0, 1)", "y": "poisson(exp(x))", "z": "gamma(1 + y, 1 + x * x)"})
    rows = {"x": [0.0, 0.0], "y": [40, 3], "z": [400.0, 2.0]}
    same_again = scm.counterfactual(rows, x=0).table
    np.testing.assert_allclose(same_again["y"].values, rows["y"])
    np.testing.assert_allclose(same_again["z"].values, rows["z"])
    moved = scm.counterfactual(rows, x=1).table
    assert moved["y"].values[0] > 45
    assert (moved["z"].values > rows["z"]).all()


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda: cw.SCM(["x"]), "texts by column"),
        (lambda: MIXED.sample(3, seed=-1), "seed=-1"),
        (lambda: MIXED.sample(10**12), "rows are drawn at once"),
        (
            lambda: cw.SCM({"x": "normal(0, 1)", "y": "exp(x) * exp(normal(0, 1))"}).counterfactual(
                {"x": 1.0, "y": 1.0}, x=1000
            ),
            "equation of 'y'.*not a finite number",
        ),
    ],
)
def test_what_cannot_be_computed_is_named(call, reason):
    with pytest.raises(cw.InputError, match=reason):
        call()


def test_linear_models_have_columns_with_hundreds_of_causes():
    names = [f"x{k}" for k in range(350)]
    model = cw.SCM.linear(
        cw.Graph(dict.fromkeys(names, "y")), 2.0, sd={**dict.fromkeys(names, 1), "y": 0}
    )
    rows = model.sample(3)
    np.testing.assert_allclose(rows["y"].values, 2 * sum(rows[name].values for name in names))


def test_order_is_the_given_one_wherever_causes_allow_it():
    model = cw.SCM({"d": "a", "c": "normal(0, 1)", "b": "d + c", "a": "normal(0, 1)", "e": "c"})
    assert model.order == ("c", "a", "d", "b", "e")


def test_noise_that_is_multiplied_by_zero_leaves_no_trace():
    model = cw.SCM({"a": "normal(0, 1)", "b": "a * normal(0, 1)"})
    changed = model.counterfactual({"a": [0.0, 2.0], "b": [0.0, 3.0]}, a=1.0)
    assert changed.table["b"].values[1] == pytest.approx(1.5)
    with pytest.raises(cw.InputError, match="1 row cannot come from its equation; row 0 has 4"):
        model.counterfactual({"a": [0.0], "b": [4.0]}, a=1.0)


def test_coefficients_are_by_pairs_and_the_hint_says_so():
    with pytest.raises(cw.InputError, match=r"'x -> y' is not in the graph.*pairs"):
        cw.SCM.linear("x -> y", {"x -> y": 2.0})
