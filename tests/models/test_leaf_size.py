"""Forests of counts and amounts: their leaves are as large as the noise of the target asks for."""

import numpy as np
import pytest

import clearwood as cw

FORESTS = {
    "forest": {"n_estimators": 40},
    "extra-trees": {"n_estimators": 40},
    "bagging": {"n_estimators": 20},
}


def amounts(n, shape, seed=0):
    """Return amounts above zero whose noise falls with the shape, with their true means."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 1, (n, 4)).round(2)
    mean = 1_000 * np.exp(1.2 * (x[:, 0] > 0.5) + 0.8 * x[:, 1])
    rows = {f"x{k}": x[:, k] for k in range(4)} | {"y": rng.gamma(shape, mean / shape)}
    return cw.read(rows, target="y", task="amount"), mean


def rates(n, unit=1.0):
    """Return numbers of claims, with exposures in years divided by the unit."""
    rng = np.random.default_rng(0)
    x, years = rng.uniform(0, 1, (n, 3)).round(2), rng.uniform(0.1, 1.0, n)
    claims = rng.poisson(years * 0.4 * np.exp(1.5 * x[:, 0]))
    rows = {f"x{k}": x[:, k] for k in range(3)} | {"years": years / unit, "claims": claims}
    return cw.read(rows, target="claims", exposure="years", task="count")


def test_leaves_are_larger_the_more_the_amounts_scatter():
    sizes = []
    for shape in (1_000.0, 0.5):
        model = cw.learner("forest", n_estimators=30).fit(amounts(600, shape)[0])
        sizes.append(model.estimator_.min_samples_leaf)
        assert model.training_["settings"]["min_samples_leaf"] == sizes[-1]
        assert model.estimator_.n_estimators == 30
    assert sizes[0] < sizes[1]


@pytest.mark.parametrize("learner", FORESTS)
def test_forests_of_skewed_amounts_come_nearer_to_the_mean_than_with_leaves_of_one_row(learner):
    data, _ = amounts(800, 0.5)
    rows, mean = amounts(4_000, 0.5, seed=1)
    before = {"criterion": "squared_error", "min_samples_leaf": 1}
    errors = [
        np.mean(
            np.log(cw.learner(learner, **FORESTS[learner], **more).fit(data).predict(rows) / mean)
            ** 2
        )
        for more in ({}, before)
    ]
    assert errors[0] < 0.5 * errors[1]
    assert errors[0] < 0.5 * np.var(np.log(mean))


def test_leaves_that_the_user_chooses_stay():
    data, _ = amounts(300, 0.5)
    model = cw.learner("forest", n_estimators=5, min_samples_leaf=3).fit(data)
    assert model.estimator_.min_samples_leaf == 3


@pytest.mark.parametrize("learner", FORESTS)
def test_the_units_of_amounts_and_of_exposure_change_predictions_by_their_factor(learner):
    usual = cw.learner(learner, **FORESTS[learner]).fit(rates(400))
    for unit in (1 / 365.25, 8.0):
        other = cw.learner(learner, **FORESTS[learner]).fit(rates(400, unit))
        rows = rates(400)
        np.testing.assert_allclose(other.predict(rows), unit * usual.predict(rows), rtol=1e-6)
    data, _ = amounts(300, 1.0)
    columns = {name: data[name].values for name in data.features}
    prices = [
        cw.learner(learner, **FORESTS[learner])
        .fit(cw.read(columns | {"y": data.y * unit}, target="y", task="amount"))
        .predict(data)
        / unit
        for unit in (1.0, 1e-4, 7.0)
    ]
    np.testing.assert_allclose(prices[1], prices[0], rtol=1e-6)
    np.testing.assert_allclose(prices[2], prices[0], rtol=1e-6)


@pytest.mark.parametrize("n", [12, 60])
@pytest.mark.parametrize("learner", FORESTS)
def test_two_events_are_enough_for_a_forest(learner, n):
    rng = np.random.default_rng(0)
    y = np.zeros(n)
    y[:2] = 1.0, 2.0
    rows = {"a": rng.normal(size=n), "b": rng.normal(size=n), "y": y}
    rows["a"][3] = np.nan
    data = cw.read(rows, target="y", task="count")
    predicted = cw.learner(learner, n_estimators=60).fit(data).predict(data)
    assert predicted.min() > 0
    assert np.isfinite(predicted).all()


@pytest.mark.parametrize("learner", [*FORESTS, "tree", "bumping"])
@pytest.mark.parametrize("table", [rates, lambda n: amounts(n, 0.5)[0]])
def test_trees_of_counts_and_amounts_are_read_saved_and_explained_exactly(learner, table, tmp_path):
    data = table(250)
    model = cw.learner(learner, **{**FORESTS.get(learner, {}), "max_depth": 3}).fit(data)
    forest = cw.forest.from_model(model)
    np.testing.assert_allclose(forest.predict(data), model.predict(data), rtol=1e-12)
    cw.save(model, path := tmp_path / "model.cw")
    np.testing.assert_array_equal(cw.load(path).predict(data), model.predict(data))
    assert cw.explain(model, data).is_exact
