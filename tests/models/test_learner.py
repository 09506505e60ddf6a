"""The learner as a scikit-learn estimator, and what it adds: encoding inside, names that decide."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.datasets import make_regression
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import clearwood as cw
from clearwood.models import Learner


@parametrize_with_checks(
    [
        Learner("ridge", task="regression"),
        Learner("logistic", task="multiclass"),
        Learner("gbm", task="regression", settings={"max_iter": 30, "min_samples_leaf": 20}),
        Learner("tree", task="multiclass", settings={"prune": False}),
    ],
    expected_failed_checks=lambda learner: (
        {"check_sample_weight_equivalence_on_dense_data": "least rows per leaf counts rows"}
        if learner.name == "tree"
        else {}
    ),
)
def test_a_learner_keeps_scikit_learns_conventions(estimator, check):
    check(estimator)


@pytest.fixture
def mixed():
    rng = np.random.default_rng(7)
    n = 120
    age = rng.uniform(18, 80, n)
    region = rng.choice(["north", "south", "east"], n)
    power = rng.choice([40.0, 90.0, np.nan], n)
    claims = age / 10 + (region == "south") * 5 + rng.normal(0, 0.1, n)
    return pd.DataFrame({"age": age, "region": region, "power": power, "claims": claims})


def test_a_table_that_names_its_target_is_all_fit_needs(mixed):
    data = cw.read(mixed, target="claims")
    assert cw.learner("gbm").fit(data).score(data) > 0.9


def test_frames_and_arrays_of_the_same_numbers_give_the_same_predictions():
    X, y = make_regression(60, 4, random_state=0)
    by_array = cw.learner("ridge").fit(X, y).predict(X)
    frame = pd.DataFrame(X, columns=list("abcd"))
    np.testing.assert_array_equal(cw.learner("ridge").fit(frame, y).predict(frame), by_array)


@given(st.permutations(["age", "region", "power"]))
@settings(max_examples=6, deadline=None)
def test_names_decide_which_column_is_which(order):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.uniform(size=50),
            "region": rng.choice(["a", "b"], 50),
            "power": rng.uniform(size=50),
        }
    )
    model = cw.learner("ridge").fit(frame, rng.uniform(size=50))
    np.testing.assert_array_equal(model.predict(frame[list(order)]), model.predict(frame))


def test_labels_keep_their_type():
    X = np.arange(30.0).reshape(-1, 1)
    words = np.where(X[:, 0] > 14, "high", "low")
    model = cw.learner("logistic").fit(X, words)
    assert list(model.classes_) == ["high", "low"]
    assert set(model.predict(X)) == {"high", "low"}
    numbers = cw.learner("logistic").fit(X, np.where(X[:, 0] > 14, 7, 3))
    assert set(numbers.predict(X)) == {3, 7}


def test_settings_are_parameters_that_a_search_can_tune():
    X, y = make_regression(60, 3, noise=1.0, random_state=0)
    search = GridSearchCV(cw.learner("ridge"), {"alpha": [1e-3, 1e3]}, cv=3).fit(X, y)
    assert search.best_params_ == {"alpha": 1e-3}


def test_a_clone_has_the_same_settings_and_nothing_learned():
    model = cw.learner("ridge", alpha=2.0, seed=3).fit(*make_regression(20, 2, random_state=0))
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        copy.predict([[0.0, 0.0]])


def test_deep_parameters_show_every_setting():
    assert cw.learner("ridge", alpha=2.0).get_params()["alpha"] == 2.0
    assert "max_iter" in cw.learner("gbm").get_params()


def test_the_task_decides_between_classifier_and_regressor():
    assert is_classifier(cw.learner("gbm", task="binary"))
    assert is_regressor(cw.learner("gbm", task="count"))


def test_resampling_a_table_resamples_the_encoding(mixed):
    data = cw.read(mixed, target="claims")
    scores = cross_val_score(cw.learner("ridge"), data, data.y, cv=3)
    assert (scores > 0.8).all()


def test_weights_of_zero_leave_rows_out():
    X, y = make_regression(40, 2, noise=5.0, random_state=1)
    weight = np.r_[np.ones(30), np.zeros(10)]
    weighted = cw.learner("ols").fit(X, y, sample_weight=weight)
    fewer = cw.learner("ols").fit(X[:30], y[:30])
    np.testing.assert_allclose(weighted.predict(X), fewer.predict(X))


def test_a_learner_that_cannot_use_weights_raises_an_error():
    X, y = make_regression(40, 2, random_state=1)
    with pytest.raises(cw.InputError, match="'knn' cannot use row weights"):
        cw.learner("knn").fit(X, y, sample_weight=np.linspace(1, 2, 40))


def test_an_unknown_learner_error_offers_the_nearest():
    with pytest.raises(cw.InputError, match=r"no learner 'rigde'.*'ridge'"):
        cw.learner("rigde")


def test_an_unknown_setting_error_offers_the_nearest():
    with pytest.raises(cw.InputError, match=r"'ridge' has no setting 'alhpa'.*'alpha'"):
        cw.learner("ridge", alhpa=1)
    with pytest.raises(cw.InputError, match="no setting 'alhpa'"):
        cw.learner("ridge").set_params(alhpa=1)


def test_an_unknown_task_error_lists_the_known_ones():
    with pytest.raises(cw.InputError, match=r"task='regresion'.*'regression'"):
        cw.learner("ridge", task="regresion").fit([[0.0], [1.0]], [0.0, 1.0])


def test_a_learner_that_cannot_do_the_task_names_some_that_can():
    X = np.arange(20.0).reshape(-1, 1)
    with pytest.raises(cw.InputError, match=r"'ridge' does not support binary.*'logistic'"):
        cw.learner("ridge").fit(X, np.repeat(["a", "b"], 10))


def test_a_target_of_another_length_is_refused(mixed):
    with pytest.raises(cw.InputError, match="y has 7 values but the table has 120 rows"):
        cw.learner("ridge").fit(mixed[["age"]], np.arange(7.0))


def test_the_training_summary_is_plain_values(mixed):
    model = cw.learner("gbm").fit(cw.read(mixed, target="claims"))
    assert model.training_["rows"] == 120
    assert model.training_["columns"] == 3
    assert model.training_["versions"]["clearwood"] == cw.__version__


def test_weights_that_are_all_zero_are_refused():
    with pytest.raises(cw.InputError, match="every row has a weight of zero"):
        cw.learner("ols").fit(np.eye(3), [1.0, 2.0, 4.0], sample_weight=np.zeros(3))


@pytest.mark.parametrize("name", ["gam", "glass", "ridge"])
@pytest.mark.parametrize("gap", [np.nan, np.inf, -np.inf])
def test_a_target_with_gaps_is_refused_for_frames_as_for_arrays(name, gap):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.random((40, 2)), columns=["a", "b"])
    y = rng.random(40)
    y[[2, 5]] = gap
    with pytest.raises(cw.InputError, match=r"y is NaN.*in 2 rows \(the first is row 3\)"):
        cw.learner(name).fit(frame, y)


def test_a_label_that_is_none_is_refused():
    frame = pd.DataFrame({"a": np.arange(6.0)})
    with pytest.raises(cw.InputError, match=r"y is NaN, missing or infinite in 1 row "):
        cw.learner("gam").fit(frame, np.array(["x", "y", None, "x", "y", "x"], dtype=object))


@pytest.mark.parametrize("weight", [np.zeros(40), np.full(40, np.nan), np.ones(3)])
def test_weights_that_cannot_be_used_are_input_errors(weight):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.random((40, 2)), columns=["a", "b"])
    with pytest.raises(cw.InputError) as raised:
        cw.learner("gam").fit(frame, rng.random(40), sample_weight=weight)
    assert raised.value.parameter == "sample_weight"


@pytest.mark.parametrize(
    "wrong", [{"seed": -1}, {"seed": "a"}, {"seed": 2**32}, {"n_jobs": 0}, {"n_jobs": "two"}]
)
def test_a_seed_or_number_of_threads_that_cannot_be_used_is_named(wrong):
    with pytest.raises(cw.InputError, match=next(iter(wrong))):
        cw.learner("planted", **wrong)


@pytest.mark.parametrize(("labels", "other"), [((0.5, 2.5, 7.5), "ridge"), ("pqr", "logistic")])
def test_a_learner_without_weights_is_refused_with_one_for_the_task(labels, other):
    x = np.random.default_rng(0).normal(size=30)
    target = np.resize(list(labels), 30)
    data = cw.read(
        {"x": x, "y": target}, target="y", task="regression" if other == "ridge" else None
    )
    with pytest.raises(cw.InputError, match=f"'gbm' or '{other}'"):
        cw.learner("knn").fit(data, data.y, sample_weight=np.full(30, 2.0))


def test_rows_of_a_file_are_predicted_as_those_of_its_frame(tmp_path):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame({"a": rng.normal(size=60), "b": rng.choice(["x", "y"], 60)})
    frame["late"] = np.where(frame["a"] + rng.normal(size=60) > 0, "yes", "no")
    model = cw.learner("logistic").fit(cw.read(frame, target="late"))
    path = tmp_path / "new.csv"
    frame.to_csv(path, index=False)
    for file in (path, str(path)):
        np.testing.assert_array_equal(model.predict(file), model.predict(frame))
        np.testing.assert_array_equal(model.predict_proba(file), model.predict_proba(frame))
    with pytest.raises(cw.InputError, match=r"nowhere\.csv"):
        model.predict("nowhere.csv")
