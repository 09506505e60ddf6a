"""Logistic and softmax regression: at the maximum of the likelihood."""

import warnings

import numpy as np
import pytest
from scipy.special import log_softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

import clearwood as cw
from clearwood import ClearwoodWarning
from clearwood.models.catalogue import glm
from clearwood.models.catalogue.glm import logistic
from clearwood.models.catalogue.glm.logistic import Logistic


def rows(n=600, seed=0):
    """Columns of very different units, two of them nearly the same, and a code of nines."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n))
    code = np.where(rng.random(n) < 0.02, 999_999.0, rng.normal(50, 10, n))
    columns = {"a": a, "b": b, "near": 1e4 * a + 300 * rng.normal(size=n), "term": code}
    return columns, a - 0.5 * b, rng


def of_statsmodels(model, data, codes):
    """Return coefficients and standard errors of the encoded columns, the constant first."""
    api = pytest.importorskip("statsmodels.api")
    matrix = api.add_constant(model.encoder_.transform(data))
    kind = api.Logit if codes.max() == 1 else api.MNLogit
    fit = kind(codes, matrix).fit(
        disp=0, method="newton", tol=1e-12, maxiter=100, warn_convergence=False
    )
    return np.asarray(fit.params), np.asarray(fit.bse)


@pytest.mark.filterwarnings("ignore:.*seems to have a code for missing")
@pytest.mark.parametrize("settings", [{"penalty": "none"}, {"C": np.inf}, {"C": 1e12}])
def test_unpenalised_coefficients_are_those_of_statsmodels(settings):
    columns, score, rng = rows()
    codes = (rng.random(600) < 1 / (1 + np.exp(2 - score))).astype(int)
    data = cw.read({**columns, "y": np.array(["no", "yes"])[codes]}, target="y")
    model = cw.learner("logistic", **settings).fit(data)
    known, errors = of_statsmodels(model, data, codes)
    ours = np.append(model.estimator_.intercept_, model.estimator_.coef_[0])
    assert np.abs((ours - known) / errors).max() < 1e-6


@pytest.mark.filterwarnings("ignore:.*seems to have a code for missing")
@pytest.mark.parametrize("name", ["logistic", "softmax"])
def test_coefficients_of_several_classes_are_those_of_statsmodels(name):
    columns, score, rng = rows()
    scores = np.column_stack([np.zeros(600), score, -score]) + rng.gumbel(size=(600, 3))
    codes = scores.argmax(axis=1)
    data = cw.read({**columns, "y": np.array(["p", "q", "r"])[codes]}, target="y")
    model = cw.learner(name, penalty="none").fit(data)
    known, errors = of_statsmodels(model, data, codes)
    ours = np.column_stack([model.estimator_.intercept_, model.estimator_.coef_])
    assert np.abs(((ours[1:] - ours[0]).T - known) / errors).max() < 1e-6


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 2.0}])
def test_penalised_fits_are_scikit_learns(class_weight, n_classes):
    rng = np.random.default_rng(1)
    X, weight = rng.normal(size=(200, 2)), rng.uniform(0.5, 2, 200)
    y = np.digitize(X[:, 0] + rng.normal(size=200), [0.0, 0.8][: n_classes - 1])
    options = {"C": 0.3, "class_weight": class_weight, "tol": 1e-10, "max_iter": 1_000}
    ours = Logistic(**options).fit(X, y, sample_weight=weight)
    theirs = LogisticRegression(solver="newton-cg", **options).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-7)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-7)


@pytest.mark.parametrize(("name", "n_classes"), [("logistic", 2), ("logistic", 3), ("softmax", 3)])
def test_a_wide_fit_says_that_it_has_not_converged(monkeypatch, name, n_classes):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(150, 3))
    classes = np.digitize(X[:, 0] + rng.normal(size=150), [0.0, 0.8][: n_classes - 1])
    columns = {f"x{k}": X[:, k] for k in range(3)}
    data = cw.read({**columns, "y": np.array(["p", "q", "r"])[classes]}, target="y")
    n_coefficients = 3 * (n_classes if n_classes > 2 else 1)
    monkeypatch.setattr(glm, "_MOST_ITERATIONS", 1)

    monkeypatch.setattr(logistic, "_MOST_COEFFICIENTS", n_coefficients - 1)
    with pytest.warns(ClearwoodWarning, match=f"'{name}' stopped before it had converged"):
        stopped = cw.learner(name).fit(data)

    # where Newton's steps follow, the first solver's early end does not matter
    monkeypatch.setattr(logistic, "_MOST_COEFFICIENTS", n_coefficients)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        finished = cw.learner(name).fit(data)
    known = LogisticRegression(tol=1e-10, max_iter=1_000).fit(
        finished.encoder_.transform(data), classes
    )
    np.testing.assert_allclose(finished.estimator_.coef_, known.coef_, atol=1e-6)
    assert np.abs(stopped.estimator_.coef_ - known.coef_).max() > 0.01


def penalised_loss(coefficients, constant, X, codes, C, share):
    """Return the objective of a penalised fit, and how far its conditions are from holding."""
    score = X @ coefficients.T + constant
    if len(coefficients) == 1:
        score = np.column_stack([np.zeros(len(X)), score])
    logs = log_softmax(score, axis=1)
    loss = -logs[np.arange(len(X)), codes].sum()
    off = np.exp(logs) - np.eye(logs.shape[1])[codes]
    off = off[:, -len(coefficients) :]
    slope = C * off.T @ X + (1 - share) * coefficients
    free = np.where(coefficients != 0, slope + share * np.sign(coefficients), 0)
    beyond = np.where(coefficients == 0, np.maximum(np.abs(slope) - share, 0), 0)
    worst = max(np.abs(free).max(), beyond.max(), C * np.abs(off.sum(axis=0)).max())
    size = (1 - share) / 2 * (coefficients**2).sum() + share * np.abs(coefficients).sum()
    return C * loss + size, worst


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("penalty", ["l1", "elastic-net"])
@pytest.mark.parametrize(
    ("n", "p", "n_classes", "correlation"),
    [
        (300, 10, 2, 0.99),
        (120, 150, 2, 0.5),
        (300, 8, 3, 0.95),
        pytest.param(80, 1600, 2, 0.1, marks=pytest.mark.long),
    ],
)
@pytest.mark.filterwarnings("ignore:there are more features")
def test_sparse_fits_are_at_the_minimum(n, p, n_classes, correlation, penalty, C):
    """The conditions of a minimum hold, where scikit-learn's solver stops with a larger loss."""
    rng = np.random.default_rng(0)
    shared = np.sqrt(correlation) * rng.normal(size=(n, 1))
    X = shared + np.sqrt(1 - correlation) * rng.normal(size=(n, p))
    scores = np.column_stack([np.zeros(n), 2 * X[:, : n_classes - 1]])
    codes = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    table = cw.read({**{f"x{j}": X[:, j] for j in range(p)}, "y": codes.astype(str)}, target="y")
    model = cw.learner("logistic", penalty=penalty, C=C).fit(table)
    encoded, fitted = model.encoder_.transform(table), model.estimator_
    share = 1.0 if penalty == "l1" else 0.5
    loss, worst = penalised_loss(fitted.coef_, fitted.intercept_, encoded, codes, C, share)
    assert worst < 1e-5
    usual = LogisticRegression(C=C, l1_ratio=share, solver="saga", max_iter=5000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        usual.fit(encoded, codes)
    other = penalised_loss(usual.coef_, usual.intercept_, encoded, codes, C, share)[0]
    assert loss <= other * (1 + 1e-9)


@pytest.mark.filterwarnings("ignore:there are more features")
def test_many_coefficients_are_at_the_minimum_or_said_not_to_be():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 1600)) + rng.normal(size=(200, 1))
    codes = (X[:, 0] + rng.normal(size=200) > 0).astype(int)
    table = cw.read({**{f"x{j}": X[:, j] for j in range(1600)}, "y": codes.astype(str)}, target="y")
    model = cw.learner("logistic", C=0.5).fit(table)
    encoded, fitted = model.encoder_.transform(table), model.estimator_
    worst = penalised_loss(fitted.coef_, fitted.intercept_, encoded, codes, 0.5, 0.0)[1]
    assert worst < 1e-3 * 0.5
    short = Logistic(C=1e4, max_iter=3)
    with pytest.warns(ConvergenceWarning):
        short.fit(encoded, codes)
