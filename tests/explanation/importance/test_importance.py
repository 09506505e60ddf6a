"""Importances: known truths, scikit-learn beside it, intervals and bad input."""

import json

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

import clearwood as cw
from clearwood.explanation.importance import loss_increase

X = np.random.default_rng(0).normal(size=(500, 4))


def two_and_one(X):
    return 2 * X[:, 0] + X[:, 1]


def test_shuffling_doubles_the_variance_of_what_the_column_adds():
    # E[(b x - b x')²] = 2 b² Var(x), on top of no loss at all
    found = cw.importance(two_and_one, X, kind="permutation", y=two_and_one(X), repeats=20)
    wanted = 2 * np.array([4 * X[:, 0].var(), X[:, 1].var(), 0, 0])
    np.testing.assert_allclose(found.values, wanted, rtol=0.1, atol=1e-12)
    assert (found.low <= wanted).all()
    assert (wanted <= found.high).all()


def test_permutation_agrees_with_scikit_learn():
    y = two_and_one(X) + np.random.default_rng(1).normal(size=500)
    model = RandomForestRegressor(30, random_state=0).fit(X[:250], y[:250])
    ours = cw.importance(model, X[250:], kind="permutation", y=y[250:], repeats=30)
    theirs = permutation_importance(
        model, X[250:], y[250:], n_repeats=30, scoring="neg_mean_squared_error", random_state=1
    )
    np.testing.assert_allclose(ours.values, theirs.importances_mean, rtol=0.1, atol=0.05)


def test_interval_of_an_ignored_column_covers_zero():
    hits = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        Z = rng.normal(size=(150, 2))
        y = Z[:, 0] + rng.normal(size=150)
        # it uses x1, which has nothing to do with y: shuffling changes nothing on average
        found = cw.importance(
            lambda Z: Z[:, 0] + 0.3 * Z[:, 1], Z, kind="permutation", y=y, repeats=3, seed=seed
        )
        hits.append(found.low[1] <= 0 <= found.high[1])
    assert np.mean(hits) > 0.8


def test_classes_are_measured_by_log_loss_or_errors():
    y = np.where(X[:, 0] > 0, "yes", "no")
    model = LogisticRegression().fit(X, y)
    for loss in (None, "log", "zero-one"):
        found = cw.importance(model, X, kind="permutation", y=y, loss=loss)
        assert found.columns[found.order[0]] == "x0"
        assert found["x0"] > 0.2
    wine = cw.datasets.load("wine")
    several = cw.importance(cw.learner("gbm", max_iter=20).fit(wine), wine, kind="permutation")
    assert several.measure == "increase of the log loss"
    assert any("fitted to" in note for note in several.notes)


def test_conditional_shuffling_takes_away_what_a_twin_knows():
    rng = np.random.default_rng(1)
    a = rng.normal(size=600)
    Z = np.column_stack([a, a + rng.normal(0, 0.1, 600), rng.normal(size=600)])
    y = Z[:, 0] + Z[:, 1] + Z[:, 2]
    plain = cw.importance(lambda Z: Z.sum(axis=1), Z, kind="permutation", y=y)
    conditional = cw.importance(
        lambda Z: Z.sum(axis=1), Z, kind="permutation", y=y, conditional=True
    )
    assert conditional["x0"] < 0.3 * plain["x0"]
    assert conditional["x2"] == pytest.approx(plain["x2"], rel=0.2)


def test_groups_are_shuffled_together():
    def product(X):
        return (X[:, 0] == X[:, 1]).astype(float)

    Z = np.repeat([[0.0, 0.0], [1.0, 1.0]], 50, axis=0)
    together = cw.importance(
        product, Z, kind="permutation", y=np.ones(100), groups={"both": ["x0", "x1"]}
    )
    assert together.columns == ("both",)
    assert together["both"] == 0.0  # they stay equal
    assert cw.importance(product, Z, kind="permutation", y=np.ones(100))["x0"] > 0.3


def test_own_loss_is_used():
    found = cw.importance(
        two_and_one, X, kind="permutation", y=two_and_one(X), loss=lambda y, p: np.abs(y - p)
    )
    assert found["x0"] / found["x1"] == pytest.approx(2, rel=0.15)


def test_variance_of_main_effects_is_that_of_a_sum():
    found = cw.importance(two_and_one, X, kind="variance")
    np.testing.assert_allclose(found.values, [4, 1, 0, 0], rtol=0.2, atol=1e-12)
    assert (found.low <= found.values).all()
    only_together = cw.importance(lambda X: X[:, 0] * X[:, 1], X, kind="variance")
    assert only_together["x0"] < 0.1


