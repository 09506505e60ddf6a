"""The scale "margin" is what the link turns into the prediction, for every model with a link."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.linear_model import (
    GammaRegressor,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    TweedieRegressor,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

import clearwood as cw
from clearwood.explanation import Explanation

CLASSIFIERS = [
    LogisticRegression(),
    make_pipeline(StandardScaler(), LogisticRegression()),
    CalibratedClassifierCV(LogisticRegression(), cv=2),
    RandomForestClassifier(5, random_state=0),
    GaussianNB(),
]
LOG_LINKED = [
    PoissonRegressor(),
    GammaRegressor(),
    TweedieRegressor(power=1.5),
    make_pipeline(StandardScaler(), PoissonRegressor()),
    HistGradientBoostingRegressor(loss="poisson", max_iter=5),
    TransformedTargetRegressor(LinearRegression(), func=np.log, inverse_func=np.exp),
]


def named(model):
    """Name a model in the list of tests."""
    return type(getattr(model, "steps", [(0, model)])[-1][1]).__name__


@pytest.fixture
def rows():
    return np.random.default_rng(0).normal(size=(60, 2))


def on(model, rows, scale):
    """Predict all rows on a scale."""
    return Explanation(model, rows).predictor(scale=scale).predict(np.arange(len(rows)))[:, 0]


@pytest.mark.parametrize("model", CLASSIFIERS, ids=named)
def test_the_logistic_function_of_the_margin_is_the_probability(model, rows):
    model.fit(rows, rows[:, 0] + rows[:, 1] ** 2 > 0.5)
    np.testing.assert_allclose(
        np.clip(expit(on(model, rows, "margin")), 1e-9, 1 - 1e-9),
        np.clip(on(model, rows, "probability"), 1e-9, 1 - 1e-9),
        atol=1e-7,
    )


@pytest.mark.parametrize("model", LOG_LINKED, ids=named)
def test_the_exponential_of_the_margin_is_the_prediction(model, rows):
    model.fit(rows, 1.0 + np.round(np.exp(rows[:, 0])))
    np.testing.assert_allclose(np.exp(on(model, rows, "margin")), model.predict(rows))
    assert cw.effect(model, rows, "x0", scale="margin", n_bootstrap=0).unit.is_before_link


@pytest.mark.parametrize("model", [LinearRegression(), SVR()], ids=named)
def test_without_a_link_the_error_names_the_scale_there_is(model, rows):
    model.fit(rows, rows[:, 0])
    with pytest.raises(cw.InputError, match=r"no link.*scale='response'") as error:
        cw.effect(model, rows, "x0", scale="margin")
    assert error.value.parameter == "scale"
    with pytest.raises(cw.InputError, match="no link"):
        cw.effect(model.predict, rows, "x0", scale="margin")


@pytest.mark.parametrize(
    ("model", "classes"),
    [
        (GradientBoostingClassifier(loss="exponential", n_estimators=5), 2),
        (AdaBoostClassifier(), 4),
    ],
    ids=["exponential loss", "AdaBoost"],
)
def test_scores_that_are_divided_before_the_link_are_not_called_log_odds(model, classes, rows):
    model.fit(rows, np.digitize(rows[:, 0], [-0.5, 0, 0.5]) % classes)
    values = cw.explain(model, rows, n_background=20).shapley(rows[:2])
    assert str(values.about.unit) == "score before the link"
