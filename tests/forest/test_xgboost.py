import json

import numpy as np
import pandas as pd
import pytest

import clearwood as cw

xgb = pytest.importorskip("xgboost")

xgb.set_config(verbosity=0)

# dropout of trees was a booster of its own until XGBoost 3.2
DART = {"booster": "dart"} if xgb.__version__ < "3.3" else {}

MODELS = [
    (xgb.XGBRegressor(n_jobs=1, n_estimators=40, max_depth=5), "number"),
    (xgb.XGBRegressor(n_jobs=1, n_estimators=20, objective="reg:absoluteerror"), "number"),
    (xgb.XGBRegressor(n_jobs=1, n_estimators=20, objective="count:poisson"), "count"),
    (xgb.XGBRegressor(n_jobs=1, n_estimators=20, objective="reg:tweedie"), "count"),
    (xgb.XGBRegressor(n_jobs=1, n_estimators=15, tree_method="exact", gamma=1.0), "number"),
    (xgb.XGBRegressor(n_jobs=1, n_estimators=15, grow_policy="lossguide", max_leaves=7), "number"),
    (xgb.XGBRegressor(n_jobs=1, n_estimators=3, num_parallel_tree=4, subsample=0.5), "number"),
    (xgb.XGBRegressor(n_jobs=1, n_estimators=25, rate_drop=0.4, **DART), "number"),
    (xgb.XGBRegressor(n_jobs=1, n_estimators=1, num_parallel_tree=8, subsample=0.8), "number"),
    (xgb.XGBClassifier(n_jobs=1, n_estimators=30), "two"),
    (
        xgb.XGBClassifier(n_jobs=1, n_estimators=30, base_score=0.3, rate_drop=0.3, **DART),
        "two",
    ),
    (xgb.XGBClassifier(n_jobs=1, n_estimators=12, objective="binary:hinge"), "two"),
    (xgb.XGBClassifier(n_jobs=1, n_estimators=12, objective="binary:logitraw"), "two"),
    (xgb.XGBClassifier(n_jobs=1, n_estimators=12), "three"),
    (xgb.XGBClassifier(n_jobs=1, n_estimators=12, rate_drop=0.3, **DART), "three"),
    (xgb.XGBClassifier(n_jobs=1, n_estimators=6, multi_strategy="multi_output_tree"), "three"),
]


def coded(numbers, target):
    y = numbers[target]
    return np.unique(y, return_inverse=True)[1] if y.dtype.kind == "U" else y


