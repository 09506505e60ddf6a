"""Ordinal regression against statsmodels itself."""

import numpy as np
import pandas as pd
import pytest

import clearwood as cw
from clearwood.models.catalogue.glm.ordinal import OrderedRegression

OrderedModel = pytest.importorskip("statsmodels.miscmodels.ordinal_model").OrderedModel


def grades(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    latent = X @ [1.0, -0.5, 0.0] + rng.logistic(size=n)
    return X, np.digitize(latent, [-1.0, 0.5, 2.0])


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_probabilities_agree_with_statsmodels(link):
    X, y = grades()
    model = OrderedRegression(link=link).fit(X, y)
    reference = OrderedModel(y, X, distr=link).fit(method="bfgs", disp=0)
    np.testing.assert_allclose(model.predict_proba(X), reference.predict(X), atol=1e-5)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    np.testing.assert_allclose(model.coef_, reference.params[:3], atol=1e-4)


def test_cut_points_increase():
    model = OrderedRegression().fit(*grades())
    assert np.all(np.diff(model.thresholds_) > 0)


def test_columns_that_depend_on_others_do_not_change_the_fit():
    X, y = grades()
    more = np.column_stack([X, X[:, 0] + 2 * X[:, 1], np.ones(len(X))])
    plain, redundant = OrderedRegression().fit(X, y), OrderedRegression().fit(more, y)
    assert np.count_nonzero(redundant.coef_ == 0) == 2
    np.testing.assert_allclose(redundant.predict_proba(more), plain.predict_proba(X), atol=1e-4)


def test_a_fitted_model_is_plain_arrays():
    model = OrderedRegression().fit(*grades())
    learned = {name: value for name, value in vars(model).items() if name.endswith("_")}
    assert all(isinstance(value, np.ndarray | int) for value in learned.values())


def test_labels_are_kept_in_the_order_they_sort():
    X, y = grades()
    labels = np.array(["a", "b", "c", "d"])[y]
    model = OrderedRegression().fit(X, labels)
    assert list(model.classes_) == ["a", "b", "c", "d"]
    assert set(model.predict(X)) <= set("abcd")


def test_the_order_of_classes_can_be_stated():
    X, y = grades()
    labels = np.array(["low", "mid", "high", "top"])[y]
    sorted_labels = ["high", "low", "mid", "top"]
    model = OrderedRegression(order=[1, 2, 0, 3]).fit(X, labels)
    assert list(model.classes_) == sorted_labels
    in_order = model.predict_proba(X)[:, [1, 2, 0, 3]]
    np.testing.assert_allclose(in_order, OrderedRegression().fit(X, y).predict_proba(X), atol=1e-6)
    assert np.mean(model.predict(X) == labels) > 0.4


@pytest.mark.parametrize("source", ["kinds", "pandas"])
def test_a_learner_takes_the_order_that_the_table_states(source, tmp_path):
    X, y = grades()
    levels = ["low", "mid", "high", "top"]
    labels = np.array(levels)[y]
    columns = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]}
    if source == "kinds":
        table = cw.read({**columns, "grade": labels}, target="grade", kinds={"grade": levels})
    else:
        grade = pd.Categorical(labels, categories=levels, ordered=True)
        table = cw.read(pd.DataFrame({**columns, "grade": grade}), target="grade")
    model = cw.learner("ordinal").fit(table)
    numbered = cw.learner("ordinal").fit(pd.DataFrame(columns), y)
    in_order = model.predict_proba(table)[:, [list(model.classes_).index(one) for one in levels]]
    np.testing.assert_allclose(in_order, numbered.predict_proba(pd.DataFrame(columns)), atol=1e-6)
    path = tmp_path / "ordinal.cw"
    cw.save(model, path)
    np.testing.assert_array_equal(cw.load(path).predict_proba(table), model.predict_proba(table))


def test_an_order_with_a_level_that_no_row_has_is_kept():
    X, y = grades()
    levels = ["none", "low", "mid", "high", "top"]
    columns = {"a": X[:, 0], "grade": np.array(levels[1:])[y]}
    table = cw.read(columns, target="grade", kinds={"grade": levels})
    model = cw.learner("ordinal").fit(table)
    assert [str(model.classes_[code]) for code in model.estimator_.order] == levels[1:]
