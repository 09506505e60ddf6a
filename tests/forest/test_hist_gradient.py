import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

import clearwood as cw


@pytest.mark.parametrize(
    ("model", "target"),
    [
        (HistGradientBoostingRegressor(max_iter=15), "number"),
        (HistGradientBoostingRegressor(max_iter=15, loss="poisson"), "count"),
        (HistGradientBoostingRegressor(max_iter=15, loss="quantile", quantile=0.8), "number"),
        (HistGradientBoostingClassifier(max_iter=15), "two"),
        (HistGradientBoostingClassifier(max_iter=8, early_stopping=True), "three"),
    ],
    ids=str,
)
@pytest.mark.parametrize("rows", ["X", "gaps"])
def test_bits_agree(model, target, rows, numbers, adversarial):
    model.fit(numbers[rows], numbers[target])
    forest = cw.forest.from_model(model)
    X = adversarial(forest, numbers[rows], missing=0.1)
    raw = model._raw_predict(X)
    np.testing.assert_array_equal(forest.predict_raw(X).reshape(raw.shape), raw)
    if target in ("two", "three"):
        np.testing.assert_array_equal(forest.predict(X), model.predict(X))
        np.testing.assert_allclose(forest.predict_proba(X), model.predict_proba(X), atol=1e-15)
    else:
        np.testing.assert_allclose(forest.predict(X), model.predict(X), rtol=1e-15)


@pytest.fixture
def mixed():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "age": rng.normal(50, 10, 600),
            "region": pd.Categorical(rng.choice(list("fedcba"), 600), list("bafedc")),
            "code": rng.choice([3.0, 7.0, 11.0, 200.0], 600),
        }
    )
    frame.loc[rng.random(600) < 0.1, "region"] = None
    frame.loc[rng.random(600) < 0.1, "code"] = np.nan
    effect = frame["region"].map(dict(zip("abcdef", [3, -2, 5, 0, 1, -4], strict=True)))
    effect = effect.astype(float).fillna(2.0)
    y = effect * (frame["age"] > 50) + frame["code"].isin([7, 200]) * 2.0
    return frame, y + rng.normal(0, 0.1, 600)


def test_native_categories_missing_and_unseen(mixed):
    frame, y = mixed
    chosen = ["region", "code"]
    model = HistGradientBoostingRegressor(max_iter=20, categorical_features=chosen).fit(frame, y)
    forest = cw.forest.from_model(model)
    assert forest.is_categorical.any()
    assert forest.levels[1] == ("a", "b", "c", "d", "e", "f")
    np.testing.assert_array_equal(forest.predict(frame), model.predict(frame))
    odd = frame.assign(code=np.tile([5.0, 11.0, 999.0, -1.0, np.nan, 3.0], 100))
    odd["region"] = pd.Categorical(np.resize(["a", "zz", "c"], 600))
    np.testing.assert_array_equal(forest.predict(odd), model.predict(odd))


def test_categories_of_an_array_are_found_by_value(mixed):
    frame, y = mixed
    X = np.column_stack([frame["age"], frame["region"].cat.codes * 10, frame["code"]])
    model = HistGradientBoostingRegressor(max_iter=10, categorical_features=[1, 2]).fit(X, y)
    forest = cw.forest.from_model(model)
    X[::7, 1] = 35
    np.testing.assert_array_equal(forest.predict(X), model.predict(X))