@pytest.mark.parametrize(("model", "target"), MODELS, ids=lambda part: str(part)[:60])
@pytest.mark.parametrize("rows", ["X", "gaps"])
def test_bits_agree(model, target, rows, numbers, adversarial):
    model.fit(numbers[rows], coded(numbers, target))
    forest = cw.forest.from_model(model)
    X = adversarial(forest, numbers[rows], missing=0.1)
    margin = model.predict(X, output_margin=True)
    np.testing.assert_array_equal(forest.predict_raw(X), margin.astype(np.float64))
    np.testing.assert_array_equal(forest.predict(X), model.predict(X))
    if target in ("two", "three") and forest.link != "identity":  # hinge and raw scores are not
        np.testing.assert_array_equal(forest.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize(("model", "target"), MODELS, ids=lambda part: str(part)[:60])
def test_bits_agree_with_the_booster_too(model, target, numbers, adversarial):
    booster = model.fit(numbers["gaps"], coded(numbers, target)).get_booster()
    forest = cw.forest.from_model(booster)
    X = adversarial(forest, numbers["gaps"], missing=0.1)
    margin = booster.predict(xgb.DMatrix(X), output_margin=True)
    np.testing.assert_array_equal(forest.predict_raw(X), margin.astype(np.float64))


def test_trees_end_at_the_best_iteration(numbers):
    X, y = numbers["X"], numbers["number"]
    model = xgb.XGBRegressor(n_jobs=1, n_estimators=200, learning_rate=0.5, early_stopping_rounds=3)
    model.fit(X[:300], y[:300], eval_set=[(X[300:], y[300:])], verbose=False)
    forest = cw.forest.from_model(model)
    assert forest.n_trees == model.best_iteration + 1 < model.get_booster().num_boosted_rounds()
    np.testing.assert_array_equal(forest.predict(X), model.predict(X).astype(np.float64))


def test_a_booster_stopped_early_has_all_its_trees_as_in_xgboost(numbers):
    X, y = numbers["X"], numbers["number"]
    model = xgb.XGBRegressor(n_jobs=1, n_estimators=200, learning_rate=0.5, early_stopping_rounds=3)
    model.fit(X[:300], y[:300], eval_set=[(X[300:], y[300:])], verbose=False)
    booster = model.get_booster()
    forest = cw.forest.from_model(booster)
    assert forest.n_trees == booster.num_boosted_rounds()
    np.testing.assert_array_equal(forest.predict(X), booster.predict(xgb.DMatrix(X)))


def test_classes_stopped_early_have_a_tree_per_class_and_iteration(numbers):
    X, y = numbers["X"], coded(numbers, "three")
    model = xgb.XGBClassifier(n_jobs=1, n_estimators=60, learning_rate=1, early_stopping_rounds=2)
    model.fit(X[:300], y[:300], eval_set=[(X[300:], y[300:])], verbose=False)
    forest = cw.forest.from_model(model)
    assert forest.n_trees == 3 * (model.best_iteration + 1) < 180
    np.testing.assert_array_equal(forest.predict_proba(X), model.predict_proba(X))


OBJECTIVES = [
    ("reg:squarederror", {"base_score": 7.5}),
    ("reg:squaredlogerror", {}),
    ("reg:pseudohubererror", {}),
    ("reg:quantileerror", {"quantile_alpha": [0.1, 0.5, 0.9]}),
    ("reg:gamma", {"base_score": 0.3}),
    ("reg:tweedie", {}),
    ("reg:logistic", {}),
    ("binary:logistic", {"base_score": 0.01}),
    ("binary:logitraw", {"base_score": 0.2}),
    ("binary:hinge", {}),
    ("count:poisson", {"base_score": 3.0}),
    ("multi:softmax", {"num_class": 3}),
    ("multi:softprob", {"num_class": 3, "base_score": 0.4}),
    ("rank:pairwise", {}),
    ("rank:ndcg", {}),
    ("survival:cox", {}),
    ("survival:aft", {}),
]


@pytest.mark.parametrize(("objective", "options"), OBJECTIVES, ids=str)
def test_sums_start_where_every_objective_starts_them(objective, options, numbers):
    X, y = numbers["gaps"], 0.5 + numbers["count"]
    if objective.startswith(("binary", "multi")) or objective == "reg:logistic":
        y = coded(numbers, "three" if "num_class" in options else "two")
    data = xgb.DMatrix(X, y)
    if objective.startswith("rank"):
        data.set_group([len(X)])
        data.set_label(np.minimum(numbers["count"], 5))
    if objective == "survival:aft":
        data.set_float_info("label_lower_bound", y)
        data.set_float_info("label_upper_bound", y)
    booster = xgb.train({"objective": objective, "nthread": 1, **options}, data, 5)
    forest = cw.forest.from_model(booster)
    np.testing.assert_array_equal(forest.predict_raw(X), booster.predict(data, output_margin=True))


def test_cover_is_what_xgboost_keeps_to_the_last_bit(numbers):
    model = xgb.XGBClassifier(n_jobs=1, n_estimators=3).fit(numbers["X"], coded(numbers, "two"))
    booster = model.get_booster()
    trees = json.loads(bytes(booster.save_raw("json")))["learner"]["gradient_booster"]["model"]
    weights = np.concatenate([tree["sum_hessian"] for tree in trees["trees"]]).astype(np.float32)
    np.testing.assert_array_equal(cw.forest.from_model(model).cover, weights.astype(np.float64))


def test_trees_that_were_pruned_lose_their_deleted_nodes(numbers):
    model = xgb.XGBRegressor(n_jobs=1, n_estimators=20, max_depth=8, gamma=5.0, tree_method="exact")
    model.fit(numbers["gaps"], numbers["number"])
    forest = cw.forest.from_model(model)
    text = "".join(model.get_booster().get_dump())
    assert forest.n_nodes == text.count("\n")
    X = numbers["gaps"]
    np.testing.assert_array_equal(forest.predict(X), model.predict(X).astype(np.float64))


def test_a_form_that_is_not_known_is_named_with_the_version(numbers, monkeypatch):
    model = xgb.XGBRegressor(n_jobs=1, n_estimators=2).fit(numbers["X"], numbers["number"])
    booster = model.get_booster()
    whole = bytes(booster.save_raw("ubj"))
    for written in (whole[:-1], whole.replace(b"split_indices", b"split_columns"), b"{}"):
        monkeypatch.setattr(booster, "save_raw", lambda *_, written=written: bytearray(written))
        with pytest.raises(cw.InputError, match=rf"XGBoost {xgb.__version__} wrote .* not know"):
            cw.forest.from_model(booster)


def test_a_booster_predicts_on_its_targets_scale(numbers):
    data = xgb.DMatrix(numbers["gaps"], coded(numbers, "two"))
    booster = xgb.train({"objective": "binary:logistic", "max_depth": 3}, data, 10)
    forest = cw.forest.from_model(booster)
    np.testing.assert_allclose(forest.predict(numbers["gaps"]), booster.predict(data), rtol=1e-6)
    np.testing.assert_array_equal(
        forest.predict_raw(numbers["gaps"]), booster.predict(data, output_margin=True)
    )


def test_a_number_that_stands_for_missing(numbers):
    X = np.where(np.isnan(numbers["gaps"]), -999.0, numbers["gaps"])
    model = xgb.XGBRegressor(n_jobs=1, n_estimators=10, missing=-999.0).fit(X, numbers["number"])
    forest = cw.forest.from_model(model)
    np.testing.assert_array_equal(forest.predict(X), model.predict(X).astype(np.float64))


@pytest.mark.parametrize("onehot", [1, 100])
def test_native_categories_by_label(onehot):
    rng = np.random.default_rng(0)
    labels = np.array([f"level {i}" for i in range(45)])
    frame = pd.DataFrame(
        {
            "number": rng.normal(size=900),
            "label": pd.Categorical(rng.choice(labels, 900), labels),
            "whole": pd.Categorical(rng.choice([9, 3, 5], 900)),
        }
    )
    frame.loc[rng.random(900) < 0.1, "label"] = None
    effect = dict(zip(labels, rng.normal(size=45), strict=True))
    y = frame["label"].map(effect).astype(float).fillna(1) + (frame["whole"] == 5) * frame["number"]
    model = xgb.XGBRegressor(
        n_jobs=1, n_estimators=20, enable_categorical=True, max_cat_to_onehot=onehot
    )
    model.fit(frame, y)
    forest = cw.forest.from_model(model)
    assert forest.is_categorical.any()
    np.testing.assert_array_equal(forest.predict(frame), model.predict(frame).astype(np.float64))


def test_labels_are_refused_where_the_model_records_none():
    # as models of XGBoost before 3.1 do, which take the codes of whatever frame they predict
    frame = pd.DataFrame({"whole": pd.Categorical(np.resize([9, 3, 5], 90))})
    model = xgb.XGBRegressor(n_jobs=1, n_estimators=3, enable_categorical=True)
    model.fit(frame, (frame["whole"] == 5) * 2.0)
    written = json.loads(model.get_booster().save_raw("json"))
    trees = written["learner"]["gradient_booster"]["model"]
    trees["cats"] = {"enc": [], "feature_segments": [], "sorted_idx": []}
    booster = xgb.Booster()
    booster.load_model(bytearray(json.dumps(written), "utf-8"))
    forest = cw.forest.from_model(booster)
    with pytest.raises(cw.InputError, match=r"'whole' by codes.*Hint: pass the codes"):
        forest.predict(frame)
    codes = frame["whole"].cat.codes.to_frame("whole")
    np.testing.assert_array_equal(forest.predict(codes), model.predict(frame).astype(np.float64))


def test_labels_that_xgboost_garbles_are_refused():
    frame = pd.DataFrame({"town": pd.Categorical(["Köln", "Ulm", "Hof"] * 20)})
    model = xgb.XGBClassifier(n_jobs=1, n_estimators=2, enable_categorical=True)
    model.fit(frame, [0, 1, 1] * 20)
    with pytest.raises(cw.InputError, match="outside ASCII"):
        cw.forest.from_model(model)


def test_native_categories_by_code_seen_or_not():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 40, 800), rng.normal(size=800)]).astype(float)
    y = rng.normal(size=40)[X[:, 0].astype(int)] + X[:, 1]
    data = xgb.DMatrix(X, y, feature_types=["c", "q"], enable_categorical=True)
    booster = xgb.train({"max_depth": 4, "max_cat_to_onehot": 1}, data, 15)
    forest = cw.forest.from_model(booster)
    X[:, 0] = np.resize([*range(40), 41, 63, 64, 100, 5000, np.nan], 800)
    data = xgb.DMatrix(X, feature_types=["c", "q"], enable_categorical=True)
    np.testing.assert_array_equal(
        forest.predict_raw(X), booster.predict(data, output_margin=True).astype(np.float64)
    )


def test_a_linear_booster_is_refused(numbers):
    model = xgb.XGBRegressor(n_jobs=1, booster="gblinear", n_estimators=2)
    model.fit(numbers["X"], numbers["number"])
    with pytest.raises(cw.InputError, match=r"gblinear.*has no trees"):
        cw.forest.from_model(model)


def test_several_labels_at_once_are_refused(numbers):
    y = np.column_stack([numbers["number"] > 0, numbers["count"] > 1]).astype(int)
    model = xgb.XGBClassifier(n_jobs=1, n_estimators=2).fit(numbers["X"], y)
    with pytest.raises(cw.InputError, match="2 labels at once"):
        cw.forest.from_model(model)


def test_several_numeric_targets_are_outputs(numbers):
    y = np.column_stack([numbers["number"], numbers["count"]])
    for strategy in ("one_output_per_tree", "multi_output_tree"):
        model = xgb.XGBRegressor(n_jobs=1, n_estimators=5, multi_strategy=strategy).fit(
            numbers["X"], y
        )
        forest = cw.forest.from_model(model)
        np.testing.assert_array_equal(forest.predict(numbers["X"]), model.predict(numbers["X"]))