def test_mean_absolute_shapley_values_of_a_linear_model():
    model = LinearRegression().fit(X, two_and_one(X))
    found = cw.importance(model, X, kind="shapley")
    wanted = 2 * np.abs(X[:, 0] - X[:, 0].mean()).mean()
    assert found["x0"] == pytest.approx(wanted)
    assert found["x3"] == pytest.approx(0, abs=1e-9)


def test_impurity_is_scikit_learns_and_says_its_bias():
    model = RandomForestRegressor(30, random_state=0).fit(X, two_and_one(X))
    found = cw.importance(model, X, kind="impurity")
    np.testing.assert_allclose(found.values, model.feature_importances_, atol=1e-9)
    assert found.low[0] < found.values[0] < found.high[0]
    assert any("many values" in note for note in found.notes)


def test_impurity_of_histogram_boosting_and_of_learners_adds_up_to_one():
    boosted = HistGradientBoostingRegressor(max_iter=20).fit(X, two_and_one(X))
    found = cw.importance(boosted, X, kind="impurity")
    assert found.values.sum() == pytest.approx(1)
    assert found.order[0] == 0
    town = np.random.default_rng(1).choice(["x", "y", "z"], 500)
    data = cw.read({"a": X[:, 0], "town": town, "y": X[:, 0]}, target="y")
    forest = cw.learner("forest", n_estimators=10, categories="onehot").fit(data)
    by_column = cw.importance(forest, data, kind="impurity")
    assert by_column.columns == ("a", "town")
    assert by_column["a"] > 0.9


def test_impurity_of_histogram_boosting_knows_categories_by_their_place():
    rng = np.random.default_rng(5)
    Z = np.column_stack([rng.normal(size=400), rng.integers(0, 4, 400), rng.normal(size=400)])
    model = HistGradientBoostingRegressor(max_iter=10, categorical_features=[1])
    found = cw.importance(model.fit(Z, Z[:, 0]), Z, kind="impurity")
    assert found["x0"] > 0.9


def test_impurity_favours_noise_with_many_values_and_permutation_does_not():
    rng = np.random.default_rng(2)
    Z = np.column_stack([rng.integers(0, 2, 600), rng.normal(size=600)]).astype(float)
    y = Z[:, 0] + rng.normal(0, 1.5, 600)
    model = RandomForestRegressor(30, random_state=0).fit(Z[:300], y[:300])
    assert np.argmax(cw.importance(model, Z, kind="impurity").values) == 1
    assert np.argmax(cw.importance(model, Z[300:], kind="permutation", y=y[300:]).values) == 0


@pytest.mark.parametrize("form", ["table", "pandas", "array"])
def test_leaving_a_column_out_costs_its_variance(form):
    rng = np.random.default_rng(3)
    Z = rng.normal(size=(300, 3))
    y = Z[:, 0] + 0.1 * rng.normal(size=300)
    names = ["a", "b", "c"]
    table = cw.read({**{n: Z[:, k] for k, n in enumerate(names)}, "y": y}, target="y")
    if form == "table":
        found = cw.importance(cw.learner("ols").fit(table), table, kind="loco")
    else:
        data = Z if form == "array" else table.X.to_frame("pandas")
        found = cw.importance(LinearRegression().fit(data, y), data, kind="loco", y=y)
    assert found.values[0] == pytest.approx(Z[:, 0].var(), rel=0.1)
    assert np.abs(found.values[1:]).max() < 0.01
    assert found.low[0] < 1 < found.high[0]


def test_leaving_out_one_of_two_twins_costs_nothing_but_both_cost():
    rng = np.random.default_rng(4)
    a = rng.normal(size=200)
    Z = np.column_stack([a, a + rng.normal(0, 1e-3, 200)])
    model = LinearRegression().fit(Z, a)
    assert cw.importance(model, Z, kind="loco", y=a)["x0"] < 0.01
    pair = cw.importance(model, Z, kind="loco", y=a, groups={"both": ["x0", "x1"]})
    assert pair["both"] > 0.5


def test_standardised_coefficients_put_columns_on_one_scale():
    # -0.23 x1 + 2.37 x2 + 1.3: the larger coefficient belongs to the smaller column
    Z = np.random.default_rng(1).normal(size=(400, 2)) * [10.0, 0.01]
    model = LinearRegression().fit(Z, -0.23 * Z[:, 0] + 2.37 * Z[:, 1] + 1.3)
    found = cw.importance(model, Z, kind="coefficients")
    np.testing.assert_allclose(
        found.values, [-0.23 * Z[:, 0].std(), 2.37 * Z[:, 1].std()], rtol=1e-6
    )
    assert found.columns[found.order[0]] == "x0"


