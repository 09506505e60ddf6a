"""Predictions do not depend on the unit of exposure (years, days, hours) or of an amount."""

import numpy as np
import pandas as pd
import pytest

import clearwood as cw
from clearwood.forest import from_model
from clearwood.models import catalogue
from clearwood.table import Task

ENTRIES = catalogue.built_in()
#: Hours of a year.
HOURS = 8766.0
CASES = {
    "rate": Task.COUNT,
    "rate of amounts": Task.AMOUNT,
    "amount": Task.AMOUNT,
    "positive amount": Task.AMOUNT,
    "number": Task.REGRESSION,
}
#: Trees of single rows divide them in ways that are equally good, of which rounding chooses one.
TIES = {"bagging", "adaboost"}
#: Single precision limits others.
TOLERANCES = {"xgboost": 2e-5}
#: Others take no row weights, which an exposure needs.
UNWEIGHTED = {"lars", "omp", "pls", "knn"}
SLOW = {"mlp", "transformer", "cnn"}


def rows(n, seed):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n))
    c = rng.choice(["low", "middle", "high"], n)
    signal = 1.2 * a - b + 1.5 * (c == "high") + 0.2 * rng.normal(size=n)
    frame = pd.DataFrame({"a": a, "b": b, "c": c})
    frame.loc[rng.random(n) < 0.05, "b"] = np.nan
    exposure = rng.uniform(0.2, 1.5, n)
    amount = 100 * np.exp(0.5 * signal)
    targets = {
        "rate": rng.poisson(np.exp(0.5 * signal - 1) * exposure).astype(float),
        "amount": amount * (rng.random(n) < 0.9),
        "positive amount": amount,
        "number": 20 + 3 * signal,
    }
    return frame, {**targets, "rate of amounts": targets["amount"]}, exposure


FRAME, TARGETS, EXPOSURE = rows(120, seed=0)
NEW = rows(60, seed=1)[0]


def read(case, factor):
    """Return the table with exposures or amounts multiplied by a factor."""
    has_exposure = case.startswith("rate")
    frame = FRAME.assign(y=TARGETS[case] * (1 if has_exposure else factor))
    if has_exposure:
        frame["e"] = EXPOSURE * factor
    return cw.read(
        frame, target="y", exposure="e" if has_exposure else None, task=CASES[case].value
    )


def predictions(name, case, factor, **settings):
    """Return predictions in the unit that the factor 1 has."""
    model = cw.learner(name, **settings).fit(read(case, factor))
    return model.predict(NEW) * (factor if case.startswith("rate") else 1 / factor)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_another_unit_multiplies_predictions_and_changes_nothing_else(entry, case):
    pytest.importorskip(entry.module or "numpy")
    if CASES[case] not in entry.tasks or entry.name in TIES | SLOW:
        pytest.skip("not among its tasks, ties, or slow")
    if case.startswith("rate") and entry.name in UNWEIGHTED:
        pytest.skip("takes no row weights")
    settings = dict(entry.quick)
    if entry.name == "stacking":
        settings["members"] = ["glm" if CASES[case] is not Task.REGRESSION else "ols", "gbm"]
    one, other = (predictions(entry.name, case, factor, **settings) for factor in (1.0, HOURS))
    assert np.ptp(one) > 0 or entry.name in ("baseline", "prim")
    tolerance = TOLERANCES.get(entry.name, 1e-6)
    np.testing.assert_allclose(other, one, rtol=0, atol=tolerance * np.abs(one).max())


@pytest.mark.parametrize("case", ["rate", "rate of amounts", "amount"])
@pytest.mark.parametrize("name", ["ridge", "glm", "lightgbm", "xgboost"])
def test_tables_in_parts_do_not_depend_on_the_unit_either(name, case):
    if name in ("lightgbm", "xgboost"):
        pytest.importorskip(name)
    has_exposure, found = case.startswith("rate"), []
    for factor in (1.0, HOURS):
        frame = FRAME.assign(y=TARGETS[case] * (1 if has_exposure else factor))
        if has_exposure:
            frame["e"] = EXPOSURE * factor
        exposure = "e" if has_exposure else None
        task = CASES[case].value
        parts = cw.scan([frame[:50], frame[50:]], target="y", exposure=exposure, task=task)
        model = cw.learner(name, **catalogue.get(name).quick).fit(parts)
        found.append(model.predict(NEW) * (factor if has_exposure else 1 / factor))
    one, other = found
    np.testing.assert_allclose(other, one, rtol=0, atol=2e-5 * np.abs(one).max())
    if name in ("ridge", "glm"):
        whole = predictions(name, case, 1.0)
        np.testing.assert_allclose(one, whole, rtol=0, atol=1e-7 * np.abs(one).max())


@pytest.mark.parametrize("factor", [365.25, 1e-3, 1e6])
@pytest.mark.parametrize("settings", [{"alpha": 0}, {}, {"alpha": 1.0}])
def test_relativities_do_not_depend_on_the_unit_of_exposure(factor, settings):
    table, other = read("rate", 1.0), read("rate", factor)
    one = cw.learner("glm", **settings).fit(table).estimator_.coef_
    two = cw.learner("glm", **settings).fit(other).estimator_.coef_
    np.testing.assert_allclose(two, one, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["gbm", "lightgbm", "xgboost", "catboost"])
def test_a_saved_model_and_its_trees_keep_the_unit(name, tmp_path):
    if name != "gbm":
        pytest.importorskip(name)
    model = cw.learner(name, **catalogue.get(name).quick).fit(read("rate", HOURS))
    predicted = model.predict(NEW)
    # claims add up where the unit is kept, and are off by thousands where it is not
    total = float(model.predict(FRAME) @ (EXPOSURE * HOURS))
    assert total == pytest.approx(TARGETS["rate"].sum(), rel=0.2)
    cw.save(model, tmp_path / "model.cw")
    np.testing.assert_array_equal(cw.load(tmp_path / "model.cw").predict(NEW), predicted)
    np.testing.assert_allclose(from_model(model).predict(NEW), predicted, rtol=1e-6)
