"""Decompositions of models that can only be asked."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.ensemble import RandomForestRegressor
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import clearwood as cw


@pytest.fixture(scope="module", name="X")
def _matrix():
    return np.random.default_rng(0).normal(size=(150, 4))


@pytest.fixture(scope="module")
def trees(X):
    y = X[:, 0] * X[:, 1] + X[:, 2]
    return RandomForestRegressor(6, max_depth=4, random_state=0).fit(X, y)


def test_asked_about_all_rows_it_is_the_exact_decomposition(trees, X):
    exact = cw.explain(trees, X)
    found = cw.explain(trees.predict, X, n_background=150)
    assert found.baseline == pytest.approx(exact.baseline)
    known, sampled = exact.values(X[:6]), found.values(X[:6])
    for columns in found.components:
        assert_allclose(sampled[columns], known[columns], atol=1e-12)
    assert_allclose(sampled.remainder, known.remainder, atol=1e-12)
    assert_allclose(sampled.standard_errors, 0)
    assert_allclose(found.shapley(X[:3]).values, exact.shapley(X[:3]).values, atol=1e-12)
    curve, same = (
        found.effect("x0", kind="component", points=150),
        exact.effect("x0", kind="component"),
    )
    assert_allclose(curve.values, same.values, atol=1e-12)
    assert_allclose(
        found.decomposition.partial_dependence("x0", "x1", points=5).values,
        exact.decomposition.partial_dependence("x0", "x1", points=5).values,
        atol=1e-12,
    )
    assert_allclose(found.importance().share, exact.importance().share, atol=1e-9)
    assert_allclose(
        found.importance().variances.prediction, exact.importance().variances.prediction, atol=1e-9
    )
    assert found.importance().total_errors is None


def test_components_and_remainder_add_up_to_the_prediction(X):
    def model(X):
        return X[:, 0] * X[:, 1] * X[:, 2] + X[:, 3]

    why = cw.explain(model, X, n_background=50)
    found = why.values(X[:5])
    total = why.baseline + found.values.sum(axis=1) + found.remainder
    assert_allclose(total, model(X[:5]), atol=1e-12)
    assert np.abs(found.remainder).max() > 0.01
    assert "remainder" in repr(why)
    assert "50 of 150 rows" in repr(why)


def test_standard_errors_have_their_coverage():
    X = np.random.default_rng(1).normal(size=(1000, 3))

    def model(X):
        return np.exp(X[:, 0] / 2) * X[:, 1] + X[:, 2] ** 2 * X[:, 1]

    rows = X[:4]
    truth = cw.explain(model, X, n_background=1000).values(rows)
    inside = []
    for seed in range(80):
        found = cw.explain(model, X, n_background=60, seed=seed).values(rows)
        inside.append(np.abs(found.values - truth.values) <= 1.96 * found.standard_errors + 1e-12)
    assert 0.88 < np.mean(inside) < 0.99


def test_effects_have_standard_errors_in_their_table(X):
    why = cw.explain(lambda X: X[:, 0] * X[:, 1], X, n_background=40)
    curve = why.effect("x0", kind="component", points=6)
    assert curve.standard_errors.shape == curve.values.shape
    assert "standard error" in curve.to_frame("dict")
    assert why.values(X[:2]).to_json()["standard_errors"] is not None
    assert (
        cw.explain(RandomForestRegressor(2).fit(X, X[:, 0]), X).effect("x0").standard_errors is None
    )


def test_partial_dependences_and_all_effects_have_standard_errors():
    X = np.random.default_rng(3).normal(size=(800, 3))

    def model(X):
        return X[:, 0] * X[:, 1] + X[:, 2]

    truth = cw.explain(model, X, n_background=800).decomposition.partial_dependence(
        "x0", "x1", points=4
    )
    inside = []
    for seed in range(40):
        why = cw.explain(model, X, n_background=50, seed=seed)
        found = why.decomposition.partial_dependence("x0", "x1", points=4)
        # the grid is of the drawn rows: compare with the truth at the same values
        a, b = found.grid
        exact = a[:, None] * b + X[:, 2].mean()
        inside.append(np.abs(found.values - exact) <= 1.96 * found.standard_errors)
    assert truth.standard_errors.max() == 0
    assert 0.85 < np.mean(inside) < 1.0
    assert all(e.standard_errors.shape == e.values.shape for e in why.effects())


def test_importance_is_free_of_the_noise_of_the_draw_and_says_how_far_it_can_be_off():
    X = np.random.default_rng(4).normal(size=(3000, 5))

    def model(X):
        return X[:, 0] + 0.5 * X[:, 1] * X[:, 2] + 0.0 * X[:, 4]

    # variances 1 and 0.25 of independent columns; x3 and x4 do nothing
    truth = np.array([1.0, 0.25]) / 1.25
    shares, inside = [], []
    for seed in range(30):
        found = cw.explain(model, X, seed=seed).importance()
        at = [found.components.index(("x0",)), found.components.index(("x1", "x2"))]
        shares.append(found.share[at])
        inside.append(np.abs(found.share[at] - truth) <= 1.96 * found.share_errors[at])
        assert found.total[3:].max() < 1e-12
    assert_allclose(np.mean(shares, axis=0), truth, atol=0.03)
    assert 0.85 < np.mean(inside) <= 1.0
    assert "standard error" in found.to_frame("dict")
    assert "standard error" in found.interactions().to_frame("dict")
    assert found.to_json()["variances"]["standard_errors"]["total"] is not None


def test_many_columns_are_screened_for_those_that_interact():
    X = np.random.default_rng(5).normal(size=(300, 30))
    asked = []

    def model(X):
        asked.append(len(X))
        return X[:, 7] * X[:, 21] + X.sum(axis=1)

    why = cw.explain(model, X)
    assert ("x7", "x21") in why.components
    assert len(why.components) == 30 + 15 * 14 // 2
    assert any("15 of 30 columns" in note for note in why.notes)
    found = why.importance()
    assert found.interactions().components[0] == ("x7", "x21")
    assert sum(asked) < 400_000
    assert why.effect("x0", "x1", kind="component").values.shape == (12, 12)


def test_a_time_limit_measures_at_fewer_rows():
    X = np.random.default_rng(6).normal(size=(400, 6))
    counts = []
    for budget in (None, 1e-3):
        asked = []

        def model(X, asked=asked):
            asked.append(len(X))
            return X[:, 0] * X[:, 1]

        found = cw.explain(model, X, time_limit=budget)
        before = sum(asked)
        assert found.importance().share_errors.shape == (21,)
        counts.append(sum(asked) - before)
    assert counts[1] < counts[0] / 2
    with pytest.raises(cw.InputError, match="time_limit=0"):
        cw.explain(model, X, time_limit=0)


def test_new_rows_are_read_in_the_users_columns():
    pd = pytest.importorskip("pandas")
    generator = np.random.default_rng(2)
    frame = pd.DataFrame(
        {"age": generator.normal(40, 9, 120), "town": generator.choice(["a", "b"], 120)}
    )

    def model(rows):
        return rows["age"] * (rows["town"] == "a")

    why = cw.explain(model, frame)
    fresh = pd.DataFrame({"town": ["b", "a"], "age": [50.0, 30.0]}, index=[7, 9])
    found = why.values(fresh)
    assert found.rows.tolist() == [7, 9]
    total = why.baseline + found.values.sum(axis=1)
    assert_allclose(total, [0, 30], atol=1e-9)
    assert_allclose(why.shapley(fresh).prediction, [0, 30], atol=1e-9)
    assert why.effect("town", kind="component").grid[0].tolist() == ["a", "b"]


def test_classes_and_weights(X):
    model = KNeighborsClassifier().fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    weights = np.arange(150.0)
    why = cw.explain(model, X, weights=weights, n_background=150)
    expected = np.average(model.predict_proba(X), axis=0, weights=weights)
    assert_allclose(why.baseline, expected)
    one = cw.explain(model, X, output=1)
    assert one.outputs == ("1",)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_order": None}, "too many coalitions.*max_order=3"),
        ({"n_background": 1}, "n_background=1"),
        ({"weights": [1.0]}, "weights have the shape"),
        ({"output": "z"}, "no output 'z'"),
    ],
)
def test_what_cannot_be_sampled_is_said(X, options, message):
    model = KNeighborsRegressor().fit(X, X[:, 0])
    with pytest.raises(cw.InputError, match=message):
        cw.explain(model, X, **options)
    with pytest.raises(cw.InputError, match="exact values only"):
        cw.explain(model, X).shapley(X[:1], interactions=True)


def test_a_forest_can_be_asked_instead_of_taken_apart():
    """Of deep forests the exact way takes too long; asking all rows gives the same numbers."""
    data = cw.datasets.load("diabetes").head(40)
    model = cw.learner("gbm", max_depth=2, max_iter=3).fit(data)
    asked = cw.explain(model, data, exact=False, n_background=40)
    assert "sampled" in asked.notes[0]
    exact = cw.explain(model, data)
    assert_allclose(
        asked.effect("bmi", kind="component", points=9).values,
        exact.effect("bmi", kind="component", points=9).values,
    )
