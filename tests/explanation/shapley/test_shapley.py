"""Which value function: the examples that tell them apart, sampling, and bad input."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeRegressor

import clearwood as cw
from clearwood._shared.numbers import cell, number


@pytest.fixture(scope="module", name="X")
def _matrix():
    return np.random.default_rng(0).normal(size=(80, 3))


@pytest.fixture(scope="module")
def model(X):
    return RandomForestRegressor(5, max_depth=4, random_state=0).fit(X, X[:, 0] * X[:, 1])


def test_a_column_the_model_ignores_gets_nothing_however_well_it_predicts():
    """Hiabu (2024), example 16: m(x) = x1, and x2 always equals x1."""
    X = np.array([[0.0, 0.0], [1.0, 1.0]])
    model = LinearRegression().fit(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), [0, 1, 0])
    found = cw.shapley(model, X)
    assert found.baseline == pytest.approx(0.5)
    assert_allclose(found.values, [[-0.5, 0.0], [0.5, 0.0]], atol=1e-12)


def exclusive_or(first, second, rows):
    """A tree for xor that asks about one column, then about the other."""
    counts = {
        (a, b): np.sum(((rows[:, first] > 0) == a) & ((rows[:, second] > 0) == b))
        for a in (False, True)
        for b in (False, True)
    }
    low, high = counts[False, False] + counts[False, True], counts[True, False] + counts[True, True]
    nothing = np.zeros(7, bool)
    return cw.forest.Forest(
        roots=[0],
        left=[1, 2, -1, -1, 5, -1, -1],
        right=[4, 3, -1, -1, 6, -1, -1],
        feature=[first, second, -1, -1, second, -1, -1],
        threshold=np.zeros(7),
        value=[0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0],
        cover=[
            low + high,
            low,
            counts[False, False],
            counts[False, True],
            high,
            counts[True, False],
            counts[True, True],
        ],
        base=[0.0],
        feature_names=("x1", "x2"),
        default_left=nothing,
        zero_missing=nothing,
        category_start=np.full(7, -1),
        category_size=np.zeros(7, int),
        category_words=[],
        unseen_left=nothing,
        tree_output=[-1],
        tree_weight=[1.0],
    )


def test_path_dependent_values_depend_on_the_order_of_splits():
    """Hiabu (2024), example 18: two trees, one function, two answers."""
    counts = {(-1, -1): 4, (-1, 1): 1, (1, -1): 2, (1, 1): 3}
    rows = np.array([point for point, n in counts.items() for _ in range(n)], float)
    first, second = exclusive_or(0, 1, rows), exclusive_or(1, 0, rows)
    assert_allclose(first.predict_raw(rows), second.predict_raw(rows))
    x = np.array([[-1.0, -1.0]])
    paths = [cw.shapley(tree, x, value="path_dependent").values[0] for tree in (first, second)]
    # v({1}) is P(x2 = 1 | x1 = -1) = 1/5 in the first tree, P(x2 = 1) = 4/10 in the second;
    # for v({2}) the roles change: P(x1 = 1) = 5/10 and P(x1 = 1 | x2 = -1) = 2/6
    mean = 0.3
    worth = [(0.2, 0.5), (0.4, 2 / 6)]
    for found, (one, two) in zip(paths, worth, strict=True):
        assert_allclose(found[0], ((one - mean) + (0 - two)) / 2)
        assert_allclose(found[1], ((two - mean) + (0 - one)) / 2, atol=1e-15)
    assert abs(paths[0] - paths[1]).max() > 0.1
    exact = [cw.shapley(tree, rows, x).values for tree in (first, second)]
    assert_allclose(exact[0], exact[1], atol=1e-15)
    assert_allclose(exact[0][0, 0], ((0.4 - mean) + (0 - 0.5)) / 2)


def test_the_value_function_and_the_background_are_in_the_result(model, X):
    found = cw.shapley(model, X, X[:4])
    assert found.value == "interventional"
    assert found.about.background.n_rows == 80
    assert "(interventional, 80 background rows, prediction)" in repr(found)
    paths = cw.shapley(model, X[:4], value="path_dependent")
    assert paths.value == "path_dependent"
    assert "path_dependent, no background" in repr(paths)
    assert paths.to_json()["about"]["background"] is None


def test_the_text_of_one_row_goes_from_the_baseline_to_the_prediction_with_signs():
    data = cw.datasets.insurance(200, seed=1)
    one = cw.shapley(cw.learner("glm").fit(data), data, data.head(1))
    _head, first, *steps, last = repr(one).splitlines()
    assert first.split() == ["baseline", number(one.baseline)]
    assert last.split() == ["prediction", number(one.prediction[0])]
    values = dict(zip(one.columns, one.values[0], strict=True))
    named = [step.split(" = ")[0].strip() for step in steps]
    assert named == sorted(values, key=lambda name: -abs(values[name]))
    for name, step in zip(named, steps, strict=True):
        assert f" = {cell(data[name].labels()[0])} " in step
        assert step.split()[-1].startswith("+" if values[name] > 0 else "-")
    assert named[0] in one._repr_html_()


def test_the_text_of_one_row_adds_up_what_it_does_not_name():
    rows = np.random.default_rng(0).normal(size=(50, 20))
    one = cw.shapley(LinearRegression().fit(rows, rows.sum(axis=1)), rows, rows[:1])
    *_, others, _ = repr(one).splitlines()
    smallest = np.argsort(abs(one.values[0]))[:8]
    rest = number(one.values[0, smallest].sum())
    assert [word.lstrip("+") for word in others.split()] == ["8", "others", rest]


def test_path_dependent_values_add_up_and_ignore_a_background(model, X):
    found = cw.shapley(model, X[:4], value="path_dependent", interactions=True)
    assert_allclose(found.prediction, model.predict(X[:4]))
    assert_allclose(found.interactions.sum(axis=2), found.values, atol=1e-12)
    others = cw.shapley(model, X, X[:4], value="path_dependent")
    assert_allclose(others.values, found.values)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"value": "interventionel"}, "did you mean 'interventional'"),
        ({"value": "path_dependent", "n_orders": 10}, "only interventional"),
        ({"n_orders": 10, "interactions": True}, "only interven"),
        ({"n_orders": 1}, "at least 2"),
    ],
)
def test_what_cannot_be_had_is_said_with_what_can(model, X, options, message):
    with pytest.raises(cw.InputError, match=message):
        cw.shapley(model, X[:2], **options)


def test_path_dependent_values_of_a_linear_model_are_refused(X):
    linear = LinearRegression().fit(X, X[:, 0])
    with pytest.raises(cw.InputError, match="are for trees"):
        cw.shapley(linear, X, value="path_dependent")


def test_one_output_can_be_taken_from_many(X):
    classes = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    model = RandomForestClassifier(3, random_state=0).fit(X, classes)
    found = cw.shapley(model, X, X[:5], interactions=True)
    one = found.output("b")
    assert one.values.shape == (5, 3)
    assert_allclose(one.prediction, model.predict_proba(X[:5])[:, 1], atol=1e-12)
    frame = found.to_frame("dict")
    assert frame["output"][:3] == ["a", "b", "c"]
    assert len(frame["row"]) == 15
    with pytest.raises(cw.InputError, match="no output 'z'"):
        found.output("z")


def test_sampled_values_are_near_the_exact_ones_by_their_standard_errors(model, X):
    exact = cw.shapley(model, X, X[:6])
    found = cw.shapley(model, X, X[:6], n_orders=400, seed=1)
    assert (found.standard_errors > 0).all()
    assert (np.abs(found.values - exact.values) < 5 * found.standard_errors).all()
    assert_allclose(found.prediction, model.predict(X[:6]), atol=1e-12)
    assert found.baseline == pytest.approx(exact.baseline)
    assert "sampled" in repr(found)
    assert any("400 orders for each row" in note for note in found.notes)


def test_more_draws_make_smaller_errors(model, X):
    few, many = (cw.shapley(model, X, X[:3], n_orders=n).standard_errors.mean() for n in (50, 800))
    # a fourth or less: at 800 draws every background row had its turn ten times
    assert many < few / 3


def test_draws_are_fixed_by_the_seed(model, X):
    one, same, other = (
        cw.shapley(model, X, X[:2], n_orders=20, seed=seed).values for seed in (3, 3, 4)
    )
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()


def test_weights_are_drawn_with(X):
    model = LinearRegression().fit(X, X[:, 0])
    weights = (X[:, 0] > 0).astype(float)
    exact = cw.explain(model, X, weights=weights).shapley(X[:3])
    found = cw.explain(model, X, weights=weights).shapley(X[:3], n_orders=300)
    assert_allclose(found.baseline, exact.baseline)
    assert_allclose(found.values, exact.values, atol=0.2)


@pytest.mark.parametrize("kind", ["array", "frame", "table"])
def test_models_of_any_kind_are_sampled(X, kind):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = KNeighborsRegressor().fit(X if kind == "array" else frame, X[:, 0])
    data = {"array": X, "frame": frame[["c", "a", "b"]], "table": cw.read(frame)}[kind]
    rows = data.head(2) if kind != "array" else data[:2]
    found = cw.shapley(model, data, rows, n_orders=50)
    expected = model.predict(X[:2] if kind == "array" else frame.head(2))
    assert_allclose(found.prediction, expected, atol=1e-12)
    assert np.abs(found.values[:, 0]).mean() > np.abs(found.values[:, 1:]).mean()


@pytest.mark.parametrize(
    ("model", "unit"),
    [(KNeighborsClassifier(), "probability"), (SVC(), "margin")],
    ids=["probabilities", "scores"],
)
def test_classes_are_sampled_as_probabilities_or_scores(X, model, unit):
    model.fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    found = cw.shapley(model, X, X[:2], n_orders=20)
    assert found.about.unit.startswith(unit)
    assert found.values.shape == (2, 3, 3)
    one = cw.shapley(model, X, X[:2], n_orders=20, output="2")
    assert_allclose(one.values, found.values[..., 2])


def test_a_learner_is_sampled_in_the_columns_of_the_user():
    data = cw.datasets.load("diabetes")
    model = cw.learner("knn").fit(data)
    found = cw.shapley(model, data, data.head(2), n_orders=20)
    assert found.columns == data.features
    assert_allclose(found.prediction, model.predict(data.head(2)), atol=1e-9)


def test_what_does_not_predict_is_refused(X):
    with pytest.raises(cw.InputError, match="has no `predict`"):
        cw.shapley(object(), X, n_orders=5)


def test_exact_values_have_no_standard_errors(X):
    tree = DecisionTreeRegressor(max_depth=2).fit(X, X[:, 0])
    assert cw.shapley(tree, X).standard_errors is None


def test_no_rows_have_no_values(model, X):
    for one in (model, LinearRegression().fit(X, X[:, 0])):
        found = cw.explain(one, X).shapley(X[:0])
        assert found.values.shape == (0, 3)
        assert "0 rows" in repr(found)


# Groups


@pytest.mark.parametrize("learner", ["gbm", "forest", "ebm", "ridge", "spline"])
def test_groups_are_exact_where_the_model_can_be_taken_apart(learner):
    """All subsets, asked one by one over the whole background, give the same."""
    data = cw.datasets.load("diabetes").take(slice(0, 60))
    settings = {
        "gbm": {"max_iter": 8},
        "forest": {"n_estimators": 4, "max_depth": 4},
        "ebm": {"max_rounds": 20},
    }
    try:
        model = cw.learner(learner, **settings.get(learner, {})).fit(data)
    except cw.MissingExtraError:
        pytest.skip(f"{learner} is not installed")
    groups = {"blood": ["s1", "s2", "s3", "s4", "s5", "s6"], "body": ["bmi", "bp"]}
    exact = cw.shapley(model, data, data.head(3), groups=groups)
    assert exact.standard_errors is None
    assert exact.columns == ("age", "sex", "body", "blood")
    asked = cw.shapley(model, data, data.head(3), groups=groups, method="subsets")
    np.testing.assert_allclose(exact.values, asked.values, atol=1e-7)
    assert exact.data[2].values[0].startswith("bmi ")


def test_groups_have_path_dependent_values_and_interactions_too(model, X):
    whole = {"all": [f"x{k}" for k in range(X.shape[1])]}
    found = cw.shapley(model, X[:2], value="path_dependent", groups=whole)
    np.testing.assert_allclose(found.values[:, 0] + found.baseline, model.predict(X[:2]))
    pairs = {"a": ["x0", "x1"]}
    both = cw.shapley(model, X, X[:2], groups=pairs, interactions=True)
    np.testing.assert_allclose(both.interactions.sum(axis=2), both.values, atol=1e-9)


def test_a_scale_on_which_the_model_is_no_sum_is_estimated():
    loans = cw.datasets.credit(400, seed=1)
    model = cw.learner("logistic").fit(loans)
    exact = cw.shapley(model, loans, loans.head(2))
    found = cw.shapley(model, loans, loans.head(2), scale="response", seed=1)
    assert exact.standard_errors is None
    assert found.standard_errors is not None
    assert_allclose(found.prediction, model.predict_proba(loans.head(2))[:, 1], atol=1e-9)
    assert found.baseline == pytest.approx(model.predict_proba(loans)[:, 1].mean(), abs=0.02)
    with pytest.raises(cw.InputError, match="exact values only"):
        cw.shapley(model, loans, loans.head(1), scale="response", interactions=True)
