"""Shapley values of any model: brute force, efficiency, standard errors, stopping, bad input."""

import itertools
import math
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import clearwood as cw
from clearwood.explanation import Explanation
from clearwood.explanation.sampling.coalitions import size_shares
from clearwood.explanation.shapley.sampled import SampledOptions, sampled_shapley

METHODS = ["subsets", "kernel", "permutation"]


def crossed(X):
    """A function with interactions of up to three columns."""
    return X[:, 0] * X[:, 1] * X[:, 2] + np.sin(X[:, 3]) * X[:, 4] + np.maximum(X[:, 0], X[:, 5])


@pytest.fixture(scope="module", name="X")
def _matrix():
    generator = np.random.default_rng(0)
    return generator.normal(size=(40, 6)) @ (np.eye(6) + 0.3)


def brute_force(function, row, background, weights=None):
    """Theorem 7.1.2 of Hiabu (2024), literally."""
    n_columns = len(row)

    def worth(coalition):
        mixed = background.copy()
        mixed[:, list(coalition)] = row[list(coalition)]
        return np.average(function(mixed), weights=weights)

    values = np.zeros(n_columns)
    for k in range(n_columns):
        others = [j for j in range(n_columns) if j != k]
        for size in range(n_columns):
            share = math.factorial(size) * math.factorial(n_columns - size - 1)
            for coalition in itertools.combinations(others, size):
                gain = worth((*coalition, k)) - worth(coalition)
                values[k] += share / math.factorial(n_columns) * gain
    return values


def test_all_subsets_agree_with_the_definition(X):
    found = cw.shapley(crossed, X, X[:3], method="subsets")
    expected = [brute_force(crossed, row, X) for row in X[:3]]
    assert_allclose(found.values, expected, atol=1e-12)
    assert_allclose(found.standard_errors, 0)
    assert found.baseline == pytest.approx(crossed(X).mean())


def test_weights_of_the_background_count(X):
    weights = np.arange(len(X), dtype=float)
    found = cw.explain(crossed, X, weights=weights).shapley(X[:1])
    assert_allclose(found.values[0], brute_force(crossed, X[0], X, weights), atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_estimates_agree_with_the_exact_values_of_trees(method):
    generator = np.random.default_rng(1)
    X = generator.normal(size=(90, 5))
    model = RandomForestRegressor(8, max_depth=5, random_state=0).fit(X, X[:, 0] * X[:, 1])
    exact = cw.shapley(model, X, X[:3])
    found = cw.shapley(model, X, X[:3], method=method, precision=0.005)
    assert_allclose(found.values, exact.values, atol=0.05 * np.abs(exact.values).max())
    assert found.baseline == pytest.approx(exact.baseline)
    assert exact.standard_errors is None
    assert found.standard_errors is not None


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(METHODS),
    st.integers(1, 7),
    st.integers(1, 12),
    st.integers(0, 2**31),
    st.integers(1, 12),
)
def test_values_add_up_to_the_prediction_whatever_is_drawn(
    method, n_columns, n_background, seed, n_chosen
):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_background, n_columns + 1))
    coefficients = generator.normal(size=n_columns)

    def function(X):
        return np.tanh(X[:, :-1] @ coefficients) + X[:, 0] ** 3

    options = SampledOptions(
        method=method,
        seed=seed,
        n_background=min(n_chosen, n_background),
        max_evaluations=2000,
        precision=0.5,
    )
    found = sampled_shapley(Explanation(function, X), X[:2], options=options)
    assert_allclose(found.prediction, function(X[:2]), rtol=1e-10, atol=1e-10)
    assert found.baseline == pytest.approx(function(X).mean())


@pytest.mark.parametrize("method", METHODS)
def test_a_column_the_model_ignores_gets_nothing_or_nothing_but_error(X, method):
    found = cw.shapley(
        lambda X: X[:, 0] * X[:, 1] * X[:, 2], X, X[:2], method=method, precision=0.1
    )
    for k in (3, 4, 5):
        off = np.abs(found.values[:, k])
        assert (off <= 5 * found.standard_errors[:, k] + 1e-12).all()


