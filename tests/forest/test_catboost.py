import json

import numpy as np
import pandas as pd
import pytest

import clearwood as cw

cb = pytest.importorskip("catboost")

QUIET = {"verbose": 0, "allow_writing_files": False, "thread_count": 1, "iterations": 20}
MODELS = [
    (cb.CatBoostRegressor(**QUIET), "number"),
    (cb.CatBoostRegressor(**QUIET, nan_mode="Max"), "number"),
    (cb.CatBoostRegressor(**QUIET, grow_policy="Lossguide"), "number"),
    (cb.CatBoostRegressor(**QUIET, grow_policy="Depthwise", depth=4), "number"),
    (cb.CatBoostRegressor(**QUIET, loss_function="Poisson"), "count"),
    (cb.CatBoostClassifier(**QUIET), "two"),
    (cb.CatBoostClassifier(**QUIET), "three"),
    (cb.CatBoostClassifier(**QUIET, loss_function="MultiClassOneVsAll"), "three"),
    (cb.CatBoostClassifier(**QUIET, grow_policy="Lossguide"), "three"),
]


@pytest.mark.parametrize(("model", "target"), MODELS, ids=lambda part: str(part)[-12:])
@pytest.mark.parametrize("rows", ["X", "gaps"])
def test_raw_predictions_agree_within_a_rounding_per_tree(
    model, target, rows, numbers, adversarial
):
    model = model.copy()
    model.fit(numbers[rows], numbers[target])
    forest = cw.forest.from_model(model)
    X = adversarial(forest, numbers[rows], missing=0.1 if rows == "gaps" else 0)
    raw = model.predict(X, prediction_type="RawFormulaVal")
    largest = np.abs(forest.leaf_value).max() * forest.n_trees + np.abs(forest.base).max()
    bound = forest.n_trees * np.spacing(largest)
    np.testing.assert_allclose(forest.predict_raw(X), raw, rtol=0, atol=bound)
    if target in ("two", "three"):
        np.testing.assert_array_equal(forest.predict(X), model.predict(X).ravel())
        np.testing.assert_allclose(forest.predict_proba(X), model.predict_proba(X), atol=1e-12)
    else:
        np.testing.assert_allclose(forest.predict(X), model.predict(X), rtol=1e-12)


def test_categories_are_refused_where_a_split_uses_them():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=200), "c": rng.choice(list("pqr"), 200)})
    y = (frame["c"] == "q") * 3.0 + rng.normal(0, 0.1, 200)
    model = cb.CatBoostRegressor(**QUIET).fit(frame, y, cat_features=["c"])
    with pytest.raises(cw.InputError, match=r"splits on categories or text.*one-hot"):
        cw.forest.from_model(model)


def test_categories_that_no_split_uses_do_no_harm():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"c": ["same"] * 200, "a": rng.normal(size=200)})
    model = cb.CatBoostRegressor(**QUIET).fit(frame, frame["a"] * 2, cat_features=["c"])
    forest = cw.forest.from_model(model)
    np.testing.assert_allclose(forest.predict(frame), model.predict(frame), rtol=1e-12)


def test_several_targets_are_outputs(numbers):
    y = np.column_stack([numbers["number"], numbers["count"]])
    model = cb.CatBoostRegressor(**QUIET, loss_function="MultiRMSE").fit(numbers["X"], y)
    forest = cw.forest.from_model(model)
    np.testing.assert_allclose(
        forest.predict(numbers["X"]), model.predict(numbers["X"]), rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("policy", ["SymmetricTree", "Depthwise"])
def test_trees_without_a_split_are_one_leaf(policy):
    X, y = np.arange(20.0).reshape(-1, 1), np.ones(20)
    options = QUIET | {"iterations": 3, "grow_policy": policy, "min_data_in_leaf": 50}
    y[:10] = 2.0
    model = cb.CatBoostRegressor(**options | ({"depth": 1} if policy == "SymmetricTree" else {}))
    model.fit(X, y)
    forest = cw.forest.from_model(model)
    np.testing.assert_allclose(forest.predict(X), model.predict(X), rtol=1e-12)


def test_a_model_read_from_its_file_is_imported_the_same(tmp_path, numbers):
    model = cb.CatBoostClassifier(**QUIET).fit(numbers["gaps"], numbers["three"])
    model.save_model(str(tmp_path / "model.cbm"))
    read = cb.CatBoostClassifier().load_model(str(tmp_path / "model.cbm"))
    assert cw.forest.from_model(read).equals(cw.forest.from_model(model))


@pytest.mark.parametrize("policy", ["SymmetricTree", "Lossguide"])
def test_the_binary_file_has_the_trees_of_the_json_file(policy, tmp_path, numbers):
    model = cb.CatBoostRegressor(**QUIET, grow_policy=policy).fit(numbers["X"], numbers["number"])
    model.save_model(str(tmp_path / "model.json"), format="json")
    content = json.loads((tmp_path / "model.json").read_text())
    splits, leaves = [], []
    for tree in content.get("oblivious_trees", content.get("trees")):
        nodes = [tree]
        for node in nodes:
            if "splits" in node:  # one for a level
                depth = len(node["splits"])
                splits += [
                    s["border"] for k, s in enumerate(node["splits"][::-1]) for _ in range(2**k)
                ]
                leaves += node["leaf_values"]
                assert len(node["leaf_weights"]) == 2**depth
            elif "split" in node:
                nodes += [node["left"], node["right"]]
                splits.append(node["split"]["border"])
            else:
                leaves.append(node["value"])
    forest = cw.forest.from_model(model)
    np.testing.assert_array_equal(forest.threshold[~forest.is_leaf], splits)
    np.testing.assert_array_equal(forest.value[forest.is_leaf, 0], leaves)
