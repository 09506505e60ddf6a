"""Additive models: laws of the fit, oracles, and input that could break it."""

import numpy as np
import pandas as pd
import pytest

import clearwood as cw
from clearwood.models.glassbox.gam import (
    GamClassifier,
    GamRegressor,
    build_design,
    fit_folds,
    fit_score,
)
from clearwood.table import as_table

FAMILIES = ("gaussian", "poisson", "gamma", "binomial")


def rows(n=300, seed=0):
    """Two curves, a category and gaps."""
    rng = np.random.default_rng(seed)
    matrix = rng.random((n, 4))
    matrix[:, 3] = rng.integers(0, 4, n)
    signal = np.sin(6 * matrix[:, 0]) + matrix[:, 1] + 0.4 * matrix[:, 3] - 1
    matrix[rng.random(n) < 0.1, 1] = np.nan
    return matrix, signal, rng


def targets(signal, rng):
    return {
        "gaussian": signal + 0.3 * rng.normal(size=len(signal)),
        "poisson": rng.poisson(np.exp(signal)).astype(float),
        "gamma": np.exp(signal) * rng.gamma(5, 1 / 5, len(signal)),
        "binomial": (rng.random(len(signal)) < 1 / (1 + np.exp(-2 * signal))).astype(float),
    }


def estimator(family, **settings):
    if family == "binomial":
        return GamClassifier(categorical=(3,), **settings)
    return GamRegressor(family=family, categorical=(3,), **settings)


def score(model, matrix):
    return model.parts_(matrix)[:, 0]


@pytest.mark.parametrize("family", FAMILIES)
def test_curves_follow_the_signal(family):
    matrix, signal, rng = rows(1000)
    model = estimator(family).fit(matrix, targets(signal, rng)[family])
    slope = 2 if family == "binomial" else 1
    known = ~np.isnan(matrix[:, 1])
    error = score(model, matrix)[known] - slope * signal[known]
    assert np.sqrt(np.mean(error**2)) < 0.25


@pytest.mark.parametrize("family", FAMILIES)
def test_whole_weights_equal_repeated_rows(family):
    matrix, signal, rng = rows(150)
    y = targets(signal, rng)[family]
    weights = rng.integers(0, 4, 150)
    repeated = np.repeat(np.arange(150), weights)
    weighted = estimator(family).fit(matrix, y, sample_weight=weights)
    plain = estimator(family).fit(matrix[repeated], y[repeated])
    np.testing.assert_allclose(
        score(weighted, matrix[repeated]), score(plain, matrix[repeated]), atol=1e-6
    )


@pytest.mark.parametrize("family", FAMILIES)
def test_fits_of_folds_equal_fits_without_their_rows(family):
    matrix, signal, rng = rows()
    y = targets(signal, rng)[family]
    design = build_design(matrix, categorical=(3,))
    full = fit_score(design, y, family=family)
    held_out = np.array_split(rng.permutation(len(y)), 5)
    for out, fold in zip(
        held_out, fit_folds(design, y, held_out, full, family=family, search=False), strict=True
    ):
        weights = np.ones(len(y))
        weights[out] = 0
        direct = fit_score(design, y, weights=weights, family=family, start=full, search=False)
        np.testing.assert_allclose(
            design.score(fold.coefficients), design.score(direct.coefficients), atol=5e-3
        )
        changed = y.copy()
        changed[out] = y[out][::-1]
        (again,) = fit_folds(design, changed, [out], full, family=family, search=False)
        np.testing.assert_allclose(again.coefficients, fold.coefficients, atol=5e-3)


def test_bins_hardly_change_a_fit():
    matrix, signal, rng = rows(3000)
    y = targets(signal, rng)["poisson"]
    exact = build_design(matrix, categorical=(3,))
    binned = build_design(matrix, categorical=(3,), bins=256)
    fits = [fit_score(design, y, family="poisson") for design in (exact, binned)]
    difference = exact.score(fits[0].coefficients) - binned.score(fits[1].coefficients)
    assert np.abs(difference).max() < 0.05


@pytest.mark.parametrize("task", ["regression", "binary", "multiclass", "count"])
def test_a_saved_model_predicts_the_same(task, tmp_path):
    matrix, signal, rng = rows(120)
    frame = pd.DataFrame(matrix[:, :3], columns=list("abc"))
    frame["d"] = np.array(["u", "v", "w", "x"])[matrix[:, 3].astype(int)]
    y = {
        "regression": signal,
        "count": rng.poisson(np.exp(signal)),
        "binary": signal > 0,
        "multiclass": np.digitize(signal, [-0.5, 0.5]),
    }[task]
    model = cw.learner("gam", task=task).fit(frame, y)
    cw.save(model, tmp_path / "gam.cw")
    again = cw.load(tmp_path / "gam.cw")
    predict = "predict_proba" if task in ("binary", "multiclass") else "predict"
    np.testing.assert_array_equal(getattr(model, predict)(frame), getattr(again, predict)(frame))
    spread, kept = (m.estimator_.parts_.spread for m in (model, again))
    encoded = model.encoder_.transform(as_table(frame))
    np.testing.assert_array_equal(spread.parts(encoded), kept.parts(encoded))
