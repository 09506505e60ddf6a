"""Observational values: the example that tells them apart, known truths, and what they refuse."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.ensemble import RandomForestRegressor

import clearwood as cw

CONDITIONALS = ["gaussian", "copula", "kernel", "forest"]


@pytest.mark.parametrize("conditional", CONDITIONALS)
@pytest.mark.parametrize("method", ["subsets", "kernel", "permutation"])
def test_an_ignored_column_gets_half_of_what_it_tells(conditional, method):
    """Hiabu (2024), example 16: m(x) = x1, and x2 always equals x1."""
    X = np.repeat([[0.0, 0.0], [1.0, 1.0]], 50, axis=0)
    found = cw.shapley(
        lambda X: X[:, 0],
        X,
        np.array([[0.0, 0.0], [1.0, 1.0]]),
        value="observational",
        conditional=conditional,
        method=method,
    )
    expected = (np.array([0.0, 1.0]) - 0.5) / 2
    assert_allclose(found.values, np.column_stack([expected, expected]), atol=1e-3)
    assert found.value == "observational"
    assert any("assumes" in note for note in found.notes)
    interventional = cw.shapley(lambda X: X[:, 0], X, X[:1], method=method)
    assert_allclose(interventional.values[0], [-0.5, 0.0], atol=1e-12)


@pytest.fixture(scope="module")
def normal():
    """Normal columns, a linear model, and its observational values by the formula."""
    generator = np.random.default_rng(1)
    covariance = np.array([[1, 0.7, 0.3], [0.7, 1, 0.2], [0.3, 0.2, 1]])
    X = generator.multivariate_normal([0, 1, 2], covariance, 1500)
    slope = np.array([1.0, 2.0, -1.0])
    row = np.array([1.0, 0.5, 2.5])
    mean, spread = X.mean(axis=0), np.cov(X, rowvar=False, bias=True)

    def worth(inside):
        inside = list(inside)
        outside = [k for k in range(3) if k not in inside]
        point = mean.copy()
        point[inside] = row[inside]
        if inside and outside:
            within = spread[np.ix_(inside, inside)]
            across = spread[np.ix_(outside, inside)]
            point[outside] += across @ np.linalg.solve(within, row[inside] - mean[inside])
        return point @ slope

    values = np.zeros(3)
    for k in range(3):
        others = [j for j in range(3) if j != k]
        for size in range(3):
            share = math.factorial(size) * math.factorial(2 - size) / 6
            for inside in itertools.combinations(others, size):
                values[k] += share * (worth((*inside, k)) - worth(inside))
    return X, (lambda X: X @ slope), row, values


def test_values_of_a_linear_model_of_normal_columns_are_those_of_the_formula(normal):
    X, model, row, values = normal
    found = cw.shapley(model, X, row, value="observational")
    assert_allclose(found.values[0], values, atol=1e-9)


@pytest.mark.parametrize(
    ("conditional", "off"), [("copula", 0.06), ("kernel", 0.2), ("forest", 0.4)]
)
def test_weaker_assumptions_come_near(normal, conditional, off):
    X, model, row, values = normal
    found = cw.shapley(model, X, row, value="observational", conditional=conditional)
    assert_allclose(found.values[0], values, atol=off)
    assert_allclose(found.prediction, model(row[None]))
    interventional = cw.shapley(model, X, row, n_background=1500).values[0]
    # nearer to the truth than values that ignore the dependence
    assert np.abs(found.values[0] - values).sum() < np.abs(interventional - values).sum()


def test_errors_of_draws_have_their_coverage():
    generator = np.random.default_rng(2)
    X = generator.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], 500)
    row = np.array([[1.0, -1.0]])
    many = cw.shapley(
        lambda X: np.exp(X).sum(axis=1), X, row, value="observational", n_background=500
    )
    runs = [
        cw.shapley(
            lambda X: np.exp(X).sum(axis=1),
            X,
            row,
            value="observational",
            n_background=40,
            seed=seed,
        )
        for seed in range(100)
    ]
    truth = np.mean([run.values for run in runs], axis=0)
    assert_allclose(many.values, truth, atol=6 * many.standard_errors.max())
    inside = [np.abs(run.values - truth) <= 1.96 * run.standard_errors for run in runs]
    assert 0.85 < np.mean(inside) < 1.0


def test_independent_columns_have_the_interventional_values():
    X = np.random.default_rng(3).normal(size=(3000, 3))

    def model(X):
        return X[:, 0] * 2 + X[:, 1]

    inside = cw.shapley(model, X, X[:2], n_background=3000)
    found = cw.shapley(model, X, X[:2], value="observational")
    assert_allclose(found.values, inside.values, atol=0.15)


@pytest.mark.parametrize("conditional", ["kernel", "forest"])
def test_categories_and_gaps_are_taken_where_nothing_is_normal(conditional):
    pd = pytest.importorskip("pandas")
    generator = np.random.default_rng(4)
    town = generator.choice(["a", "b"], 300)
    size = np.where(generator.random(300) < 0.1, np.nan, (town == "a") + generator.normal(size=300))
    frame = pd.DataFrame({"town": town, "size": size})

    def model(rows):
        return (rows["town"] == "a").astype(float)

    found = cw.shapley(model, frame, frame.head(4), value="observational", conditional=conditional)
    assert_allclose(found.prediction, model(frame.head(4)), atol=1e-12)
    assert (np.sign(found.values[:, 0]) == np.where(town[:4] == "a", 1, -1)).all()


def test_trees_are_asked_too():
    X = np.random.default_rng(5).normal(size=(200, 3))
    X[:, 1] = X[:, 0] + 0.1 * X[:, 1]
    model = RandomForestRegressor(5, random_state=0).fit(X, X[:, 0])
    found = cw.shapley(model, X, X[:2], value="observational", conditional="copula")
    assert_allclose(found.prediction, model.predict(X[:2]))
    assert np.abs(found.values[:, 1]).max() > 0.1


@pytest.mark.parametrize("conditional", ["gaussian", "copula"])
def test_normal_columns_must_be_numbers(conditional):
    data = cw.read({"age": [1.5, 2.5, 3.0], "town": ["a", "b", "a"]})
    with pytest.raises(cw.InputError, match=r"'town' has categories.*conditional='kernel'"):
        cw.shapley(
            lambda rows: np.zeros(len(rows)),
            data,
            data.head(1),
            value="observational",
            conditional=conditional,
        )
    X = np.array([[1.0, np.nan], [2.0, 3.0]])
    with pytest.raises(cw.InputError, match="'x1' has missing values"):
        cw.shapley(lambda X: X[:, 0], X, X[:1], value="observational", conditional=conditional)


def mixed_table(n_rows=400):
    generator = np.random.default_rng(7)
    level = generator.choice(["a", "b", "c"], n_rows, p=[0.5, 0.3, 0.2])
    shift = {"a": -1.0, "b": 0.0, "c": 2.0}
    number = np.array([shift[one] for one in level]) + 0.5 * generator.normal(size=n_rows)
    days = generator.integers(0, 900, n_rows).astype("timedelta64[D]")
    gaps = np.where(generator.random(n_rows) < 0.1, np.nan, number + generator.normal(size=n_rows))
    return {
        "numbers": {"x": number, "y": number + generator.normal(size=n_rows)},
        "categories": {"x": number, "level": level},
        "gaps": {"x": number, "gaps": gaps},
        "dates": {"x": number, "day": np.datetime64("2024-01-01") + days},
        "only categories": {"level": level, "other": np.where(number > 0, "up", "down")},
    }


@pytest.mark.parametrize("kind", mixed_table())
@pytest.mark.parametrize("form", ["table", "pandas"])
def test_the_default_conditional_is_chosen_by_the_columns(kind, form):
    columns = mixed_table()[kind]
    frame = pd.DataFrame(columns)
    data = cw.read(frame) if form == "table" else frame

    def model(rows):
        return (rows["x"] if "x" in rows else (rows["level"] == "b") * 2.0).to_numpy(float)

    found = cw.shapley(model, data, data.head(3), value="observational")
    assert found.conditional == ("gaussian" if kind == "numbers" else "kernel")
    assert found.to_json()["conditional"] == found.conditional
    assert_allclose(found.prediction, model(frame.head(3)), atol=1e-9)
    assert any("assumes" in note for note in found.notes)


def test_values_of_other_value_functions_have_no_conditional():
    X = np.random.default_rng(0).normal(size=(30, 2))
    assert cw.shapley(lambda X: X[:, 0], X, X[:1]).conditional is None


def test_categories_are_matched_as_the_conditional_mean_does():
    """Two columns of categories: the mean over rows that have the level is the truth."""
    columns = mixed_table()["only categories"]
    frame = pd.DataFrame(columns)
    values = (frame["level"] == "b") * 2.0 + (frame["other"] == "up")

    def model(rows):
        return ((rows["level"] == "b") * 2.0 + (rows["other"] == "up")).to_numpy(float)

    row = frame.head(1)
    found = cw.shapley(model, frame, row, value="observational").values[0]
    within = [values[frame[name] == row[name][0]].mean() for name in frame]
    whole, mean = model(row)[0], values.mean()
    expected = [
        (within[0] - mean + whole - within[1]) / 2,
        (within[1] - mean + whole - within[0]) / 2,
    ]
    assert_allclose(found, expected, atol=0.01)
