import numpy as np
import pytest
from sklearn import ensemble, tree
from sklearn.linear_model import LogisticRegression, Ridge

import clearwood as cw


def raw_of(model, X):
    """What scikit-learn calls the raw prediction of a model."""
    for method in ("decision_function", "predict_proba", "predict"):
        if hasattr(model, method):
            return getattr(model, method)(X)
    raise AssertionError(model)


WITH_MISSING = [
    (tree.DecisionTreeRegressor(), "number"),
    (tree.DecisionTreeRegressor(max_leaf_nodes=12), "number"),
    (tree.DecisionTreeClassifier(max_depth=6), "three"),
    (tree.DecisionTreeClassifier(max_depth=3), "two"),
    (tree.ExtraTreeRegressor(random_state=0), "number"),
    (tree.ExtraTreeClassifier(random_state=0), "three"),
    (ensemble.RandomForestRegressor(15, random_state=0), "number"),
    (ensemble.RandomForestRegressor(15, criterion="absolute_error", max_depth=4), "number"),
    (ensemble.RandomForestClassifier(15, random_state=0, class_weight="balanced"), "three"),
    (ensemble.ExtraTreesRegressor(15, random_state=0, bootstrap=True), "number"),
    (ensemble.ExtraTreesClassifier(15, random_state=0), "two"),
    (ensemble.BaggingRegressor(n_estimators=9, max_features=0.5, random_state=0), "number"),
    (ensemble.BaggingClassifier(n_estimators=9, max_features=3, random_state=0), "three"),
    (ensemble.BaggingClassifier(n_estimators=9, max_samples=4, random_state=0), "three"),
]
WITHOUT_MISSING = [
    (ensemble.GradientBoostingRegressor(n_estimators=25, subsample=0.7), "number"),
    (ensemble.GradientBoostingRegressor(n_estimators=25, init="zero", loss="huber"), "number"),
    (ensemble.GradientBoostingClassifier(n_estimators=25), "two"),
    (ensemble.GradientBoostingClassifier(n_estimators=25, loss="exponential"), "two"),
    (ensemble.GradientBoostingClassifier(n_estimators=12, max_depth=4), "three"),
    (ensemble.GradientBoostingClassifier(n_estimators=12, init="zero"), "three"),
    (ensemble.GradientBoostingClassifier(n_estimators=50, n_iter_no_change=2), "two"),
]


def check_same(model, forest, X):
    np.testing.assert_array_equal(forest.predict_raw(X), raw_of(model, X))
    np.testing.assert_array_equal(forest.predict(X), model.predict(X))
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(forest.predict_proba(X), model.predict_proba(X), atol=1e-15)


@pytest.mark.parametrize(("model", "target"), WITH_MISSING, ids=str)
def test_bits_agree_with_missing_values_and_on_thresholds(model, target, numbers, adversarial):
    model.fit(numbers["gaps"], numbers[target])
    forest = cw.forest.from_model(model)
    check_same(model, forest, adversarial(forest, numbers["gaps"]))


@pytest.mark.parametrize(("model", "target"), WITHOUT_MISSING, ids=str)
def test_bits_of_gradient_boosting_agree_on_thresholds(model, target, numbers, adversarial):
    model.fit(numbers["X"], numbers[target])
    forest = cw.forest.from_model(model)
    check_same(model, forest, adversarial(forest, numbers["X"], missing=0))


def test_missing_values_the_model_never_saw_go_where_the_library_sends_them(numbers, adversarial):
    model = ensemble.RandomForestRegressor(10, random_state=0).fit(numbers["X"], numbers["number"])
    forest = cw.forest.from_model(model)
    check_same(model, forest, adversarial(forest, numbers["X"], missing=0.3))


def test_several_numeric_targets_are_outputs(numbers):
    y = np.column_stack([numbers["number"], numbers["count"]])
    model = ensemble.RandomForestRegressor(5, random_state=0).fit(numbers["X"], y)
    forest = cw.forest.from_model(model)
    assert forest.n_outputs == 2
    np.testing.assert_array_equal(forest.predict(numbers["X"]), model.predict(numbers["X"]))


def test_one_leaf_is_a_forest(numbers):
    model = tree.DecisionTreeRegressor(max_depth=1).fit(np.zeros((4, 2)), [1.0, 2.0, 3.0, 4.0])
    forest = cw.forest.from_model(model)
    assert (forest.n_leaves, forest.depth, forest.columns_used) == (1, 0, ())
    np.testing.assert_array_equal(forest.predict(np.ones((3, 2))), 2.5)


def test_cover_is_the_weight_of_the_training_rows(numbers):
    weight = np.arange(500) % 3.0
    model = tree.DecisionTreeRegressor(max_depth=3)
    model.fit(numbers["X"], numbers["number"], sample_weight=weight)
    forest = cw.forest.from_model(model)
    assert forest.cover[0] == weight.sum()
    inner = ~forest.is_leaf
    children = forest.cover[forest.left[inner]] + forest.cover[forest.right[inner]]
    np.testing.assert_allclose(children, forest.cover[inner])


def test_leaves_reached_are_the_librarys(numbers):
    model = ensemble.RandomForestRegressor(4, random_state=0).fit(numbers["X"], numbers["number"])
    forest = cw.forest.from_model(model)
    np.testing.assert_array_equal(
        forest.apply(numbers["X"]) - forest.roots, model.apply(numbers["X"])
    )


def test_several_class_targets_are_refused(numbers):
    y = np.column_stack([numbers["two"], numbers["three"]])
    model = tree.DecisionTreeClassifier().fit(numbers["X"], y)
    with pytest.raises(cw.InputError, match=r"2 targets of classes.*one classifier per target"):
        cw.forest.from_model(model)


def test_boosting_that_starts_from_another_model_is_refused(numbers):
    model = ensemble.GradientBoostingRegressor(init=Ridge(), n_estimators=2)
    model.fit(numbers["X"], numbers["number"])
    with pytest.raises(cw.InputError, match=r"starts from Ridge.*init='zero'"):
        cw.forest.from_model(model)


def test_bagging_of_anything_but_trees_is_refused(numbers):
    model = ensemble.BaggingClassifier(LogisticRegression(), n_estimators=2)
    model.fit(numbers["X"], numbers["two"])
    with pytest.raises(cw.InputError, match="bags LogisticRegression, which is not a tree"):
        cw.forest.from_model(model)
