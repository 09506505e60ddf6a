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
