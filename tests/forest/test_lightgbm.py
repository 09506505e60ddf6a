import numpy as np
import pandas as pd
import pytest

import clearwood as cw

lgb = pytest.importorskip("lightgbm")

QUIET = {"verbose": -1, "n_jobs": 1, "min_child_samples": 5}
MODELS = [
    (lgb.LGBMRegressor(n_estimators=40, **QUIET), "number"),
    (lgb.LGBMRegressor(n_estimators=20, objective="poisson", **QUIET), "count"),
    (lgb.LGBMRegressor(n_estimators=20, reg_sqrt=True, **QUIET), "number"),
    (lgb.LGBMRegressor(n_estimators=20, zero_as_missing=True, **QUIET), "number"),
    (lgb.LGBMRegressor(n_estimators=20, use_missing=False, **QUIET), "number"),
    (lgb.LGBMRegressor(n_estimators=20, boosting_type="dart", **QUIET), "number"),
    (
        lgb.LGBMRegressor(
            n_estimators=9, boosting_type="rf", subsample=0.6, subsample_freq=1, **QUIET
        ),
        "number",
    ),
    (lgb.LGBMClassifier(n_estimators=30, **QUIET), "two"),
    (lgb.LGBMClassifier(n_estimators=30, sigmoid=2.0, **QUIET), "two"),
    (lgb.LGBMClassifier(n_estimators=10, **QUIET), "three"),
    (lgb.LGBMClassifier(n_estimators=10, objective="multiclassova", **QUIET), "three"),
]


@pytest.mark.parametrize(
    ("model", "target"), MODELS, ids=lambda part: str(part).replace("\n", "")[:70]
)
@pytest.mark.parametrize("rows", ["X", "gaps"])
def test_bits_agree(model, target, rows, numbers, adversarial):
    train = numbers[rows].copy()
    train[::5, 4] = 0.0
    model.fit(train, numbers[target])
    forest = cw.forest.from_model(model)
    X = adversarial(forest, train, missing=0.1)
    X[::9, 4] = 0.0
    X[1::9, 4] = 1e-36
    X[2::9, 4] = -1e-34
    averaged = model.boosting_type == "rf"  # its raw score is the sum, its prediction the mean
    raw = model.predict(X, raw_score=not averaged)
    np.testing.assert_array_equal(forest.predict_raw(X), raw)
    if target in ("two", "three"):
        np.testing.assert_array_equal(forest.predict(X), model.predict(X))
        np.testing.assert_array_equal(forest.predict_proba(X), model.predict_proba(X))
    else:
        np.testing.assert_array_equal(forest.predict(X), model.predict(X))


def test_trees_end_at_the_best_iteration(numbers):
    X, y = numbers["X"], numbers["number"]
    model = lgb.LGBMRegressor(n_estimators=300, learning_rate=0.5, **QUIET)
    stop = lgb.early_stopping(3, verbose=False)
    model.fit(X[:300], y[:300], eval_X=X[300:], eval_y=y[300:], callbacks=[stop])
    forest = cw.forest.from_model(model)
    assert forest.n_trees == model.best_iteration_ < 300
    np.testing.assert_array_equal(forest.predict(X), model.predict(X))


@pytest.fixture
def labelled():
    rng = np.random.default_rng(0)
    labels = [f"level {i}" for i in range(40)]
    frame = pd.DataFrame(
        {
            "idle": pd.Categorical(["only"] * 900),
            "number": rng.normal(size=900),
            "label": pd.Categorical(rng.choice(labels, 900), labels),
            "whole": pd.Categorical(rng.choice([9, 3, 5], 900)),
        }
    )
    frame.loc[rng.random(900) < 0.1, "label"] = None
    effect = dict(zip(labels, rng.normal(size=40), strict=True))
    y = frame["label"].map(effect).astype(float).fillna(1) + (frame["whole"] == 5) * frame["number"]
    return frame, y


GROUPS = {"min_data_per_group": 5, "cat_smooth": 1.0}


def test_native_categories_by_label(labelled):
    frame, y = labelled
    model = lgb.LGBMRegressor(n_estimators=20, **QUIET, **GROUPS).fit(frame, y)
    forest = cw.forest.from_model(model)
    assert forest.is_categorical.any()
    odd = frame.copy()
    odd["label"] = odd["label"].cat.add_categories(["new"])
    odd.loc[::3, "label"] = "new"
    for rows in (frame, odd):
        np.testing.assert_array_equal(forest.predict(rows), model.predict(rows))


def test_native_categories_of_a_booster_read_from_text(labelled):
    frame, y = labelled
    model = lgb.LGBMRegressor(n_estimators=10, **QUIET, **GROUPS).fit(frame.iloc[:, 1:], y)
    booster = lgb.Booster(model_str=model.booster_.model_to_string())
    forest = cw.forest.from_model(booster)
    np.testing.assert_array_equal(
        forest.predict(frame), booster.predict(frame.iloc[:, 1:], raw_score=True)
    )


def test_native_categories_by_code_seen_or_not():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 40, 800), rng.normal(size=800)]).astype(float)
    y = rng.normal(size=40)[X[:, 0].astype(int)] + X[:, 1]
    model = lgb.LGBMRegressor(n_estimators=15, **QUIET, **GROUPS)
    model.fit(X, y, categorical_feature=[0])
    forest = cw.forest.from_model(model)
    X[:, 0] = np.resize([*range(40), 41, 63, 64, 100, 5000, -1, -7, np.nan], 800)
    np.testing.assert_array_equal(forest.predict(X), model.predict(X))


def test_spaces_in_names_do_no_harm(numbers):
    frame = pd.DataFrame(numbers["X"], columns=[f"column {i}" for i in range(6)])
    model = lgb.LGBMRegressor(n_estimators=3, **QUIET).fit(frame, numbers["number"])
    forest = cw.forest.from_model(model)
    shuffled = frame.iloc[:, ::-1]
    np.testing.assert_array_equal(forest.predict(shuffled), model.predict(frame))


def test_linear_leaves_are_refused(numbers):
    model = lgb.LGBMRegressor(n_estimators=3, linear_tree=True, **QUIET)
    model.fit(numbers["X"], numbers["number"])
    with pytest.raises(cw.InputError, match="linear functions in its leaves"):
        cw.forest.from_model(model)


def test_a_constant_target_gives_trees_of_one_leaf(numbers):
    model = lgb.LGBMRegressor(n_estimators=3, **QUIET).fit(numbers["X"], np.full(500, 2.5))
    forest = cw.forest.from_model(model)
    assert forest.depth == 0
    np.testing.assert_array_equal(forest.predict(numbers["X"]), model.predict(numbers["X"]))


def test_a_text_with_too_few_numbers_is_refused(numbers, monkeypatch):
    model = lgb.LGBMRegressor(n_estimators=3, **QUIET).fit(numbers["X"], numbers["number"])
    booster = model.booster_
    text = booster.model_to_string()
    start = text.index("split_feature=")
    cut = text[:start] + text[text.index("\n", start) :]
    monkeypatch.setattr(booster, "model_to_string", lambda: cut)
    with pytest.raises(cw.InputError, match="not have one number per node under 'split_feature'"):
        cw.forest.from_model(booster)


def test_trees_without_a_split_are_one_leaf():
    model = lgb.LGBMRegressor(n_estimators=3, **QUIET).fit(np.zeros((50, 2)), np.arange(50))
    forest = cw.forest.from_model(model)
    assert forest.n_nodes == forest.n_trees
    np.testing.assert_array_equal(forest.predict(np.ones((2, 2))), model.predict(np.ones((2, 2))))
