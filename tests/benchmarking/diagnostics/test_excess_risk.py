"""Approximation and estimation error on simulated data."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import clearwood as cw
from clearwood import InputError
from clearwood.benchmarking import excess_risk


class Line:
    """y = 1 + 2 x + noise: least squares is of the right form, a constant is not."""

    def sample(self, n, *, seed):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=n)
        return cw.read({"x": x, "y": 1 + 2 * x + rng.normal(size=n)}, target="y")

    def mean(self, data):
        return 1 + 2 * data["x"].values


def test_excess_risk_of_a_constant_is_approximation_and_of_a_line_estimation():
    options = {"sizes": [20, 80], "tables": 60, "large": 4000, "n_test": 4000}
    constant = excess_risk("baseline", Line(), **options)
    line = excess_risk(LinearRegression(), Line(), **options)
    # a constant misses 2 x, of variance 4; a line has two coefficients to learn
    assert constant.approximation == pytest.approx(4.0, rel=0.1)
    assert line.approximation < 0.005
    assert line.estimation[0] == pytest.approx(2 / 18, rel=0.5)
    assert line.estimation[1] == pytest.approx(2 / 78, rel=0.5)
    np.testing.assert_allclose(line.excess, line.approximation + line.estimation)


def test_more_rows_help_estimation_only():
    result = excess_risk(
        "glm", cw.datasets.insurance_truth(), sizes=[150, 1500], tables=4, large=8000, n_test=4000
    )
    assert result.estimation[0] > 3 * result.estimation[1] > 0
    assert result.loss == "poisson"
    assert result.approximation > 0


def test_losses_that_are_not_smallest_at_the_mean_are_refused():
    with pytest.raises(InputError, match="absolute loss is not smallest at the mean"):
        excess_risk("ols", Line(), loss="absolute")
