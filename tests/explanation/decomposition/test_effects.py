"""Effects and partial dependence: against brute force, by kind of column, and as results."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.inspection import partial_dependence
from sklearn.linear_model import LinearRegression

import clearwood as cw


@pytest.fixture(scope="module")
def numbers():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(150, 4))
    return X, X[:, 0] * X[:, 1] + np.sin(X[:, 2])


@pytest.fixture(scope="module")
def boosted(numbers):
    return GradientBoostingRegressor(n_estimators=20, max_depth=4, random_state=0).fit(*numbers)


@pytest.fixture(scope="module")
def why(boosted, numbers):
    return cw.explain(boosted, numbers[0])


@pytest.fixture(scope="module")
def table():
    generator = np.random.default_rng(1)
    n = 120
    power = generator.normal(50, 10, n)
    power[::9] = np.nan
    town = generator.choice(["Bern", "Chur", "Basel"], n).astype(object)
    town[::13] = None
    day = np.datetime64("2020-01-01") + generator.integers(0, 600, n)
    y = np.nan_to_num(power) * (town == "Bern") + day.astype(float) / 100
    return cw.read(
        {"power": power, "town": town.tolist(), "day": day, "size": list("SML" * 40), "y": y},
        target="y",
        kinds={"size": ["S", "M", "L"]},
    )


@pytest.fixture(scope="module")
def mixed(table):
    return cw.explain(cw.learner("forest", n_estimators=5, max_depth=5).fit(table), table)


def brute_dependence(model, X, columns, values):
    """The mean prediction with columns held, by asking the model about every row."""
    held = X.copy()
    held[:, columns] = values
    return model.predict(held).mean()


@pytest.mark.parametrize("column", [0, 1, 2, 3])
def test_partial_dependence_is_scikit_learns_brute_force(why, boosted, numbers, column):
    X, _ = numbers
    found = why.decomposition.partial_dependence(f"x{column}")
    expected = partial_dependence(
        boosted, X, [column], method="brute", custom_values={column: found.grid[0]}
    )
    assert_allclose(found.values, expected["average"][0], atol=1e-10)


def test_partial_dependence_on_two_columns_is_brute_force(why, boosted, numbers):
    X, _ = numbers
    found = why.decomposition.partial_dependence("x1", "x0", points=4)
    for i, a in enumerate(found.grid[0]):
        for j, b in enumerate(found.grid[1]):
            expected = brute_dependence(boosted, X, [1, 0], [a, b])
            assert found.values[i, j] == pytest.approx(expected, abs=1e-10)


def test_the_order_of_two_columns_only_turns_the_surface(why):
    assert_allclose(
        why.effect("x0", "x1", kind="component").values,
        why.effect("x1", "x0", kind="component").values.T,
    )


def test_an_effect_is_the_dependence_less_the_baseline(why):
    assert_allclose(
        why.effect("x2", kind="component").values + why.baseline,
        why.decomposition.partial_dependence("x2").values,
        atol=1e-12,
    )


def test_an_interaction_is_what_two_effects_leave(why):
    points = 6
    both = why.decomposition.partial_dependence("x0", "x1", points=points).values
    first = why.effect("x0", kind="component", points=points).values[:, None]
    second = why.effect("x1", kind="component", points=points).values[None, :]
    joint = why.effect("x0", "x1", kind="component", points=points).values
    assert_allclose(both, why.baseline + first + second + joint, atol=1e-10)


def test_effects_at_rows_are_the_components(why, numbers):
    X, _ = numbers
    found, effect = why.values(X), why.effect("x0", kind="component")
    at = np.searchsorted(effect.grid[0], X[:, 0])
    assert_allclose(found["x0"], effect.values[at], atol=1e-12)
    assert_allclose(found["x1", "x0"], found["x0", "x1"])


def test_all_values_are_shown_where_they_are_few_and_quantiles_where_many(numbers):
    X, y = numbers
    model = LinearRegression().fit(X, y)
    why = cw.explain(model, X)
    assert len(why.effect("x0", kind="component").grid[0]) == 150
    few = why.effect("x0", kind="component", points=10)
    assert len(few.grid[0]) == 10
    assert (few.grid[0][0], few.grid[0][-1]) == (X[:, 0].min(), X[:, 0].max())
    assert few.shares.sum() == pytest.approx(1)
    assert_allclose(few.values, model.coef_[0] * (few.grid[0] - X[:, 0].mean()), atol=1e-12)


def test_categories_are_shown_by_level_and_missing_as_its_own(mixed, table):
    effect = mixed.effect("town", kind="component")
    assert effect.grid[0].tolist() == ["Basel", "Bern", "Chur", None]
    assert not effect.is_ordered[0]
    town = table["town"].labels()
    expected = [np.mean([v == level for v in town]) for level in ["Basel", "Bern", "Chur", None]]
    assert_allclose(effect.shares, expected)


def test_ordered_categories_keep_their_order(mixed):
    assert mixed.effect("size", kind="component").grid[0].tolist() == ["S", "M", "L"]


def test_missing_numbers_stand_last_and_count(mixed, table):
    effect = mixed.effect("power", kind="component")
    assert np.isnan(effect.grid[0][-1])
    assert not np.isnan(effect.grid[0][:-1]).any()
    assert effect.shares[-1] == pytest.approx(table["power"].n_missing / table.n_rows)


def test_dates_are_one_column_whatever_the_model_sees_of_them(mixed):
    effect = mixed.effect("day", kind="component")
    assert effect.grid[0].dtype.kind == "M"
    assert effect.is_ordered[0]
    assert effect.to_json()["grid"][0][0].startswith("2020-")


@pytest.mark.parametrize("columns", [("power",), ("town",), ("day",), ("power", "town")])
def test_effects_of_every_kind_become_frames_and_json(mixed, columns):
    effect = mixed.effect(*columns, kind="component")
    frame = effect.to_frame("dict")
    assert list(frame) == [*columns, "component", "share"]
    assert frame["component"] == effect.values.ravel().tolist()
    assert json.loads(json.dumps(effect.to_json(), allow_nan=False))["columns"] == list(columns)
    assert effect.title.split()[0] in repr(effect)
    assert effect.about.value == "interventional"
    assert effect._repr_html_().startswith("<div>")


def test_all_main_effects_at_once_are_those_one_by_one(mixed):
    together = mixed.effects(points=12)
    assert [effect.columns for effect in together] == [
        names for names in mixed.components if len(names) == 1
    ]
    for effect in together:
        alone = mixed.effect(*effect.columns, kind="component", points=12)
        assert_allclose(effect.values, alone.values, atol=1e-12)
        assert effect.grid[0].tolist()[:-1] == alone.grid[0].tolist()[:-1]
        assert_allclose(effect.shares, alone.shares)


def test_weights_shift_the_shares(numbers):
    X, y = numbers
    model = LinearRegression().fit(X, y)
    weights = (X[:, 0] > 0).astype(float)
    effect = cw.explain(model, X, weights=weights).effect("x0", points=20)
    assert effect.shares[effect.grid[0] < -0.5].sum() == 0
    assert effect.shares.sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda why: why.effect("x9", kind="component"), "no column 'x9'"),
        (lambda why: why.effect("x0", "x0", kind="component"), "given twice"),
        (lambda why: why.effect("x0", kind="component", points=1), "at least 2"),
        (lambda why: why.without("x0").effect("x0"), "was removed"),
        (lambda why: why.without("x0").effect("x1", "x0"), "was removed"),
    ],
)
def test_effects_of_what_is_not_there_are_refused(why, ask, message):
    with pytest.raises(cw.InputError, match=message):
        ask(why)


def test_interactions_beyond_the_order_are_refused_but_dependence_is_not(boosted, numbers):
    X, _ = numbers
    first = cw.explain(boosted, X, max_order=1)
    with pytest.raises(cw.InputError, match="max_order=2"):
        first.effect("x0", "x1", kind="component")
    both = first.decomposition.partial_dependence("x0", "x1", points=3)
    assert_allclose(
        both.values[1, 1],
        brute_dependence(boosted, X, [0, 1], [both.grid[0][1], both.grid[1][1]]),
    )


def test_a_column_named_like_a_result_does_not_clash():
    generator = np.random.default_rng(0)
    values = {name: generator.normal(size=30) for name in ("row", "component", "share", "y")}
    data = cw.read(values, target="y")
    why = cw.explain(cw.learner("ols").fit(data), data)
    assert list(why.effect("component", kind="component").to_frame("dict")) == [
        "component",
        "component_",
        "share",
    ]
    found = why.shapley(data.head(2)).to_frame("dict")
    assert list(found) == ["row_", "row", "component", "share", "baseline", "prediction"]


def test_many_columns_on_a_path_are_explained():
    generator = np.random.default_rng(0)
    n_columns = 200
    X = generator.normal(size=(300, n_columns))
    forest = cw.forest.Forest(**chain_of(n_columns))
    found = cw.shapley(forest, X, X[:20])
    assert_allclose(found.prediction, forest.predict_raw(X[:20]), atol=1e-9)
    why = cw.explain(forest, X[:50], max_order=1)
    assert len(why.components) == n_columns
    with pytest.raises(cw.InputError, match=r"200 columns.*smaller max_order"):
        cw.explain(forest, X[:50], max_order=None)


def chain_of(n_columns):
    """One tree whose deepest path asks about every column in turn."""
    n_nodes = 2 * n_columns + 1
    inner = np.arange(0, 2 * n_columns, 2)
    left, right = np.full(n_nodes, -1), np.full(n_nodes, -1)
    left[inner], right[inner] = inner + 1, inner + 2
    feature = np.full(n_nodes, -1)
    feature[inner] = np.arange(n_columns)
    nothing = np.zeros(n_nodes, bool)
    return {
        "roots": np.array([0]),
        "left": left,
        "right": right,
        "feature": feature,
        # most rows go on to the right, so that long paths are walked
        "threshold": np.where(left >= 0, -2.5, 0.0),
        "value": np.where(left < 0, np.sin(np.arange(n_nodes)), 0.0),
        "cover": np.full(n_nodes, np.nan),
        "base": np.zeros(1),
        "feature_names": tuple(f"c{k}" for k in range(n_columns)),
        "default_left": nothing,
        "zero_missing": nothing,
        "category_start": np.full(n_nodes, -1),
        "category_size": np.zeros(n_nodes, int),
        "category_words": np.empty(0, np.uint32),
        "unseen_left": nothing,
        "tree_output": np.array([-1]),
        "tree_weight": np.ones(1),
    }


def test_trees_without_covers_have_no_path_dependent_values():
    forest = cw.forest.Forest(**chain_of(3))
    with pytest.raises(cw.InputError, match="number of training rows"):
        cw.shapley(forest, np.zeros((2, 3)), value="path_dependent")


def test_leaves_that_are_no_numbers_are_refused():
    arrays = chain_of(3)
    arrays["value"][1] = np.nan
    with pytest.raises(cw.InputError, match=r"NaN|finite"):
        cw.explain(cw.forest.Forest(**arrays), np.zeros((2, 3)))


def test_a_deep_forest_keeps_its_remainder():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(120, 6))
    model = RandomForestRegressor(4, random_state=0).fit(X, X.prod(axis=1))
    why = cw.explain(model, X)
    assert not why.is_complete
    assert 0 < why.importance().remainder_share < 1
    total = why.predict(X) + why.remainder(X)
    assert_allclose(total, model.predict(X), atol=1e-10)
    assert why.to_frame("dict")["component"][-1] == "(remainder)"
