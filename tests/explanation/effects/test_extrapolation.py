"""Where rows lie outside the data: hardly ever in tables without strong dependence."""

import numpy as np
import pytest

import clearwood as cw
from clearwood.explanation import Explanation
from clearwood.explanation.effects.extrapolation import support_of
from clearwood.table import Table


def mixed(seed: int, n: int, rho: float) -> Table:
    """Return columns of every kind that all follow one hidden score with a correlation."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n)

    def score() -> np.ndarray:
        return rho * z + np.sqrt(1 - rho**2) * rng.normal(size=n)

    rows = {
        "number": score(),
        "skewed": np.exp(1.5 * score()),
        "age": np.floor(40 + 11 * score()).clip(18, 67),
        "term": np.array([12, 24, 36, 48, 60])[np.digitize(score(), [-1, 0, 0.7, 1.3])],
        "children": np.digitize(score(), [0, 1, 1.6, 2.2]),
        "foreign": np.where(score() > 1.475, "yes", "no"),  # 93 % "no"
        "job": np.array(list("abcdefgh"))[np.digitize(score(), [-1, -0.3, 0.3, 0.8, 1.4, 2, 2.4])],
        "income": np.where(score() > 0, np.abs(score()), 0),
        "treated": (rng.random(n) < np.clip(1 / (1 + np.exp(1 - z)), 0.05, 0.78)).astype(int),
        "y": z + rng.normal(size=n),
    }
    return cw.read(rows, target="y")


def effects(table: Table) -> dict:
    """Return the effect of every column of a linear model."""
    explanation = cw.explain(cw.learner("ols").fit(table), table)
    return {name: explanation.effect(name) for name in table.features}


@pytest.mark.parametrize("rho", [0.0, 0.3])
def test_few_columns_of_tables_without_strong_dependence_are_marked(rho):
    marked = [
        bool(one.extrapolates.any())
        for seed, n in ((0, 250), (1, 600), (2, 600))
        for one in effects(mixed(seed, n, rho)).values()
    ]
    assert sum(marked) <= len(marked) // 20


def test_columns_that_follow_each_other_closely_are_marked():
    with pytest.warns(cw.ClearwoodWarning, match="lie outside the data"):
        marked = effects(mixed(3, 600, 0.97))
    strong = ("number", "skewed", "age", "term", "job")
    assert all(marked[name].extrapolates.mean() > 0.3 for name in strong)


def test_a_level_that_nearly_all_rows_have_is_not_outside_for_the_others():
    effect = effects(mixed(4, 600, 0.3))["foreign"]
    assert effect.outside.max() < 0.05


def test_treatments_that_everybody_may_get_do_not_lie_outside():
    table = mixed(5, 614, 0.5)
    effect = cw.direct_effect(cw.learner("ols").fit(table), table, "treated")
    assert effect.outside_share < 0.02


@pytest.mark.parametrize("copies", [1, 3])
def test_treatments_that_some_cannot_get_are_counted_sharply(copies):
    """A third of the rows, by a number that has no gap, never get the treatment."""
    rng = np.random.default_rng(6)
    x = rng.uniform(size=900)
    treated = ((x > 1 / 3) & (rng.random(900) < 0.5)).astype(int)
    rows = {"x": np.repeat(x, copies), "treated": np.repeat(treated, copies)}
    rows["y"] = rows["x"] + rows["treated"] + rng.normal(size=900 * copies)
    table = cw.read(rows, target="y")
    effect = cw.direct_effect(cw.learner("ols").fit(table), table, "treated", at=[0, 1])
    assert effect.outside[0] == 0
    assert effect.outside[1] == pytest.approx(1 / 3, abs=0.06)


def test_a_rare_level_that_goes_with_nothing_is_not_outside():
    rng = np.random.default_rng(7)
    z = rng.normal(size=1200)
    job = np.array(["low", "middle", "high"])[np.digitize(z + rng.normal(size=1200), [-1, 1])]
    job[rng.random(1200) < 0.01] = "rare"
    table = cw.read({"z": z, "job": job, "y": z + rng.normal(size=1200)}, target="y")
    effect = cw.effect(cw.learner("ols").fit(table), table, "job")
    outside = dict(zip(effect.grid[0], effect.outside, strict=True))
    assert outside["rare"] < 0.05


def test_rows_where_they_are_lie_inside():
    table = mixed(8, 2100, 0.9)
    predictor = Explanation(cw.learner("ols").fit(table), table).predictor()
    rows = np.arange(0, 2100, 3)
    for position in range(len(predictor.names)):
        region = support_of(predictor, (position,))
        assert region.outside(rows, {position: rows}).mean() < 0.02