def test_results_are_given_as_frame_json_and_picture():
    found = cw.importance(two_and_one, X, kind="permutation", y=two_and_one(X))
    assert list(found.to_frame("pandas").columns) == ["column", "importance", "low", "high"]
    assert json.loads(json.dumps(found.to_json()))["kind"] == "permutation"
    assert "x0" in repr(found)
    assert "<table" in found._repr_html_()
    assert found.plot().to_dict()["description"].startswith("Permutation importance")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "permutatoin"}, "did you mean 'permutation'"),
        ({"kind": "permutation"}, "target is not known"),
        ({"kind": "permutation", "y": [1, 2]}, "y has 2 values but the data has 500"),
        ({"kind": "permutation", "y": X[:, 0], "loss": "sqared"}, "did you mean 'squared'"),
        (
            {"kind": "permutation", "y": X[:, 0], "groups": {"g": ["x0"], "h": ["x0", "x1"]}},
            "is in the groups 'g' and 'h'",
        ),
        ({"kind": "permutation", "y": X[:, 0], "groups": {"g": ["x9"]}}, "no column 'x9'"),
        (
            {"kind": "permutation", "y": X[:, 0], "repeats": 0},
            "repeats=0: it must be a whole number of at least 1",
        ),
        ({"kind": "impurity"}, "is for trees"),
        ({"kind": "loco", "y": X[:, 0]}, "cannot be refitted"),
    ],
)
def test_odd_requests_are_refused_in_words(options, message):
    with pytest.raises(cw.InputError, match=message):
        cw.importance(two_and_one, X, **options)


def test_a_target_that_the_model_does_not_know_is_refused():
    model = KNeighborsClassifier().fit(X, X[:, 0] > 0)
    with pytest.raises(cw.InputError, match="which is not a class of the model"):
        cw.importance(model, X, kind="permutation", y=np.full(500, "maybe"))


def test_trees_without_gains_are_refused():
    from sklearn.ensemble import BaggingRegressor

    model = BaggingRegressor(DecisionTreeRegressor(max_depth=2), 3, random_state=0).fit(X, X[:, 0])
    with pytest.raises(cw.InputError, match="does not record what its splits gained"):
        cw.importance(model, X, kind="impurity")


def test_a_pipeline_that_is_a_sum_is_asked_column_by_column_with_the_same_result():
    """What each column adds is found out once; shuffling then costs a sum."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(400, 6))
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, X[:, 0] + X[:, 1] > 0)
    asked = []

    class Counted(type(model)):
        def predict_proba(self, X):
            asked.append(len(X))
            return super().predict_proba(X)

    counted = Counted(model.steps)
    found = cw.importance(counted, X, kind="permutation", y=X[:, 0] + X[:, 1] > 0, repeats=10)
    assert sum(asked) < 2 * len(X)
    plain = cw.importance(
        model.predict_proba, X, kind="permutation", y=X[:, 0] + X[:, 1] > 0, repeats=10, loss=_log
    )
    np.testing.assert_allclose(found.values, plain.values, atol=1e-9)


def _log(y, p):
    return -np.log(np.where(y, p[:, 1], p[:, 0]))


@pytest.mark.parametrize("kind", ["permutation", "loco", "variance", "shapley"])
def test_a_time_limit_gives_what_is_done(kind):
    rng = np.random.default_rng(9)
    X = rng.normal(size=(300, 3))
    y = X[:, 0] + rng.normal(size=300)
    model = KNeighborsRegressor().fit(X, y)
    with pytest.warns(cw.ClearwoodWarning, match="ended early|time limit|precision|are enough"):
        found = cw.importance(model, X, y=y, kind=kind, repeats=400, time_limit=1e-3)
    assert np.isfinite(found.values).all()
    assert found["x0"] > 0


def test_interrupted_shuffles_give_those_that_are_done(monkeypatch):
    monkeypatch.setattr(loss_increase, "_ROWS_PER_CALL", 100)
    X = np.random.default_rng(10).normal(size=(100, 2))
    calls = []

    def model(X):
        calls.append(len(X))
        if len(calls) == 12:
            raise KeyboardInterrupt
        return X[:, 0]

    with pytest.warns(cw.ClearwoodWarning, match="after 4 of 50 shuffles"):
        found = cw.importance(model, X, kind="permutation", y=X[:, 0], repeats=50)
    assert found["x1"] == 0 < found["x0"]
