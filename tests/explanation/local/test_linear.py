"""The tables of the course notes: a loan's log odds, a house's price."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeRegressor

import clearwood as cw


def loan():
    model = LogisticRegression().fit([[0, 0], [1, 1]], [0, 1])
    model.intercept_, model.coef_ = np.array([-2.5]), np.array([[0.05, 0.4]])
    return model


def test_loan_adds_up_to_log_odds_of_3_3():
    found = cw.contributions(loan(), [[60.0, 7.0]])
    assert found.constant == -2.5
    np.testing.assert_allclose(found.values, [[3.0, 2.8]])
    np.testing.assert_allclose(found.total, 3.3)
    assert found.unit == "log odds"
    assert found.probability[0] == pytest.approx(0.964, abs=5e-4)


def test_house_price_shares_80_as_25_and_55():
    corners = np.array([[0.0, 0], [1, 0], [0, 1], [1, 1]])
    model = DecisionTreeRegressor().fit(corners, [150.0, 170.0, 200.0, 230.0])
    found = cw.shapley(model, corners[:1], corners[3:])
    np.testing.assert_allclose(found.values, [[25.0, 55.0]])
    assert found.baseline == 150


def test_local_importance_of_the_notes_linear_model():
    model = LinearRegression().fit(np.eye(2), [0, 1])
    model.intercept_, model.coef_ = 1.3, np.array([-0.23, 2.37])
    found = cw.contributions(model, [[0.1, 0.0001]])
    np.testing.assert_allclose(found.values, [[-0.023, 0.000237]])
    assert found.total[0] == pytest.approx(1.28, abs=5e-3)


def test_contributions_add_up_to_the_prediction_of_a_learner():
    data = cw.datasets.load("diabetes")
    model = cw.learner("ridge").fit(data)
    found = cw.contributions(model, data.head(7))
    np.testing.assert_allclose(found.total, model.predict(data.head(7)))
    assert len(found.to_frame("pandas")) == 7
    assert found.to_json()["unit"] == "prediction"
    assert "7 rows" in repr(found)
    assert "<table" in found._repr_html_()


def test_a_model_that_is_no_sum_is_refused():
    X = np.eye(3)
    with pytest.raises(cw.InputError, match="not a sum over its columns"):
        cw.contributions(DecisionTreeRegressor().fit(X, [1, 2, 3]), X)


def test_the_probability_of_a_plain_prediction_is_refused():
    model = LinearRegression().fit(np.eye(2), [0, 1])
    with pytest.raises(cw.InputError, match="not log odds"):
        _ = cw.contributions(model, np.eye(2)).probability