@pytest.mark.parametrize("method", ["kernel", "permutation"])
def test_standard_errors_have_their_coverage(method):
    """Of 95% intervals, about 95% hold the exact value."""
    generator = np.random.default_rng(5)
    X = generator.normal(size=(30, 11))

    def function(X):
        return X[:, 0] * X[:, 1] * X[:, 2] + X[:, 3] * X[:, 4] * X[:, 5] + X[:, 6:].prod(axis=1)

    exact = cw.shapley(function, X, X[:2], method="subsets").values
    inside = []
    for seed in range(60):
        options = SampledOptions(
            method=method, seed=seed, precision=1e-9, max_evaluations=40 * 2 * 10 * 10
        )
        with pytest.warns(cw.ClearwoodWarning, match="stopped short"):
            found = sampled_shapley(Explanation(function, X), X[:2], options=options)
        inside.append(np.abs(found.values - exact) <= 1.96 * found.standard_errors)
    coverage = np.mean(inside)
    # 60 × 22 intervals, dependent within a run: a standard error of about 0.02
    assert 0.90 < coverage < 0.995


def test_errors_of_a_drawn_background_have_their_coverage():
    generator = np.random.default_rng(6)
    X = generator.normal(size=(400, 4))
    exact = cw.shapley(crossed_four, X, X[:1], n_background=400).values
    inside = []
    for seed in range(150):
        found = cw.shapley(crossed_four, X, X[:1], n_background=40, seed=seed)
        assert_allclose(found.prediction, crossed_four(X[:1]))
        inside.append(np.abs(found.values - exact) <= 1.96 * found.standard_errors)
    assert 0.89 < np.mean(inside) < 0.99
    assert "40 of the 400 background rows stand in" in " ".join(found.notes)


def crossed_four(X):
    return X[:, 0] * X[:, 1] + np.exp(X[:, 2] / 2) * X[:, 3] + X[:, 0]


def test_the_known_mean_of_predictions_takes_noise_out_of_an_additive_model():
    """One column: the value is known exactly, however few background rows are drawn."""
    X = np.random.default_rng(2).normal(size=(300, 1))
    found = cw.shapley(lambda X: X[:, 0] ** 2, X, X[:3], n_background=10)
    assert_allclose(found.values[:, 0], X[:3, 0] ** 2 - (X[:, 0] ** 2).mean())


@pytest.mark.parametrize("method", ["kernel", "permutation"])
def test_more_precision_costs_more_and_is_reached(method):
    X = np.random.default_rng(3).normal(size=(50, 14))
    used, errors = [], []
    for precision in (0.2, 0.05):
        found = cw.shapley(
            lambda X: X[:, :4].prod(axis=1) + X.sum(axis=1),
            X,
            X[:1],
            method=method,
            precision=precision,
        )
        spread = np.ptp(np.append(found.values, 0.0))
        assert found.standard_errors.max() <= precision * spread
        used.append(int(found.notes[-1].split("; ")[1].split()[0].replace(",", "")))
        errors.append(found.standard_errors.max())
    assert used[0] <= used[1]
    assert errors[0] >= errors[1]


def test_the_method_is_exact_then_subsets_then_drawn():
    X = np.random.default_rng(4).normal(size=(30, 14))
    linear = LinearRegression().fit(X, X[:, 0])
    assert cw.shapley(linear, X, X[:1]).standard_errors is None
    wide = cw.shapley(lambda X: X.sum(axis=1), X, X[:1])
    assert "orders drawn" in wide.notes[0]
    follows = cw.shapley(lambda X: X.sum(axis=1), X, X[:1], value="observational")
    assert "drawn in pairs" in follows.notes[1]
    assert_allclose(wide.values, X[:1] - X.mean(axis=0), atol=1e-9)
    narrow = cw.shapley(lambda X: X.sum(axis=1), X[:, :4], X[:1, :4])
    assert "all 16 coalitions" in narrow.notes[0]


def test_shares_of_the_kernel_are_those_of_its_formula():
    p = 6
    weights = [(p - 1) / (math.comb(p, s) * s * (p - s)) * math.comb(p, s) for s in range(1, p)]
    assert_allclose(size_shares(p)[1:-1], np.array(weights) / sum(weights))


def test_a_row_gets_the_same_values_alone_and_in_company(X):
    options = {"method": "permutation", "precision": 0.1}
    both = cw.shapley(crossed, X, X[:2], **options)
    alone = cw.shapley(crossed, X, X[:1], **options)
    np.testing.assert_array_equal(both.values[:1], alone.values)


