"""Paths of coefficients: the fitted model is on them, degrees of freedom, criteria, bad input."""

import numpy as np
import pytest
from sklearn.linear_model import LassoCV, Ridge
from sklearn.model_selection import KFold

import clearwood as cw

LEARNERS = ("ridge", "lasso", "elastic-net", "lars", "omp", "pcr", "pls", "subset", "stagewise")


def table(n=150, seed=0, *, weighted=False):
    """Rows with a category, a gap and weights."""
    rng = np.random.default_rng(seed)
    place = rng.choice(["north", "south", "west"], n)
    x, z = rng.normal(size=(2, n))
    frame = {
        "place": place,
        "<z>": np.where(rng.random(n) < 0.1, np.nan, x),
        "z": z,
        "y": 2.0 * (place == "south") + x + 0.3 * z + rng.normal(size=n),
    }
    if weighted:
        return cw.read({**frame, "w": rng.uniform(0.5, 2, n)}, target="y", weight="w")
    return cw.read(frame, target="y")


@pytest.mark.parametrize("name", LEARNERS)
def test_the_fitted_model_is_on_its_path(name):
    data = table(weighted=name not in ("lars", "omp", "pls"))
    model = cw.learner(name).fit(data)
    found = cw.explanation.path(model, data, folds=2)
    matrix = model.encoder_.transform(data)
    predicted = matrix @ found.coefficients[found.chosen]
    change = model.predict(data) - predicted
    np.testing.assert_allclose(change, change[0], atol=1e-9)
    weight = np.ones(data.n_rows) if data.weights is None else data.weights
    rss = weight @ (data.y - model.predict(data)) ** 2
    assert found.rss[found.chosen] == pytest.approx(rss)
    assert np.all(np.diff(found.freedom) >= -1e-9) or name in ("lasso", "elastic-net", "stagewise")


def test_degrees_of_freedom_of_ridge_are_the_trace_of_its_smoother():
    data = table()
    model = cw.learner("ridge", alpha=20.0).fit(data)
    found = cw.explanation.path(model, data, folds=0)
    matrix = model.encoder_.transform(data)
    trace = sum(
        Ridge(alpha=20.0).fit(matrix, unit).predict(matrix)[k]
        for k, unit in enumerate(np.eye(data.n_rows))
    )
    assert found.freedom[found.chosen] == pytest.approx(trace)
    assert np.isnan(found.cv).all()


def test_degrees_of_freedom_of_the_elastic_net_are_the_trace_on_its_columns():
    data = table()
    model = cw.learner("elastic-net", alpha=0.1, l1_ratio=0.3).fit(data)
    found = cw.explanation.path(model, data, folds=0)
    matrix = model.encoder_.transform(data)
    held = matrix[:, found.coefficients[found.chosen] != 0]
    held = held - held.mean(axis=0)
    n, shrunk = data.n_rows, 0.1 * 0.7
    inner = np.linalg.pinv(held.T @ held + n * shrunk * np.eye(held.shape[1]))
    assert found.freedom[found.chosen] == pytest.approx(1 + np.trace(held @ inner @ held.T))


def test_held_out_errors_of_the_lasso_are_those_of_scikit_learn():
    data = cw.datasets.load("diabetes")
    model = cw.learner("lasso").fit(data)
    found = cw.explanation.path(model, data, folds=5, seed=1)
    assert found.coefficients[0].tolist() == [0.0] * len(found.names)  # the largest penalty
    matrix = model.encoder_.transform(data)
    folds = KFold(5, shuffle=True, random_state=1)
    theirs = LassoCV(cv=folds, max_iter=20_000, alphas=found.points * data.y.std()).fit(
        matrix, data.y
    )
    best = theirs.mse_path_.mean(axis=1).min()
    assert found.cv.min() == pytest.approx(best, rel=0.005)  # they scale the target in each fold


@pytest.mark.parametrize("name", ["pcr", "pls"])
def test_components_are_of_unit_length_and_hold_all_variance_together(name):
    data = cw.datasets.load("diabetes")
    found = cw.explanation.path(cw.learner(name).fit(data), data, folds=0)
    np.testing.assert_allclose(np.linalg.norm(found.loadings, axis=1), 1)
    assert found.held_variance[-1] == pytest.approx(1)
    matrix = cw.learner(name).fit(data).encoder_.transform(data)
    first = (matrix - matrix.mean(axis=0)) @ found.loadings[0]
    r2 = np.corrcoef(first, data.y)[0, 1] ** 2
    assert found.r2[0] == pytest.approx(r2)  # one component is least squares on its score
    drawn = found.plot_components(most=3).to_dict()
    assert drawn["title"]["text"] == f"Components of {name}: target"
    assert "variance of columns" in repr(found)
    with pytest.raises(cw.InputError, match="'ridge' has no components"):
        cw.explanation.path(cw.learner("ridge").fit(data), data, folds=0).plot_components()


@pytest.mark.parametrize("name", ["lasso", "ridge"])
def test_a_profile_is_drawn_along_its_penalty_its_freedom_or_its_shrinkage(name):
    data = cw.datasets.load("diabetes")
    found = cw.explanation.path(cw.learner(name).fit(data), data, folds=0)
    assert found.shrinkage.max() == 1
    for along, title in (
        ("setting", "alpha, from the simplest model on"),
        ("freedom", "degrees of freedom"),
        ("shrinkage", "sum of the sizes of coefficients, share of the largest"),
    ):
        upper = found.plot(along=along).to_dict()["vconcat"][0]
        assert title in [
            one.get("encoding", {}).get("x", {}).get("title") for one in upper["layer"]
        ]
    with pytest.raises(cw.InputError, match="along"):
        found.plot(along="lambda")


def test_text_frame_and_picture_have_hostile_names():
    data = table(weighted=True)
    found = cw.explanation.path(cw.learner("subset").fit(data), data)
    assert "&lt;z&gt;" in found._repr_html_()
    assert "<z>" not in found._repr_html_()
    assert {"columns", "freedom", "<z>"} <= set(found.to_frame("dict"))
    assert found.plot().to_dict()["title"]["text"].startswith("Path of subset")
    assert max(map(len, repr(found).splitlines())) <= 80


def test_a_learner_without_a_path_and_odd_folds_are_refused():
    data = table()
    with pytest.raises(cw.InputError, match="'tree' has no path"):
        cw.explanation.path(cw.learner("tree").fit(data), data)
    model = cw.learner("ridge").fit(data)
    for folds in (1, -2, True, 2.5):
        with pytest.raises(cw.InputError, match="folds"):
            cw.explanation.path(model, data, folds=folds)
    with pytest.raises(cw.InputError, match="150 rows"):
        cw.explanation.path(model, data.head(20))
