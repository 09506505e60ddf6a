"""How far predictions of numbers are off."""

import numpy as np
import pytest

import clearwood as cw
from clearwood.evaluation import residuals_of


def test_quantiles_are_those_of_truth_less_prediction():
    rng = np.random.default_rng(0)
    predicted = rng.uniform(size=4000)
    result = residuals_of(predicted + rng.normal(0, 2, 4000), predicted, bins=4)
    assert result.quantiles.shape == (4, 5)
    assert result.quantiles[:, 2] == pytest.approx(0, abs=0.25)
    assert result.quantiles[:, 4] == pytest.approx(2 * 1.645, abs=0.4)
    assert result.typical == pytest.approx(2 * 0.674, abs=0.1)
    assert result.rows.sum() == 4000


def test_a_shift_is_the_bias():
    predicted = np.arange(20.0)
    assert residuals_of(predicted + 3, predicted).bias == 3


def test_the_spread_may_depend_on_the_prediction():
    rng = np.random.default_rng(0)
    predicted = np.linspace(0, 1, 2000)
    result = residuals_of(predicted * rng.normal(size=2000), predicted * 0 + predicted, bins=5)
    wide = result.quantiles[:, 4] - result.quantiles[:, 0]
    assert wide[-1] > 3 * wide[0]


def test_rows_of_the_same_prediction_stay_together():
    result = residuals_of([1.0, 2.0, 3.0], [2.0, 2.0, 2.0], bins=10)
    assert result.rows.tolist() == [3]


def test_the_figure_has_a_point_for_each_bin():
    result = residuals_of(np.arange(30.0), np.arange(30.0) + 1, bins=6)
    line = result.plot().to_dict()["layer"][-1]
    assert [row["q50"] for row in line["data"]["values"]] == [-1.0] * 6


def test_lengths_must_agree():
    with pytest.raises(cw.InputError, match="2 values of y, but 3"):
        residuals_of([1, 2], [1, 2, 3])