# Groups


def test_groups_play_as_one(X):
    found = cw.shapley(crossed, X, X[:2], groups={"first": ["x0", "x1", "x2"]})
    assert found.columns == ("first", "x3", "x4", "x5")

    def worth(coalition, row):
        mixed = X.copy()
        mixed[:, list(coalition)] = row[list(coalition)]
        return crossed(mixed).mean()

    members = [(0, 1, 2), (3,), (4,), (5,)]
    for row in range(2):
        expected = 0.0
        for size in range(4):
            for coalition in itertools.combinations(members[1:], size):
                inside = sum(coalition, ())
                share = math.factorial(size) * math.factorial(3 - size) / math.factorial(4)
                gain = worth((0, 1, 2, *inside), X[row]) - worth(inside, X[row])
                expected += share * gain
        assert found.values[row, 0] == pytest.approx(expected)
    assert found.data[0].values[0].startswith("x0 ")


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"a": ["x0", "x1"], "b": ["x1", "x2"]}, "'x1' is in the groups 'a' and 'b'"),
        ({"a": ["x0", "x0"]}, "'x0' is twice in the group 'a'"),
        ({"a": []}, "'a' is empty"),
        ({"a": ["x9"]}, "no column 'x9'"),
        ({"x3": ["x0"]}, "'x3' has the name of a column"),
    ],
)
def test_groups_that_make_no_sense_are_refused(X, groups, message):
    with pytest.raises(cw.InputError, match=message):
        cw.shapley(crossed, X, X[:1], groups=groups)


# Forms of models and data


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_function_of_frames_gets_frames(library):
    pytest.importorskip(library)
    data = cw.read({"age": [30, 40, 50, 61], "town": ["a", "b", "a", "b"]})
    frame = data.to_frame(library)

    def function(rows):
        table = cw.read(rows)
        return table["age"].values * (table["town"].labels() == "a")

    found = cw.shapley(function, frame, frame[:1] if library != "pyarrow" else frame.slice(0, 1))
    assert found.columns == ("age", "town")
    assert found.prediction[0] == pytest.approx(30.0)


def test_categories_of_pandas_stay_categories():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {
            "size": pd.Categorical(["s", "m", "l", "m"], ["s", "m", "l"], ordered=True),
            "n": [1, 2, 3, 4],
        }
    )

    def function(rows):
        assert list(rows["size"].cat.categories) == ["s", "m", "l"]
        return rows["size"].cat.codes * rows["n"]

    found = cw.shapley(function, frame, frame.iloc[[2]])
    assert found.prediction[0] == pytest.approx(6.0)
    one = cw.shapley(function, frame, frame.iloc[2])  # a Series is a row
    assert_allclose(one.values, found.values)


def test_classes_are_explained_as_probabilities(X):
    y = np.digitize(X[:, 0], [-1, 1])
    model = KNeighborsClassifier().fit(X, y)
    found = cw.shapley(model, X, X[:2])
    assert found.values.shape == (2, 6, 3)
    assert found.about.unit == "probability"
    assert_allclose(found.prediction, model.predict_proba(X[:2]), atol=1e-10)
    one = cw.shapley(model, X, X[:2], output=1)
    assert_allclose(one.values, found.values[..., 1])


def test_scales_of_estimates_are_named():
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = LogisticRegression().fit(X, X[:, 0] > 0)
    exact = cw.shapley(model, X, X[:2])
    raw = cw.shapley(model, X, X[:2], method="subsets")
    assert_allclose(raw.values, exact.values, atol=1e-10)
    assert raw.about.unit == exact.about.unit == "log odds"
    probability = cw.shapley(model, X, X[:2], method="subsets", scale="probability")
    assert_allclose(probability.prediction, model.predict_proba(X[:2])[:, 1])


def test_a_learner_is_explained_in_the_columns_of_the_user():
    data = cw.datasets.load("diabetes")
    model = cw.learner("knn").fit(data)
    found = cw.shapley(model, data, data.head(1), n_background=20)
    assert found.columns == data.features
    assert_allclose(found.prediction, model.predict(data.head(1)))


