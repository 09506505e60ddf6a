"""Structural models fitted to data with learners of the catalogue."""

import numpy as np
import pytest

import clearwood as cw
from clearwood.causal import Inversion

TRUTH = cw.SCM(
    {
        "g": 'choice({"a": 0.3, "b": 0.7})',
        "x": "normal(1, 2)",
        "y": "1 + 0.5 * x + 2 * (g == 'b') + normal(0, 1)",
        "k": 'choice({"no": 1, "yes": exp(x - 1)})',
        "c": "poisson(exp(0.2 + 0.3 * y / 2))",
    }
)
GRAPH = TRUTH.graph


@pytest.fixture(scope="module")
def fitted():
    return cw.SCM.fit(GRAPH, TRUTH.sample(3000, seed=1), learner={"y": "ols", "c": "glm"})


def test_fitted_models_draw_the_laws_they_were_fitted_to(fitted):
    drawn, truth = fitted.sample(20_000, seed=3), TRUTH.sample(20_000, seed=4)
    for name in ("x", "y", "c"):
        assert drawn[name].values.mean() == pytest.approx(truth[name].values.mean(), abs=0.15)
        assert drawn[name].values.std() == pytest.approx(truth[name].values.std(), rel=0.12)
    for name in ("g", "k"):
        assert drawn[name].levels == truth[name].levels
        assert drawn[name].values.mean() == pytest.approx(truth[name].values.mean(), abs=0.03)


def test_interventions_on_fitted_models_are_those_of_the_truth(fitted):
    for given in ({"x": 3}, {"g": "a", "x": -1}):
        for name in ("y", "k", "c"):
            got = fitted.do(20_000, seed=1, **given)[name].values.mean()
            want = TRUTH.do(20_000, seed=2, **given)[name].values.mean()
            assert got == pytest.approx(want, abs=0.15), (given, name)


def test_fitted_counterfactuals_return_the_row_when_nothing_changes(fitted):
    rows = TRUTH.sample(100, seed=6)
    result = fitted.counterfactual(rows, x=rows["x"].values, values={"g": rows["g"].labels()})
    for name in rows.names:
        np.testing.assert_allclose(result.table[name].values, rows[name].values, atol=1e-9)
    assert result.inversions["y"] is Inversion.EXACT
    assert result.assumes_monotone_noise == ("k", "c")
    moved = fitted.counterfactual(rows, x=rows["x"].values + 2).table["y"].values
    np.testing.assert_allclose(moved - rows["y"].values, 1.0, atol=0.1)


def test_residuals_are_held_out():
    """A learner that reproduces its training rows has no residuals there, but it has noise."""
    rows = cw.SCM({"x": "normal(0, 1)", "y": "normal(0, 1)"}).sample(300)
    fitted = cw.SCM.fit("x -> y", rows, learner=cw.learner("knn", n_neighbors=1))
    assert fitted.do(2000, x=0)["y"].values.std() > 1


def test_counts_that_vary_more_than_poisson_are_drawn_so():
    truth = cw.SCM(
        {"x": "normal(0, 1)", "h": "gamma(1, 1)", "c": "poisson(2 * exp(0.2 * x) * h)"}, hidden="h"
    )
    rows = truth.sample(4000, seed=2)
    fitted = cw.SCM.fit("x -> c", rows, learner="glm")
    drawn = fitted.sample(20_000)["c"].values
    assert drawn.var() == pytest.approx(rows["c"].values.var(), rel=0.15)


def test_weights_and_exposure_flow_into_fits():
    rng = np.random.default_rng(0)
    x = rng.normal(size=4000)
    years = rng.uniform(0.2, 2, 4000)
    weight = np.where(x > 0, 3.0, 1.0)
    claims = rng.poisson(years * np.exp(0.3 * x))
    data = cw.read(
        {"x": x, "years": years, "weight": weight, "claims": claims},
        target="claims",
        exposure="years",
        weight="weight",
    )
    fitted = cw.SCM.fit("x -> claims <- years", data, learner="glm")
    assert fitted.do(50_000, x=0, years=2)["claims"].values.mean() == pytest.approx(2, abs=0.15)
    # rows with x > 0 count three times, and by their exposure
    assert (fitted.sample(20_000)["x"].values > 0).mean() == pytest.approx(0.75, abs=0.02)
    # without exposure in the graph, counts are per unit of it
    rate = cw.SCM.fit("x -> claims", data, learner="glm").do(50_000, x=0)
    assert rate["claims"].values.mean() == pytest.approx(1, abs=0.08)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda d: ("x -> y; h -> y", d), "no column 'h'"),
        (lambda d: (cw.Graph("x -> y; h -> y", hidden=["h"]), d), "'h' is hidden"),
        (lambda d: ("x -> y", {**d, "y": [*d["y"][:-1], None]}), "'y' has 1 missing value"),
        (lambda d: ("x -> y", {k: v[:5] for k, v in d.items()}), "a fit needs 10 or more"),
        (lambda d: ("x <-> y", d), "is hidden"),
    ],
)
def test_what_cannot_be_fitted_is_named(change, reason):
    graph, data = change({"x": list(np.arange(20.0)), "y": list(np.arange(20.0) ** 2)})
    with pytest.raises(cw.InputError, match=reason):
        cw.SCM.fit(graph, data)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"learner": {"z": "ols"}}, "'z', which is not in the graph"),
        ({"learner": "nope"}, "nope"),
        ({"learner": 3}, "the name of a learner"),
        ({"folds": 1}, "folds=1"),
        ({"learner": "logistic"}, "column 'y' could not be fitted to 'x'"),
    ],
)
def test_bad_options_are_named(options, reason):
    data = cw.SCM({"x": "normal(0, 1)", "y": "x + normal(0, 1)"}).sample(50)
    with pytest.raises(cw.InputError, match=reason):
        cw.SCM.fit("x -> y", data, **options)


def test_the_text_of_a_fitted_model_names_learners_causes_and_noise():
    model = cw.SCM.fit(GRAPH, TRUTH.sample(300), learner={"y": "ols", "k": "logistic", "c": "glm"})
    lines = dict(line.split(": ", 1) for line in str(model).splitlines())
    assert lines["x"] == "drawn from 300 observed values"
    assert lines["y"] == "ols of g, x, plus a residual"
    assert lines["k"] == "logistic of x, a class drawn with its probabilities"
    assert lines["c"].startswith("glm of y, the mean of a ")
