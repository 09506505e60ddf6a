"""Calibration curves of learners; laws of calibration measures are with the measures."""

import pytest
from sklearn.tree import DecisionTreeRegressor

from clearwood import InputError
from clearwood.benchmarking import calibration_curve


def test_calibration_of_numbers_uses_unseen_rows(diabetes):
    curve = calibration_curve("ols", diabetes, bins=5)
    assert curve.rows.sum() == diabetes.n_rows
    assert curve.slope == pytest.approx(1.0, abs=0.1)
    overfitted = calibration_curve(DecisionTreeRegressor(random_state=0), diabetes, bins=5)
    assert overfitted.slope < 0.7


def test_calibration_of_classes(wine):
    top = calibration_curve("logistic", wine)
    assert "class predicted" in top.what
    one = calibration_curve("logistic", wine, label=str(wine.y[0]))
    assert one.rows.sum() == wine.n_rows
    with pytest.raises(InputError, match="has no class 'x'"):
        calibration_curve("logistic", wine, label="x")


def test_numbers_have_no_classes_to_calibrate(diabetes):
    with pytest.raises(InputError, match="is a number"):
        calibration_curve("ols", diabetes, label="a")