# What cannot be done, and what is cut short


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (lambda X: X[:1, 0], "gives 1 predictions for"),
        (lambda X: np.where(X[:, 0] > 0, np.nan, 1.0), "NaN or infinity for"),
        (lambda X: np.full(len(X), "yes"), "not a number"),
        (object(), "has no `predict`"),
        (KNeighborsRegressor(), "fit"),
        (KNeighborsRegressor, "is a class"),
    ],
    ids=["wrong length", "nan", "words", "no model", "not fitted", "class"],
)
def test_models_that_answer_badly_are_refused(X, model, message):
    with pytest.raises(cw.InputError, match=message):
        cw.shapley(model, X, X[:2])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "kernal"}, "method='kernal'.*did you mean 'kernel'"),
        ({"precision": 0}, "precision=0"),
        ({"time_limit": -1}, "time_limit=-1"),
        ({"max_evaluations": 0}, "max_evaluations=0"),
        ({"n_background": 0}, "n_background=0"),
        ({"interactions": True}, "exact values only"),
        ({"value": "observational", "conditional": "gauss"}, "did you mean 'gaussian'"),
    ],
)
def test_options_out_of_range_are_refused(X, options, message):
    with pytest.raises(cw.InputError, match=message):
        cw.shapley(crossed, X, X[:1], **options)


def test_rows_with_other_columns_are_refused(X):
    with pytest.raises(cw.InputError, match=r"shape \(1, 5\); the background has 6 columns"):
        cw.shapley(crossed, X, X[:1, :5])


def test_too_many_columns_for_all_subsets_are_refused():
    X = np.zeros((3, 30))
    with pytest.raises(cw.InputError, match=r"30 columns.*method='kernel'"):
        cw.shapley(lambda X: X[:, 0], X, X[:1], method="subsets")


def test_a_smaller_background_than_asked_for_is_said(X):
    with pytest.warns(cw.ClearwoodWarning, match="500 background rows were requested"):
        cw.shapley(crossed, X, X[:1], n_background=500)


@pytest.mark.parametrize("method", METHODS)
def test_a_single_background_row_is_a_comparison(X, method):
    found = cw.shapley(crossed, X[1:2], X[:1], method=method)
    assert_allclose(found.prediction, crossed(X[:1]))
    assert found.baseline == pytest.approx(crossed(X[1:2])[0])
    assert "single row" in found.notes[0]


def test_a_constant_column_gets_nothing(X):
    flat = np.column_stack([X, np.ones(len(X))])
    found = cw.shapley(crossed, flat, flat[:2])
    assert_allclose(found.values[:, -1], 0, atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_a_time_limit_too_small_gives_some_rows_with_their_errors(X, method):
    def slow(X):
        time.sleep(0.02)
        return crossed(X)

    with pytest.warns(
        cw.ClearwoodWarning, match=r"the time limit of 0.01 s was reached after 1 of 4 rows"
    ):
        found = cw.shapley(slow, X, X[:4], method=method, time_limit=0.01)
    assert len(found) == 1
    assert found.standard_errors.max() > 0
    assert_allclose(found.prediction, crossed(X[:1]))


def test_an_interrupted_run_gives_the_rows_that_are_done(X):
    calls = []

    def interrupted(X):
        calls.append(len(X))
        if len(calls) > 6:
            raise KeyboardInterrupt
        return crossed(X)

    with pytest.warns(cw.ClearwoodWarning, match="interrupted after"):
        found = cw.shapley(interrupted, X, X[:30])
    assert 1 <= len(found) < 30
    assert_allclose(found.prediction, crossed(X[: len(found)]))
    assert len(found.data[0]) == len(found)


def test_a_row_may_be_a_dict_with_gaps():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"age": [30.0, np.nan, 50.0, 60.0], "town": ["a", "b", "a", "b"]})

    def model(rows):
        return rows["age"].fillna(10.0) * (rows["town"] == "b")

    found = cw.shapley(model, frame, {"age": None, "town": "b"})
    assert_allclose(found.prediction, [10.0])
    assert np.isnan(found.data[0].values[0])


@pytest.mark.parametrize("method", ["subsets", "kernel", "permutation"])
def test_a_single_column_gets_everything(method):
    """There is no coalition between nobody and everybody to ask about."""
    X = np.random.default_rng(0).normal(size=(60, 1))
    model = KNeighborsRegressor().fit(X, X[:, 0])
    found = cw.shapley(model, X, X[:3], method=method)
    assert_allclose(found.values[:, 0], model.predict(X[:3]) - model.predict(X).mean())
