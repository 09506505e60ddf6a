"""Trees explained over rows drawn from their background, with standard errors."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

import clearwood as cw
from clearwood.explanation.games import trees as tree_games


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + rng.normal(0, 0.2, 300)
    return X, y


@pytest.fixture(scope="module")
def forest(rows):
    return RandomForestRegressor(3, max_depth=4, random_state=0).fit(*rows)


@pytest.fixture(scope="module")
def truth(forest, rows):
    return cw.explain(forest, rows[0], n_background="all")


def coverage(errors, deviations, times):
    """Return the share of deviations within some standard errors."""
    return float((np.abs(deviations) <= times * errors).mean())


def test_values_are_those_of_the_drawn_rows_alone(forest, rows):
    """Values linear in the background are averages over the drawn rows, whatever their groups."""
    X = rows[0]
    why = cw.explain(forest, X, n_background=60, seed=3)
    drawn = np.sort(np.random.default_rng(3).choice(len(X), 60, replace=False))
    alone = cw.explain(forest, X[drawn])
    assert_allclose(why.shapley(X[:5]).values, alone.shapley(X[:5]).values, atol=1e-12)
    assert_allclose(why.values(X[:5]).values, alone.values(X[:5]).values, atol=1e-12)
    assert why.baseline == pytest.approx(alone.baseline)
    assert_allclose(
        why.decomposition.partial_dependence("x1").values.min(),
        alone.decomposition.partial_dependence("x1").values.min(),
        rtol=0.2,
    )
    assert_allclose(why.shapley(X[:5]).prediction, forest.predict(X[:5]))


def test_standard_errors_cover_the_values_over_all_rows(forest, rows, truth):
    X = rows[0]
    exact = truth.shapley(X[:20]).values
    parts = truth.values(X[:20]).values
    curve = truth.effect("x0", kind="component")
    shapley, components, effects = [], [], []
    for seed in range(12):
        why = cw.explain(forest, X, n_background=80, seed=seed)
        values = why.shapley(X[:20])
        shapley.append((values.standard_errors, values.values - exact))
        found = why.values(X[:20])
        components.append((found.standard_errors, found.values - parts))
        effect = why.effect("x0", kind="component")
        assert_array_equal(effect.grid[0], curve.grid[0])
        effects.append((effect.standard_errors, effect.values - curve.values))
    for measured in (shapley, components, effects):
        errors, deviations = (np.concatenate([one[k].ravel() for one in measured]) for k in (0, 1))
        some = errors > 1e-12
        assert coverage(errors[some], deviations[some], 1) == pytest.approx(0.66, abs=0.1)
        assert coverage(errors[some], deviations[some], 3) > 0.95
        # where no drawn row matters, all groups agree; then few of all rows matter
        assert_allclose(deviations[~some], 0, atol=0.02)


def test_shares_of_variance_are_not_inflated_by_the_draw_and_have_honest_errors(
    forest, rows, truth
):
    exact = truth.importance().values
    found = [
        cw.explain(forest, rows[0], n_background=60, seed=seed).importance() for seed in range(10)
    ]
    values = np.array([one.values for one in found])
    errors = np.array([one.variances.total_errors for one in found])
    assert_allclose(values.mean(axis=0), exact, atol=0.03)
    assert coverage(errors, values - exact, 3) > 0.95
    assert errors.mean() < 4 * values.std(axis=0).mean()
    assert all(one.is_sampled and one.n_data == 300 for one in found)


def test_weights_and_rows_of_weight_zero(forest, rows):
    X = rows[0]
    weights = np.random.default_rng(1).integers(0, 3, len(X)).astype(float)
    exact = cw.explain(forest, X, weights=weights, n_background="all").shapley(X[:10]).values
    inside = []
    for seed in range(8):
        values = cw.explain(forest, X, weights=weights, n_background=80, seed=seed).shapley(X[:10])
        inside.append(np.abs(values.values - exact) <= 3 * values.standard_errors + 1e-9)
    assert np.mean(inside) > 0.96
    used = np.flatnonzero(weights)
    whole = cw.explain(forest, X, weights=weights, n_background=len(used))
    assert not whole.about.is_sampled


def test_the_result_says_that_rows_were_drawn(forest, rows):
    X = rows[0]
    why = cw.explain(forest, X, n_background=50)
    assert (why.about.is_sampled, why.background.n_rows, why.background.drawn_from) == (
        True,
        50,
        300,
    )
    assert "50 background rows drawn from 300" in repr(why)
    assert any("50 rows drawn from 300 (seed 0)" in note for note in why.notes)
    values = why.shapley(X[:1])
    assert values.about.is_sampled
    assert values.notes == why.notes
    assert values.to_json()["about"]["background"]["drawn_from"] == 300
    effect = why.effect("x0", kind="component")
    assert (effect.n_rows, effect.n_data, effect.exact, effect.band) == (50, 300, False, "draws")
    assert why.importance().variances.total_errors.shape == (4,)
    exact = cw.explain(forest, X, n_background="all").to_json()
    assert "drawn_from" not in exact["background"]


def test_all_rows_are_used_unless_that_would_take_long(forest, rows, monkeypatch):
    X = rows[0]
    assert not cw.explain(forest, X).about.is_sampled
    deep = RandomForestRegressor(2, random_state=0).fit(
        np.random.default_rng(0).normal(size=(300, 20)), rows[1]
    )
    data = np.random.default_rng(1).normal(size=(3000, 20))
    assert cw.explain(deep, data).background.n_rows == 3000
    monkeypatch.setattr(tree_games, "_SECONDS", 1e-9)
    cheap = cw.explain(deep, data)
    assert cheap.background.n_rows == 500
    assert cheap.background.drawn_from == 3000
    assert cw.explain(deep, data, n_background="all").background.n_rows == 3000
    # short paths are counted, however many rows there are
    assert not cw.explain(forest, X).about.is_sampled


def test_classes_groups_and_interactions(rows):
    X, y = rows
    model = RandomForestClassifier(3, max_depth=4, random_state=0).fit(X, np.digitize(y, [-1, 1]))
    why = cw.explain(model, X, n_background=40)
    values = why.shapley(X[:3], interactions=True)
    assert values.values.shape == values.standard_errors.shape == (3, 4, 3)
    assert_allclose(values.interactions.sum(axis=2), values.values, atol=1e-12)
    grouped = why.shapley(X[:3], groups={"both": ["x0", "x1"]})
    assert grouped.standard_errors.shape == (3, 3, 3)
    one = why.shapley(X[:3], output="1")
    assert_allclose(one.standard_errors, values.standard_errors[..., 1])


def test_one_call_and_a_pickled_explanation_draw_the_same_rows(forest, rows):
    X = rows[0]
    why = cw.explain(forest, X, n_background=50, seed=2)
    values = why.shapley(X[:3])
    again = pickle.loads(pickle.dumps(why)).shapley(X[:3])
    assert_array_equal(values.values, again.values)
    assert_array_equal(values.standard_errors, again.standard_errors)
    called = cw.shapley(forest, X, X[:3], n_background=50, seed=2)
    assert_array_equal(called.values, values.values)


def test_without_some_columns(forest, rows):
    why = cw.explain(forest, rows[0], n_background=50, max_order=None)
    rest = why.without("x0")
    assert rest.importance().total[0] == 0
    assert rest.importance().is_sampled


@pytest.mark.parametrize("n_background", [0, 1, 19, 2.5, True, "some"])
def test_too_few_rows_are_refused(n_background, forest, rows):
    with pytest.raises(cw.InputError, match="n_background"):
        cw.explain(forest, rows[0], n_background=n_background)
