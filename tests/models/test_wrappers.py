"""The small estimators around those of other libraries."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import Lasso, LinearRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils import get_tags

import clearwood as cw
from clearwood.models.catalogue.kernel_machines.kernel_ridge import LandmarkKernelRidge
from clearwood.models.catalogue.neighbours.local import Membership
from clearwood.models.shared.folds import Folds
from clearwood.models.shared.wrappers import Capped, StandardisedTarget
from clearwood.models.solver_messages import convergence_named

X = np.random.default_rng(0).normal(size=(60, 3))
Y = 5e4 + 1e3 * (X @ [1.0, -2.0, 0.0]) + 100 * np.random.default_rng(1).normal(size=60)


def test_coefficients_come_back_to_the_scale_of_the_target():
    weight = np.random.default_rng(2).uniform(0.5, 2.0, 60)
    ours = StandardisedTarget(LinearRegression()).fit(X, Y, sample_weight=weight)
    plain = LinearRegression().fit(X, Y, sample_weight=weight)
    np.testing.assert_allclose(ours.coef_, plain.coef_)
    np.testing.assert_allclose(ours.intercept_, plain.intercept_)
    np.testing.assert_allclose(ours.predict(X), plain.predict(X))


def test_a_penalty_means_the_same_on_every_scale_of_the_target():
    small = StandardisedTarget(Lasso(alpha=0.1)).fit(X, Y / 1e6)
    large = StandardisedTarget(Lasso(alpha=0.1)).fit(X, Y * 1e6)
    np.testing.assert_allclose(large.predict(X) / 1e12, small.predict(X))


def test_a_constant_target_is_predicted_as_it_is():
    model = StandardisedTarget(Lasso()).fit(X, np.full(60, 7.0))
    np.testing.assert_array_equal(model.predict(X), 7.0)


def test_a_capped_classifier_is_a_classifier():
    model = Capped(KNeighborsClassifier(100), {"n_neighbors": "rows"})
    assert get_tags(model).estimator_type == "classifier"
    model.fit(X, np.sign(Y - Y.mean()))
    assert model.estimator_.n_neighbors == 60
    np.testing.assert_array_equal(model.classes_, [-1, 1])
    assert not hasattr(Capped(LinearRegression(), {}), "predict_proba")


def test_folds_are_as_many_as_the_rarest_class_allows():
    y = np.array([0] * 9 + [1] * 3)
    splits = list(Folds(5, stratify=True).split(y[:, None], y))
    assert len(splits) == 3
    assert all(np.unique(y[train]).size == 2 for train, _ in splits)
    np.testing.assert_array_equal(np.sort(np.concatenate([test for _, test in splits])), range(12))


def test_a_class_with_one_row_raises_an_error_with_a_hint():
    y = np.array(["a", "b", "c"])[np.r_[np.zeros(30, int), np.ones(29, int), 2]]
    with pytest.raises(cw.InputError, match=r"rarest class has a single row.*Hint: leave"):
        cw.learner("svm", task="multiclass").fit(X, y)


def test_landmarks_come_near_the_exact_kernel_ridge():
    exact = LandmarkKernelRidge(alpha=0.1).fit(X, X[:, 0])
    near = LandmarkKernelRidge(alpha=0.1, landmarks=60).fit(X, X[:, 0])
    np.testing.assert_allclose(near.predict(X), exact.predict(X), atol=1e-2)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "sigmoid"])
def test_landmarks_take_every_kernel(kernel):
    model = LandmarkKernelRidge(kernel=kernel, landmarks=20).fit(X, X[:, 0])
    assert np.isfinite(model.predict(X)).all()


def test_sets_hold_what_is_positive():
    inside = Membership().fit_transform(np.array([[1.5, 0.0, 1.0], [-0.5, 1.0, 0.0]]))
    np.testing.assert_array_equal(inside, [[True, False, True], [False, True, False]])


def test_other_warnings_pass_and_convergence_is_said_once():
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with convergence_named("lasso"):
            for _ in range(3):
                warnings.warn("did not converge", ConvergenceWarning, stacklevel=1)
            warnings.warn("something else", RuntimeWarning, stacklevel=1)
    kinds = [warning.category for warning in caught]
    assert kinds == [RuntimeWarning, cw.ClearwoodWarning]
    assert "learner 'lasso'" in str(caught[1].message)


def test_columns_that_depend_on_others_are_left_out_in_silence():
    twice = np.column_stack([X, X[:, 0] + X[:, 1], X[:, 0]])
    least_squares = LinearRegression().fit(X, Y).predict(X)
    for name in ("lars", "omp"):
        model = cw.learner(name, n_nonzero_coefs=5).fit(twice, Y)
        assert np.count_nonzero(model.estimator_.coef_) == 3
        np.testing.assert_allclose(model.predict(twice), least_squares)
