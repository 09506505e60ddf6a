"""Effects of any model: the worked examples, scikit-learn beside it, bands and scales."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestRegressor
from sklearn.inspection import partial_dependence
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import clearwood as cw
from clearwood.explanation import Explanation
from clearwood.explanation.effects import effect as effects
from clearwood.explanation.effects.request import EffectOptions


def measured_effect(model, data, columns, **options):
    """Measure an effect without warnings."""
    names = [columns] if isinstance(columns, str | int) else columns
    return effects.measured_effect(Explanation(model, data), names, EffectOptions(**options))


def test_forest_recovers_both_parts_of_example_20():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 2))
    y = X[:, 0] + X[:, 1] ** 2 + rng.normal(size=1000)
    model = RandomForestRegressor(100, min_samples_leaf=5, random_state=0).fit(X, y)
    for name, truth in (("x0", lambda x: x + 1), ("x1", lambda x: x**2)):
        found = measured_effect(model, X, name)
        middle = np.abs(found.grid[0]) < 1.5
        assert np.abs(found.values - truth(found.grid[0]))[middle].max() < 0.7
        assert np.corrcoef(found.values[middle], truth(found.grid[0][middle]))[0, 1] > 0.9


def along_a_line(n_rows=400, seed=0):
    rng = np.random.default_rng(seed)
    u = rng.uniform(size=n_rows)
    return np.column_stack([u, u]) + rng.normal(0, 0.05, (n_rows, 2))


def test_example_21_is_found_to_extrapolate_and_counted_in_a_warning():
    X = along_a_line()
    with pytest.warns(cw.ClearwoodWarning, match=r"at 4\d of 4\d grid points of 'x0'.*'x1'"):
        found = cw.effect(lambda X: X[:, 0] * X[:, 1], X, "x0")
    at = np.abs(found.grid[0] - 0.3).argmin()
    assert found.outside[at] > 0.5
    assert found.extrapolates[at]
    assert any("drawn dotted" in note for note in found.notes)


def test_independent_columns_do_not_extrapolate():
    X = np.random.default_rng(1).uniform(size=(400, 2))
    found = cw.effect(lambda X: X[:, 0] * X[:, 1], X, "x0")
    assert not found.extrapolates.any()


def test_a_correlated_pair_is_found_among_many_columns_of_noise():
    X = np.column_stack([along_a_line(), np.random.default_rng(2).normal(size=(400, 8))])
    assert measured_effect(lambda X: X[:, 0], X, "x0").extrapolates.mean() > 0.8
    assert not measured_effect(lambda X: X[:, 0], X, "x5").extrapolates.any()


def test_supported_dependence_averages_over_neighbours_only():
    # where x1 is near x0, x0 x1 is near x0 squared; over all rows it is x0 times a mean
    X = along_a_line(1500)
    product = lambda X: X[:, 0] * X[:, 1]  # noqa: E731
    near = measured_effect(product, X, "x0", kind="supported_pdp")
    inner = (near.grid[0] > 0.1) & (near.grid[0] < 0.9)
    everywhere = measured_effect(product, X, "x0")
    truth = near.grid[0] ** 2
    far = np.abs(everywhere.values - truth)[inner].max()
    assert np.abs(near.values - truth)[inner].max() < 0.4 * far
    assert near.evaluations < everywhere.evaluations


def test_example_22_marginal_gives_an_ignored_column_the_effect_of_its_twin():
    X = np.repeat([[0.0, 0.0], [1.0, 1.0]], 20, axis=0)
    first = lambda X: X[:, 0]  # noqa: E731
    assert measured_effect(first, X, "x1", kind="marginal").values.tolist() == [0.0, 1.0]
    assert measured_effect(first, X, "x1", kind="pdp").values.tolist() == [0.5, 0.5]
    assert measured_effect(first, X, "x1", kind="ale").values.tolist() == [0.0, 0.0]
    assert measured_effect(first, X, "x1", kind="pdp").extrapolates.all()


def test_partial_dependence_is_scikit_learns():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 3))
    model = KNeighborsRegressor().fit(X, X[:, 0] * X[:, 1])
    found = measured_effect(model, X, "x0")
    theirs = partial_dependence(model, X, [0], custom_values={0: found.grid[0]}, method="brute")
    np.testing.assert_allclose(found.values, theirs["average"][0], atol=1e-12)
    pair = measured_effect(model, X, ("x0", "x2"), points=5)
    made = X.copy()
    made[:, 0], made[:, 2] = pair.grid[0][1], pair.grid[1][3]
    assert pair.values[1, 3] == pytest.approx(model.predict(made).mean())


@pytest.mark.parametrize("depth", [3, None])
def test_forests_give_the_same_numbers_exactly_and_batched(depth):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(150, 3))
    model = RandomForestRegressor(10, max_depth=depth, random_state=0).fit(X, X.sum(axis=1))
    exact = measured_effect(model, X, ("x0", "x1"), points=6)
    batched = measured_effect(model, X, ("x0", "x1"), points=6, exact=False)
    assert exact.exact
    assert not batched.exact
    np.testing.assert_allclose(exact.values, batched.values, atol=1e-9)
    direct = [model.predict(np.column_stack([np.full(150, v), X[:, 1:]])).mean() for v in X[:3, 0]]
    alone = measured_effect(model, X, "x0", points=200)
    at = [np.flatnonzero(alone.grid[0] == v)[0] for v in X[:3, 0]]
    np.testing.assert_allclose(alone.values[at], direct, atol=1e-9)


def test_linear_models_are_read_off_exactly():
    data = cw.datasets.load("diabetes")
    found = measured_effect(cw.learner("ols").fit(data), data, "bmi", n_bootstrap=50)
    slope = np.diff(found.values) / np.diff(found.grid[0])
    assert found.exact
    np.testing.assert_allclose(slope, slope[0], rtol=1e-6)
    assert (found.high > found.low).all()


def test_individual_curves_average_to_the_partial_dependence():
    X = np.random.default_rng(5).normal(size=(60, 2))
    model = lambda X: np.sin(X[:, 0]) * X[:, 1]  # noqa: E731
    curves = measured_effect(model, X, "x0", kind="ice")
    mean = measured_effect(model, X, "x0")
    assert curves.curves.shape == (60, 40)
    np.testing.assert_allclose(curves.curves.mean(axis=0), mean.values)
    i = 7
    np.testing.assert_allclose(curves.curves[i], np.sin(curves.grid[0]) * X[i, 1])


def test_centred_curves_start_at_zero_and_slopes_are_derivatives():
    X = np.random.default_rng(6).normal(size=(50, 2))
    model = lambda X: 3 * X[:, 0] + X[:, 1]  # noqa: E731
    centred = measured_effect(model, X, "x0", kind="ice", centred=True)
    assert not centred.curves[:, 0].any()
    slopes = measured_effect(model, X, "x0", kind="ice", derivative=True)
    np.testing.assert_allclose(slopes.curves, 3.0)


def test_bootstrap_band_is_the_standard_error_of_the_mean():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(400, 2))
    found = measured_effect(lambda X: X[:, 1], X, "x0", n_bootstrap=2000, extrapolation=False)
    width = (found.high - found.low) / 2
    np.testing.assert_allclose(width, 1.645 * X[:, 1].std() / 20, rtol=0.08)


def test_band_of_an_exact_curve_is_that_of_a_batched_one():
    X = np.random.default_rng(8).normal(size=(3000, 2))
    model = LinearRegression().fit(X, X @ [1.0, 2.0])
    widths = [
        np.mean(found.high - found.low)
        for exact in (True, False)
        for found in [
            measured_effect(model, X, "x0", exact=exact, n_bootstrap=400, extrapolation=False)
        ]
    ]
    assert widths[0] == pytest.approx(widths[1], rel=0.15)


def test_refitting_widens_the_band_by_what_the_model_learned():
    rng = np.random.default_rng(9)
    data = cw.read({"a": rng.normal(size=80), "y": rng.normal(size=80)}, target="y")
    model = cw.learner("ols").fit(data)
    rows_only = cw.effect(model, data, "a", centred=True)
    refitted = cw.effect(model, data, "a", centred=True, n_refits=20)
    assert (refitted.high - refitted.low).max() > 3 * (rows_only.high - rows_only.low).max()
    assert any("20 models" in note for note in refitted.notes)


@pytest.mark.parametrize("kind", ["pdp", "marginal", "ale", "supported_pdp"])
def test_classes_on_both_scales_and_all_at_once(kind):
    iris = cw.datasets.load("wine")
    model = cw.learner("logistic").fit(iris)
    name = iris.features[2]
    every = measured_effect(model, iris, name, kind=kind)
    assert every.outputs == tuple(map(str, model.classes_))
    wanted = 0.0 if kind == "ale" else 1.0
    np.testing.assert_allclose(every.values.sum(axis=1), wanted, atol=1e-9)
    one = measured_effect(model, iris, name, kind=kind, output=every.outputs[1])
    np.testing.assert_allclose(one.values, every.values[:, 1])
    margin = measured_effect(model, iris, name, kind=kind, scale="margin", output=every.outputs[0])
    assert margin.values.min() < 0


def test_two_classes_show_the_second_and_the_first_is_its_mirror():
    X = np.random.default_rng(10).normal(size=(200, 2))
    model = LogisticRegression().fit(X, np.where(X[:, 0] > 0, "yes", "no"))
    second = measured_effect(model, X, "x0")
    assert second.outputs == ("yes",)
    assert second.unit == "probability"
    first = measured_effect(model, X, "x0", output="no")
    np.testing.assert_allclose(first.values, 1 - second.values)
    margin = measured_effect(model, X, "x0", scale="margin")
    assert margin.exact
    slope = np.diff(margin.values) / np.diff(margin.grid[0])
    np.testing.assert_allclose(slope, model.coef_[0, 0])


def test_margin_of_a_model_with_probabilities_only_is_its_log_odds():
    X = np.random.default_rng(11).normal(size=(300, 2))
    model = KNeighborsClassifier(50).fit(X, X[:, 0] > 0)
    found = measured_effect(model, X, "x0", scale="margin", kind="marginal")
    assert found.unit == "log odds"
    assert found.values[0] < 0 < found.values[-1]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_every_kind_of_frame_gives_the_same_effect(library):
    rng = np.random.default_rng(12)
    table = cw.read(
        {
            "a": rng.normal(size=90),
            "town": rng.choice(["x", "y", "z"], 90),
            "y": rng.normal(size=90),
        },
        target="y",
    )
    model = cw.learner("gbm", max_iter=10).fit(table)
    frame = table.X.to_frame(library)
    for kind in ("pdp", "ale", "marginal"):
        expected = measured_effect(model, table, "town", kind=kind)
        found = measured_effect(model, frame, "town", kind=kind)
        assert list(found.grid[0]) == list(expected.grid[0])
        np.testing.assert_allclose(found.values, expected.values)


def test_a_pipeline_that_needs_a_frame_gets_one_with_a_shuffled_index():
    import pandas as pd
    from sklearn.compose import make_column_transformer

    rng = np.random.default_rng(13)
    frame = pd.DataFrame({"a": rng.normal(size=80), "town": rng.choice(["x", "y"], 80)})
    frame = frame.sample(frac=1, random_state=0)
    encode = make_column_transformer((OneHotEncoder(), ["town"]), (StandardScaler(), ["a"]))
    model = make_pipeline(encode, KNeighborsRegressor()).fit(frame, frame["a"] ** 2)
    found = measured_effect(model, frame, "a")
    value = found.grid[0][5]
    direct = model.predict(frame.assign(a=value)).mean()
    assert found.values[5] == pytest.approx(direct)


def test_weights_of_the_table_count():
    data = cw.read(
        {
            "a": [0.0, 1, 0, 1, 0, 1],
            "b": [0.0, 0, 0, 5, 5, 5],
            "w": [1, 1, 1, 3, 3, 3],
            "y": [0.5, 1, 2, 3, 4, 5.5],
        },
        target="y",
        weight="w",
    )
    model = cw.learner("ols").fit(data)
    for exact in (True, False):
        found = measured_effect(model, data, "a", exact=exact)
        base = model.predict({"a": [0.0] * 6, "b": data["b"].values})
        assert found.values[0] == pytest.approx(np.average(base, weights=data.weights))


def test_missing_values_are_a_level_of_their_own():
    rng = np.random.default_rng(14)
    a = rng.normal(size=300)
    y = np.where(a > 0, 1.0, 0.0)
    a[:60], y[:60] = np.nan, 5.0
    data = cw.read({"a": a, "b": rng.normal(size=300), "y": y}, target="y")
    model = cw.learner("gbm", max_iter=50).fit(data)
    for kind in ("pdp", "marginal", "ale", "supported_pdp"):
        found = measured_effect(model, data, "a", kind=kind)
        assert np.isnan(found.grid[0][-1])
        assert found.values[-1] - found.values[:-1].max() > 3
        assert found.shares[-1] == pytest.approx(0.2)


def test_dates_have_an_axis_of_dates():
    days = np.datetime64("2024-01-01", "us") + np.arange(100) * np.timedelta64(1, "D")
    data = cw.read({"day": days, "b": np.arange(100) % 7, "y": np.arange(100.0)}, target="y")
    model = cw.learner("gbm", max_iter=30).fit(data)
    for kind in ("pdp", "ale", "ice"):
        found = measured_effect(model, data, "day", kind=kind)
        assert found.grid[0].dtype.kind == "M"
        assert found.values[-1] > found.values[0]
    slopes = measured_effect(model, data, "day", kind="ice", derivative=True)
    assert np.isfinite(slopes.curves).all()


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(-5, 5), min_size=3, max_size=3), st.integers(0, 1000))
def test_every_method_recovers_additive_parts_up_to_a_constant(coefficients, seed):
    # independent columns: all five agree on a sum
    X = np.random.default_rng(seed).normal(size=(120, 3))
    model = lambda X: X @ np.array(coefficients)  # noqa: E731
    for kind in ("pdp", "ale", "ice"):
        found = measured_effect(model, X, "x1", kind=kind, extrapolation=False)
        slope = np.diff(found.values) / np.diff(found.grid[0])
        np.testing.assert_allclose(slope, coefficients[1], atol=1e-6)


def test_results_are_given_as_frame_and_json_and_picture():
    import json

    iris = cw.datasets.load("wine")
    model = cw.learner("gbm", max_iter=5).fit(iris)
    found = measured_effect(model, iris, iris.features[0], n_bootstrap=20)
    frame = found.to_frame("pandas")
    assert len(frame) == 3 * len(found.grid[0])
    assert {"output", "pdp", "low", "high", "share", "outside"} <= set(frame.columns)
    assert json.loads(json.dumps(found.to_json()))["kind"] == "pdp"
    assert "Partial dependence" in repr(found)
    assert "<table" in found._repr_html_()
    for kind, names in (("pdp", 1), ("ice", 1), ("ale", 1), ("ale", 2), ("pdp", 2)):
        made = measured_effect(
            model, iris, iris.features[:names], kind=kind, points=5, n_bootstrap=10
        )
        assert made.plot().to_dict()["description"].startswith(made.title)


def test_extrapolating_stretches_are_drawn_dotted():
    found = measured_effect(lambda X: X[:, 0], along_a_line(), "x0")
    assert "'strokeDash': [2, 3]" in str(found.plot().to_dict())
    X = np.random.default_rng(0).uniform(size=(100, 2))
    assert "'strokeDash': [2, 3]" not in str(
        measured_effect(lambda X: X[:, 0], X, "x0").plot().to_dict()
    )
