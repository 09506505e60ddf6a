import numpy as np
import pytest
from sklearn.ensemble import AdaBoostClassifier, AdaBoostRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import clearwood as cw


@pytest.mark.parametrize("target", ["two", "three"])
@pytest.mark.parametrize("depth", [1, 3])
def test_weighted_votes_agree_to_the_last_bit(target, depth, numbers, adversarial):
    model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=depth), n_estimators=30)
    model.fit(numbers["X"], numbers[target])
    forest = cw.forest.from_model(model)
    X = adversarial(forest, numbers["X"], missing=0)
    assert forest.aggregation == "weighted vote"
    np.testing.assert_array_equal(forest.predict_raw(X), model.decision_function(X))
    np.testing.assert_array_equal(forest.predict(X), model.predict(X))
    np.testing.assert_allclose(forest.predict_proba(X), model.predict_proba(X), atol=1e-15)


def test_boosting_that_ended_early_divides_by_the_same_weight(numbers):
    model = AdaBoostClassifier(DecisionTreeClassifier(), n_estimators=40)
    model.fit(numbers["X"], numbers["three"])
    assert len(model.estimators_) < 40
    forest = cw.forest.from_model(model)
    np.testing.assert_array_equal(
        forest.predict_raw(numbers["X"]), model.decision_function(numbers["X"])
    )


def test_weighted_median_agrees_and_is_not_a_sum(numbers, adversarial):
    model = AdaBoostRegressor(DecisionTreeRegressor(max_depth=3), n_estimators=30, random_state=0)
    model.fit(numbers["X"], numbers["number"])
    forest = cw.forest.from_model(model)
    X = adversarial(forest, numbers["X"], missing=0)
    np.testing.assert_array_equal(forest.predict_raw(X), model.predict(X))
    assert not forest.is_linear
    with pytest.raises(cw.InputError, match="weighted median of trees is not a sum"):
        _ = forest.leaf_value


def test_boosting_of_anything_but_trees_is_refused(numbers):
    model = AdaBoostClassifier(LogisticRegression(), n_estimators=2)
    model.fit(numbers["X"], numbers["two"])
    with pytest.raises(cw.InputError, match="boosts LogisticRegression"):
        cw.forest.from_model(model)
