"""Large tables are not copied: their codes are made block by block, with the same results."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import clearwood as cw
from clearwood.explanation import explanation as handles


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    n_rows = 300
    age, power = rng.uniform(18, 80, n_rows), rng.normal(60, 10, n_rows)
    power[::17] = np.nan
    town = np.array(["Ulm", "Bonn", "Kiel"])[rng.integers(0, 3, n_rows)]
    claims = age / 20 + np.where(town == "Ulm", 2.0, 1) + rng.normal(0, 0.3, n_rows)
    return cw.read({"age": age, "power": power, "town": town, "claims": claims}, target="claims")


MODELS = {
    "gbm": {"max_iter": 8, "max_depth": 3},
    "lightgbm": {"n_estimators": 10, "num_leaves": 4},
    "forest": {"n_estimators": 3},
    "ols": {},
    "gam": {},
    "glass": {},
}


def answers(why):
    """Return numbers of every kind that a decomposition gives over its background."""
    rest = why.without("age") if why.is_complete else why
    return [
        why.baseline,
        why.importance().values,
        rest.importance().values,
        why.shapley().values,
        why.values().values,
        why.effect("power", kind="component").values,
        why.effect("age", "town", kind="component").values
        if why.order > 1
        else why.effect("town", kind="component").values,
    ]


@pytest.mark.filterwarnings("ignore::clearwood.ClearwoodWarning")
@pytest.mark.parametrize("name", MODELS)
def test_codes_made_when_needed_give_the_same_bits_and_are_not_kept(name, data, monkeypatch):
    if name == "lightgbm":
        pytest.importorskip("lightgbm")
    model = cw.learner(name, **MODELS[name]).fit(data)
    kept = answers(cw.explain(model, data))
    monkeypatch.setattr(handles, "_CELLS_KEPT", 0)
    why = cw.explain(model, data)
    made = answers(why)
    for one, other in zip(kept, made, strict=True):
        assert_array_equal(one, other)
    assert why.rows(late=True).are_late
    assert not why._readings
    again = pickle.loads(pickle.dumps(why))
    assert_array_equal(again.importance().values, made[1])


def test_a_question_that_needs_all_codes_keeps_them(data, monkeypatch):
    monkeypatch.setattr(handles, "_CELLS_KEPT", 0)
    model = cw.learner("gbm", max_iter=10).fit(data)
    why = cw.explain(model, data)
    curve = why.effect("age", kind="ale").values
    assert_array_equal(curve, cw.effect(model, data, "age", kind="ale").values)
    groups = {"car": ["age", "power"]}
    assert_array_equal(
        why.shapley(data.head(3), groups=groups).values,
        cw.shapley(model, data, data.head(3), groups=groups).values,
    )
