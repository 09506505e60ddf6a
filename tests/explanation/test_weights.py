"""The law of weights: a background with whole weights is that background with rows repeated."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import PoissonRegressor, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVR

import clearwood as cw

NUMBERS = ["a", "b", "c"]


@dataclass(frozen=True, eq=False)
class Weighted:
    """Rows with weights, zeros among them, and the same rows repeated."""

    rows: pd.DataFrame
    target: pd.Series
    weights: np.ndarray[Any, Any]

    @property
    def repeated(self) -> pd.DataFrame:
        return self.rows.loc[self.rows.index.repeat(self.weights)].reset_index(drop=True)


@pytest.fixture(scope="module")
def table():
    generator = np.random.default_rng(5)
    n_rows = 60
    rows = pd.DataFrame(generator.normal(size=(n_rows, 3)).round(2), columns=NUMBERS)
    rows["b"] += 0.5 * rows["a"]
    rows["level"] = generator.choice(["x", "y", "z"], n_rows)
    target = rows["a"] * rows["b"] + rows["c"] + (rows["level"] == "y")
    return Weighted(rows, target, generator.integers(0, 4, n_rows))


def learner(name, **settings):
    def fit(table, kind="number"):
        target = table.target if kind == "number" else np.where(table.target > 0, "yes", "no")
        data = cw.read(table.rows.assign(target=target), target="target")
        return cw.learner(name, **settings).fit(data)

    return fit


def pipeline(last, of=lambda y: y):
    def fit(table):
        steps = make_column_transformer((StandardScaler(), NUMBERS), (OneHotEncoder(), ["level"]))
        return make_pipeline(steps, last).fit(table.rows, of(table.target))

    return fit


EXACT = {
    "forest": learner("forest", n_estimators=5, max_depth=4),
    "boosting": learner("gbm", max_iter=10, max_depth=3),
    "two classes": lambda table: learner("forest", n_estimators=5, max_depth=4)(table, "classes"),
    "ridge": learner("ridge"),
    "tables": learner("ebm", outer_bags=1, interactions=1, max_rounds=300),
    "pipeline": pipeline(Ridge()),
    "poisson": pipeline(PoissonRegressor(), np.exp),
    "trees after steps": pipeline(RandomForestRegressor(5, max_depth=4, random_state=0)),
}
SAMPLED = {
    "support vectors": pipeline(SVR()),
    "a function": lambda _: lambda X: (X["a"] * X["b"] + (X["level"] == "y")).to_numpy(),
}


def pair(model, table, **options):
    """Explain over weighted rows, and over rows repeated."""
    return (
        cw.explain(model, table.rows, weights=table.weights.astype(float), **options),
        cw.explain(model, table.repeated, **options),
    )


def models(families):
    return pytest.mark.parametrize("fit", families.values(), ids=families.keys())


def same_effect(weighted, repeated):
    for one, other in zip(weighted.grid, repeated.grid, strict=True):
        assert list(one) == list(other)
    assert_allclose(weighted.values, repeated.values, atol=1e-9)
    assert_allclose(weighted.shares, repeated.shares, atol=1e-12)


@models(EXACT | SAMPLED)
def test_components_and_their_variances_over_weights_are_those_over_repeated_rows(table, fit):
    model = fit(table)
    weighted, repeated = pair(model, table, n_background=1000)
    assert_allclose(weighted.baseline, repeated.baseline)
    few = table.rows.head(5)
    assert_allclose(weighted.values(few).values, repeated.values(few).values, atol=1e-9)
    ours, theirs = (why.decomposition.importance().variances for why in (weighted, repeated))
    assert_allclose(ours.variance, theirs.variance, atol=1e-9)
    assert_allclose(ours.remainder, theirs.remainder, atol=1e-9)
    assert_allclose(ours.prediction, theirs.prediction, atol=1e-9)


@models(EXACT | SAMPLED)
def test_effects_over_weights_are_those_over_repeated_rows(table, fit):
    weighted, repeated = (why.decomposition for why in pair(fit(table), table, n_background=1000))
    for ours, theirs in zip(weighted.effects(points=9), repeated.effects(points=9), strict=True):
        same_effect(ours, theirs)
    columns = ("a", "level")
    same_effect(weighted.effect(*columns, points=5), repeated.effect(*columns, points=5))
    same_effect(weighted.partial_dependence("b"), repeated.partial_dependence("b"))


@models(EXACT | SAMPLED)
def test_interventional_values_over_weights_are_those_over_repeated_rows(table, fit):
    weighted, repeated = pair(fit(table), table)
    few = table.rows.head(3)
    sizes = (weighted, int((table.weights > 0).sum())), (repeated, len(table.repeated))
    for method in ("auto", "subsets"):
        ours, theirs = (
            why.shapley(few, method=method, n_background=n_rows) for why, n_rows in sizes
        )
        assert_allclose(ours.values, theirs.values, atol=1e-9)
        assert_allclose(ours.baseline, theirs.baseline)


@pytest.mark.parametrize("conditional", ["gaussian", "copula", "kernel"])
def test_observational_values_over_weights_are_those_over_repeated_rows(table, conditional):
    model = Ridge().fit(table.rows[NUMBERS], table.target)
    numbers = Weighted(table.rows[NUMBERS], table.target, table.weights)
    weighted, repeated = pair(model, numbers)
    few = numbers.rows.head(3)
    ours, theirs = (
        why.shapley(few, value="observational", conditional=conditional, n_background=40)
        for why in (weighted, repeated)
    )
    assert_allclose(ours.baseline, theirs.baseline)
    # with a copula the mean of the draws is not exact
    off = 6 * ours.standard_errors.max() if conditional == "copula" else 1e-9
    assert_allclose(ours.values, theirs.values, atol=off)


@models({kind: (EXACT | SAMPLED)[kind] for kind in ("boosting", "two classes", "a function")})
def test_observational_values_of_mixed_columns_follow_weights(table, fit):
    weighted, repeated = pair(fit(table), table)
    few = table.rows.head(3)
    ours, theirs = (
        why.shapley(few, value="observational", conditional="kernel")
        for why in (weighted, repeated)
    )
    assert_allclose(ours.values, theirs.values, atol=1e-9)
    forest, again = (
        why.shapley(few, value="observational", conditional="forest")
        for why in (weighted, repeated)
    )
    assert_allclose(forest.baseline, again.baseline)


@models(EXACT)
def test_weights_of_the_table_itself_count_as_weights_do(table, fit):
    model = fit(table)
    data = cw.read(table.rows.assign(w=table.weights), weight="w")
    ours = cw.explain(model, data)
    assert_allclose(ours.baseline, cw.explain(model, table.repeated).baseline)


@models({name: EXACT[name] for name in ("ridge", "pipeline", "poisson")})
def test_contributions_over_weights_are_those_over_repeated_rows(table, fit):
    weighted, repeated = pair(fit(table), table)
    few = table.rows.head(4)
    ours, theirs = weighted.contributions(few), repeated.contributions(few)
    assert_allclose(ours.constant, theirs.constant)
    assert_allclose(ours.values, theirs.values, atol=1e-9)


@models({name: EXACT[name] for name in ("forest", "boosting", "trees after steps")})
def test_path_dependent_values_need_no_background_and_so_no_weights(table, fit):
    weighted, repeated = pair(fit(table), table)
    few = table.rows.head(3)
    ours, theirs = (why.shapley(few, value="path_dependent") for why in (weighted, repeated))
    assert_allclose(ours.values, theirs.values)
