"""Ordinal regression against statsmodels itself."""

import numpy as np
import pytest

from clearwood.models.estimators.ordered import OrderedRegression

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
