"""Hierarchical mixtures of experts: EM never falls, laws are recovered, tables in user's units."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import clearwood as cw
from clearwood.models.catalogue.hme.estimators import HmeClassifier, HmePoisson, HmeRegressor

FEW = {"levels": 1, "restarts": 1}


@pytest.mark.estimators(HmeRegressor(**FEW), HmeClassifier(**FEW), HmePoisson(**FEW))
def test_a_learner_keeps_scikit_learns_conventions(estimator, check):
    check(estimator)


def two_laws(n=400, seed=0):
    """On the left of 10 the slope is 2, on the right it is -1."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.uniform(0, 20, n), rng.normal(size=n)])
    y = np.where(X[:, 0] < 10, 5 + 2 * X[:, 1], 50 - X[:, 1])
    return X, y + 0.2 * rng.normal(size=n)


@pytest.mark.filterwarnings("ignore:.*still rising:clearwood.ClearwoodWarning")
@pytest.mark.parametrize("kind", [HmeRegressor, HmeClassifier, HmePoisson])
@given(seed=st.integers(0, 500), levels=st.integers(1, 2))
@settings(max_examples=6, deadline=None)
def test_the_likelihood_never_falls(kind, seed, levels):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 2))
    y = X[:, 0] + rng.normal(size=60) if kind is HmeRegressor else rng.integers(0, 3, 60)
    model = kind(levels=levels, restarts=1, max_steps=30, random_state=seed).fit(X, y)
    path = model.log_likelihood_
    assert np.diff(path).min() > -1e-6 * abs(path[-1])


def test_two_linear_laws_are_found_in_the_units_of_the_columns():
    X, y = two_laws()
    model = HmeRegressor(levels=1, ridge=0.01).fit(X, y)
    table = model.equation(["age", "dose"])
    assert table.columns == ("constant", "age", "dose")
    slopes = sorted(table.experts[:, 2, 0])
    np.testing.assert_allclose(slopes, [-1, 2], atol=0.1)
    np.testing.assert_allclose(table.shares.sum(), 1)
    gate = table.gates[0]
    assert -gate[0] / gate[1] == pytest.approx(10, abs=1)
    # the table is the model
    design = np.column_stack([np.ones(len(X)), X])
    right = 1 / (1 + np.exp(-design @ gate))
    means = np.column_stack([1 - right, right]) * (design @ table.experts[:, :, 0].T)
    np.testing.assert_allclose(means.sum(axis=1), model.predict(X), rtol=1e-6)


def test_whole_weights_are_repeated_rows():
    X, y = two_laws(80)
    weight = np.tile([1, 2], 40)
    weighted = HmeRegressor(**FEW).fit(X, y, sample_weight=weight)
    repeated = HmeRegressor(**FEW).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-4, atol=1e-4)


def test_a_learner_writes_its_experts_out_and_is_saved(tmp_path):
    X, y = two_laws(150)
    frame = pd.DataFrame(X, columns=["age", "dose"]).assign(town=np.tile(["a", "b", "c"], 50), y=y)
    data = cw.read(frame, target="y")
    model = cw.learner("hme", **FEW).fit(data)
    table = cw.models.equation(model)
    text = repr(table)
    assert text.startswith("2 experts, mixed by 1 gate (")
    assert "expert 2" in text
    assert table.to_json()["outputs"] == [""]
    assert "<td" in table._repr_html_()
    assert max(map(len, text.splitlines())) <= 80
    listed = table.to_frame("dict")
    assert [*dict.fromkeys(listed["part"])] == ["gate 1", "expert 1", "expert 2"]
    assert listed["coefficient"][1] == table.gates[0, 1]
    assert listed["column"][1] == "age"
    assert table.plot().to_dict()
    cw.save(model, tmp_path / "model.cw")
    np.testing.assert_array_equal(cw.load(tmp_path / "model.cw").predict(data), model.predict(data))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"levels": 9}, "levels=9"),
        ({"ridge": 0}, "ridge=0"),
        ({"ridge": "a lot"}, "ridge='a lot'"),
        ({"ridge": np.nan}, "ridge=nan"),
        ({"restarts": 0}, "restarts=0"),
    ],
)
def test_settings_that_mean_nothing_are_refused(options, message):
    X, y = two_laws(40)
    with pytest.raises(cw.InputError, match=message):
        HmeRegressor(**options).fit(X, y)


@pytest.mark.parametrize(
    ("model", "rows", "target", "message"),
    [
        (HmeRegressor(), 40, np.full(40, 7.0), "every row has 7"),
        (HmeRegressor(), 7, np.arange(7.0), "7 samples of positive weight cannot fit 4 experts"),
        (HmeClassifier(), 40, np.repeat("yes", 40), "one class only"),
        (HmePoisson(), 40, np.zeros(40), "every target is zero"),
        (HmePoisson(), 40, np.arange(40) - 1, "must not be negative"),
    ],
)
def test_targets_that_experts_cannot_learn_are_refused(model, rows, target, message):
    X, _ = two_laws(rows)
    with pytest.raises(cw.InputError, match=message):
        model.fit(X, target)


def test_units_far_from_one_change_nothing():
    X, y = two_laws(60)
    usual = HmeRegressor(**FEW).fit(X, y).predict(X)
    far = HmeRegressor(**FEW).fit(X * 1e300, y * 1e100).predict(X * 1e300)
    np.testing.assert_allclose(far / 1e100, usual, rtol=1e-6)


def test_a_column_that_separates_the_classes_and_a_constant_one():
    X = np.column_stack([np.linspace(-1, 1, 40), np.ones(40)])
    model = HmeClassifier(**FEW).fit(X, X[:, 0] > 0)
    assert (model.predict(X) == (X[:, 0] > 0)).mean() > 0.9
    assert np.isfinite(model.predict_proba(X)).all()
