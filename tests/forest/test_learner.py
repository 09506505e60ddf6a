import numpy as np
import pytest

import clearwood as cw


@pytest.fixture
def claims():
    rng = np.random.default_rng(0)
    n = 400
    age = rng.integers(18, 80, n).astype(float)
    age[rng.random(n) < 0.1] = np.nan
    region = rng.choice(["north", "south", "west"], n).astype(object)
    region[rng.random(n) < 0.05] = None
    cost = np.nan_to_num(age) / 10 + np.where(region == "west", 4, 0) + rng.normal(0, 0.3, n)
    label = np.where(cost > 5, "dear", "cheap")
    columns = {"age": age.tolist(), "region": region.tolist(), "power": rng.normal(size=n).tolist()}
    return columns, cost, label


TREES = ["tree", "forest", "extra-trees", "gbm", "adaboost", "bagging"]
BOOSTERS = ["lightgbm", "xgboost"]


@pytest.mark.parametrize("name", TREES + BOOSTERS)
@pytest.mark.parametrize("task", ["regression", "binary"])
def test_a_learner_predicts_the_same_from_the_users_columns(name, task, claims):
    columns, cost, label = claims
    if name in BOOSTERS:
        pytest.importorskip(name)
    data = cw.read({**columns, "y": (cost if task == "regression" else label).tolist()}, target="y")
    model = cw.learner(name).fit(data)
    forest = cw.forest.from_model(model)
    assert forest.columns == ("age", "region", "power")
    if task == "regression":
        np.testing.assert_allclose(forest.predict(data), model.predict(data), rtol=1e-12)
    else:
        np.testing.assert_array_equal(forest.predict(data), model.predict(data))
        proba = model.predict_proba(data)
        np.testing.assert_allclose(forest.predict_proba(data), proba, atol=1e-6)


def test_one_hot_columns_of_a_learner_are_one_player(claims):
    columns, cost, _ = claims
    data = cw.read({**columns, "y": cost.tolist()}, target="y")
    forest = cw.forest.from_model(cw.learner("forest", categories="onehot").fit(data))
    of_region = [n for n, g in zip(forest.feature_names, forest.groups, strict=True) if g == 1]
    assert len(of_region) >= 3
    assert all(name.startswith("region") for name in of_region)


def test_saved_with_its_encoding(claims, tmp_path):
    columns, cost, _ = claims
    data = cw.read({**columns, "y": cost.tolist()}, target="y")
    forest = cw.forest.from_model(cw.learner("gbm").fit(data))
    again = cw.forest.load(forest.save(tmp_path / "forest.cw"))
    assert again.equals(forest)
    np.testing.assert_array_equal(again.predict(data.X), forest.predict(data.X))


def test_a_learner_that_is_no_tree_is_refused(claims):
    columns, cost, _ = claims
    data = cw.read({**columns, "y": cost.tolist()}, target="y")
    with pytest.raises(cw.InputError, match=r"learner 'ridge' is not a tree model"):
        cw.forest.from_model(cw.learner("ridge").fit(data))
