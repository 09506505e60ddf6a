"""A small version of ``python -m benchmarks coverage``, and checks of what that rests on."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import (
    Lasso,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
    RidgeCV,
)
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def simulations():
    # the benchmarks are run from the project's root and not installed
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT)
        from benchmarks import _simulations

        yield _simulations


@pytest.fixture(scope="module")
def bench_coverage():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT)
        from benchmarks import bench_coverage

        yield bench_coverage


def test_nested_intervals_cover_where_naive_ones_miss(bench_coverage):
    # 150 tables of 100 rows and 20 columns: the Monte Carlo error of a coverage is about 2.5 %
    result = bench_coverage.coverage("linear", folds=5, repeats=(3,), tables=150, seed=7)
    covered = {(one.of, one.interval): one.covered for one in result}
    bias = {(one.of, one.interval): one.bias for one in result}
    several = "all to best"
    promised = [c for (of, kind), c in covered.items() if kind == "nested" and of != several]
    assert len(promised) == 5
    assert min(promised) > 0.84
    assert max(promised) < 0.97
    # three intervals of 90 % do not hold together, unless widened
    assert covered[several, "nested"] < covered[several, "simultaneous"]
    assert covered[several, "simultaneous"] > 0.88
    assert covered["risk", "naive"] < 0.82
    assert covered["risk", "nested"] - covered["risk", "naive"] > 0.08
    # fits with four fifths of the rows are worse; the nested estimate corrects for that
    assert bias["risk", "naive"] > 0.06
    assert abs(bias["risk", "nested"]) < 0.06


def drawn(simulations, name):
    setting = simulations.SETTINGS[name]
    table = setting.draw(np.random.default_rng(0), setting.rows, setting.columns)
    folds = np.random.default_rng(1).permutation(np.arange(setting.rows) % 10)[None]
    kept, left_out = simulations.keep_rows(folds)
    return setting, table, kept, left_out


@pytest.mark.parametrize(
    ("name", "which", "reference"),
    [
        ("linear", 0, LinearRegression()),
        ("linear", 2, Ridge(alpha=30.0)),
        ("logistic", 0, LogisticRegression(C=1e3, tol=1e-9, max_iter=2000)),
        ("logistic", 2, LogisticRegression(C=0.1, tol=1e-9, max_iter=2000)),
        ("lasso", 0, Lasso(alpha=0.3, tol=1e-9, max_iter=50_000)),
        ("lasso", 2, Lasso(alpha=0.45, tol=1e-9, max_iter=50_000)),
    ],
    ids=lambda value: str(value)[:8],
)
def test_solvers_that_fit_all_folds_at_once_agree_with_scikit_learn(
    simulations, name, which, reference
):
    setting, table, kept, left_out = drawn(simulations, name)
    coefficients = setting.solvers[which].fit(table.x, table.y, kept)
    for line in (0, 1, 25):
        fitted = reference.fit(table.x[kept[line]], table.y[kept[line]])
        np.testing.assert_allclose(coefficients[line, 1:], np.ravel(fitted.coef_), atol=2e-4)
        assert coefficients[line, 0] == pytest.approx(np.ravel(fitted.intercept_)[0], abs=2e-4)
        _, j, k = left_out[line]
        assert (~kept[line]).sum() == (10 if j == k else 20)


def test_the_tuned_ridge_chooses_its_penalty_by_leave_one_out_in_every_fit(simulations):
    setting, table, kept, _ = drawn(simulations, "tuned")
    coefficients = setting.solvers[0].fit(table.x, table.y, kept)
    chosen = RidgeCV(np.geomspace(0.1, 1_000, 25))
    for line in (0, 1, 25):
        fitted = chosen.fit(table.x[kept[line]], table.y[kept[line]])
        np.testing.assert_allclose(coefficients[line, 1:], fitted.coef_, atol=1e-8)
        assert coefficients[line, 0] == pytest.approx(fitted.intercept_)


@pytest.mark.parametrize("name", ["linear", "logistic", "lasso"])
def test_exact_risks_are_those_of_many_new_rows(simulations, name):
    setting, table, kept, _ = drawn(simulations, name)
    coefficients = setting.solvers[0].fit(table.x, table.y, kept[:1])[0]
    new = setting.draw(np.random.default_rng(2), 10_000, setting.columns)
    losses = setting.losses(new.y, (new.x @ coefficients[1:] + coefficients[0])[None])[0]
    exact = setting.risk(coefficients, table.beta)
    assert abs(exact - losses.mean()) < 4 * losses.std() / 100


def other_tables(name, rows):
    from benchmarks._other_simulations import OTHERS

    setting = OTHERS[name]
    return setting, setting.draw(np.random.default_rng(0), rows, setting.columns)


def test_poisson_regression_for_all_folds_at_once_agrees_with_scikit_learn(simulations):
    setting, table = other_tables("counts", 60)
    kept = np.random.default_rng(1).random((3, 60)) < 0.8
    for which, penalty in ((0, 1e-3), (1, 10.0)):
        coefficients = setting.solvers[which].fit(table.x, table.y, kept)
        for line in range(3):
            reference = PoissonRegressor(alpha=penalty / kept[line].sum(), tol=1e-9, max_iter=1000)
            fitted = reference.fit(table.x[kept[line]], table.y[kept[line]])
            np.testing.assert_allclose(coefficients[line, 1:], fitted.coef_, atol=2e-4)


def test_neighbours_and_the_tree_see_only_the_rows_kept(simulations):
    setting, table = other_tables("curved", 60)
    new = setting.draw(np.random.default_rng(2), 20, setting.columns).x
    kept = np.random.default_rng(1).random((3, 60)) < 0.8
    ten, _, tree = setting.solvers
    references = (
        KNeighborsRegressor(10),
        DecisionTreeRegressor(min_samples_leaf=10, random_state=0),
    )
    for solver, reference in zip((ten, tree), references, strict=True):
        scores = solver.scores(table.x, table.y, kept, new)
        for line in range(3):
            fitted = reference.fit(table.x[kept[line]], table.y[kept[line]])
            np.testing.assert_allclose(scores[line], fitted.predict(new))


def test_reused_penalties_are_those_chosen_without_the_fold_judged(simulations):
    setting, table = other_tables("reuse-100", 100)
    folds = np.random.default_rng(1).permutation(np.arange(100) % 5)[None]
    kept, left_out = simulations.keep_rows(folds)
    scores = setting.solvers[0].scores(table.x, table.y, kept, table.x)
    line = left_out.index((0, 1, 3))
    for judged in (1, 3):
        without = folds[0] != judged
        chosen = RidgeCV(simulations.PENALTIES).fit(table.x[without], table.y[without]).alpha_
        fitted = Ridge(alpha=chosen).fit(table.x[kept[line]], table.y[kept[line]])
        np.testing.assert_allclose(scores[line, ~without], fitted.predict(table.x[~without]))


def test_an_inexact_risk_is_near_the_exact_one(simulations):
    setting = simulations.SETTINGS["linear"]
    folds = (np.arange(100) % 5)[None]
    exact = [one.risk for one in simulations.losses_of_table(setting, folds, seed=4)]
    drawn = simulations.losses_of_table(replace(setting, risk=None), folds, seed=4)
    np.testing.assert_allclose([one.risk for one in drawn], exact, rtol=0.1)


def test_figures_come_as_the_tables_of_the_docs(bench_coverage):
    result = bench_coverage.coverage("rows-60", folds=5, repeats=(3,), tables=3)
    lines = bench_coverage.as_markdown(result).splitlines()
    assert [line.split(" | ")[2] for line in lines[3:6]] == [
        "risk",
        "to least squares",
        "to ridge 10",
    ]
    best = next(one for one in result if one.of == "risk of best")
    assert lines[-1].startswith(
        f"| rows-60 | 5 | {100 * best.covered:.1f} ± {100 * best.se:.1f} | "
    )


def test_losses_are_in_the_shape_that_intervals_take(simulations):
    setting = simulations.SETTINGS["linear"]
    folds = np.stack([np.random.default_rng(r).permutation(np.arange(100) % 4) for r in (0, 1)])
    first, *_ = simulations.losses_of_table(setting, folds, seed=3)
    table = setting.draw(np.random.default_rng(3), 100, 20)
    keep = (folds[1] != 0) & (folds[1] != 2)
    fitted = LinearRegression().fit(table.x[keep], table.y[keep])
    rows = folds[1] == 2
    expected = (table.y[rows] - fitted.predict(table.x[rows])) ** 2
    np.testing.assert_allclose(first.pairs[1][2, 0], expected)
    assert len(first.outer) == 2
    assert len(first.pairs[0]) == 12


def test_on_many_rows_one_repeat_has_the_width_it_should_have(bench_coverage):
    result = bench_coverage.coverage("large", folds=5, repeats=(1,), tables=12, seed=5)
    width = {one.of: one.width for one in result if one.interval == "nested"}
    # single rows hardly matter to such fits
    assert 1.0 <= width["risk"] < 1.15
    # with all rows the penalty does less than in the fits the naive interval is about
    assert 0.8 < width["to ridge 300"] < 1.0
