import json

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import clearwood as cw
from clearwood import InputError
from clearwood.benchmarking import LinearSmoother, in_sample, linear_smoother
from clearwood.resampling import LeaveOneOut
from clearwood.table import Table


def numbers(n=30, seed=0, weights=False, columns=4) -> Table:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, columns))
    data = {f"x{i}": x[:, i] for i in range(columns)}
    data["y"] = x @ np.arange(1, columns + 1) + rng.normal(size=n)
    if weights:
        data["w"] = rng.uniform(0.5, 3.0, n)
    return cw.read(data, target="y", weight="w" if weights else None)


def by_refitting(model, table):
    """Leave-one-out the long way: the estimator is fitted once a row, its columns encoded once."""
    encoded = model.encoder_.transform(table)
    outside = model.estimator_
    mean, inside = getattr(outside, "mean_", 0.0), getattr(outside, "regressor_", outside)
    result = np.empty(table.n_rows)
    for split in LeaveOneOut().splits(table.n_rows):
        fresh = clone(inside)
        options = {} if table.weights is None else {"sample_weight": table.weights[split.train]}
        fresh.fit(encoded[split.train], table.y[split.train] - mean, **options)
        result[split.test] = mean + fresh.predict(encoded[split.test])
    return result


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("ols", {}),
        ("ridge", {"alpha": 5.0}),
        ("ridge", {"alpha": 0.01}),
        ("kernel-ridge", {"alpha": 0.3}),
    ],
)
def test_left_out_predictions_are_those_of_refitting(name, options, weights):
    table = numbers(weights=weights)
    # the penalty of a learner is on columns scaled by all rows, so scales are kept while refitting
    model = cw.learner(name, **options).fit(table)
    smoother = linear_smoother(model, table)
    np.testing.assert_allclose(smoother.left_out, by_refitting(model, table), rtol=1e-8)


def test_for_least_squares_refitting_the_whole_learner_gives_the_same():
    table = numbers()
    smoother = linear_smoother(cw.learner("ols").fit(table), table)
    for split in LeaveOneOut().splits(table.n_rows):
        again = cw.learner("ols").fit(table.take(split.train))
        assert again.predict(table.take(split.test))[0] == pytest.approx(
            smoother.left_out[split.test[0]]
        )


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), penalty=st.floats(1e-3, 1e3), n=st.integers(5, 25))
def test_any_penalised_hat_matrix_leaves_rows_out_exactly(seed, penalty, n):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(n, 3)), rng.normal(size=n)

    def coefficients(rows):
        return np.linalg.solve(x[rows].T @ x[rows] + penalty * np.eye(3), x[rows].T @ y[rows])

    hat = x @ np.linalg.solve(x.T @ x + penalty * np.eye(3), x.T)
    smoother = LinearSmoother.from_hat_matrix(hat, y)
    refitted = [x[i] @ coefficients(np.arange(n) != i) for i in range(n)]
    np.testing.assert_allclose(smoother.left_out, refitted, rtol=1e-6, atol=1e-9)
    assert 0 < smoother.df < 3


def test_degrees_of_freedom_fall_from_columns_to_the_intercept_as_the_penalty_grows():
    table = numbers()
    df = [
        linear_smoother(cw.learner("ridge", alpha=alpha).fit(table), table).df
        for alpha in (1e-8, 1.0, 100.0, 1e10)
    ]
    assert df == sorted(df, reverse=True)
    assert df[0] == pytest.approx(5.0)
    assert df[-1] == pytest.approx(1.0)


def test_columns_that_depend_on_each_other_count_once():
    rng = np.random.default_rng(0)
    x = rng.normal(size=20)
    table = cw.read({"a": x, "b": 2 * x + 1, "y": rng.normal(size=20)}, target="y")
    assert linear_smoother(cw.learner("ols").fit(table), table).df == pytest.approx(2.0)


def test_generalised_cross_validation_is_leave_one_out_where_leverages_are_alike():
    # a balanced factor of four levels: every row has leverage 1/5
    y = np.random.default_rng(1).normal(size=20)
    hat = np.kron(np.eye(4), np.full((5, 5), 0.2))
    smoother = LinearSmoother.from_hat_matrix(hat, y)
    assert smoother.gcv == pytest.approx(smoother.leave_one_out.estimate)
    assert smoother.df == pytest.approx(4.0)


def test_leave_one_out_of_the_mean_is_example_8():
    # Hiabu (2024), Example 8: with four rows, 4-fold cross-validation leaves one out
    result = LinearSmoother.from_hat_matrix(np.full((4, 4), 0.25), [1.0, 1.0, 1.0, 0.0])
    assert result.leave_one_out.estimate == pytest.approx(1 / 3)


def test_rows_with_leverage_1_are_refused():
    hat = np.diag([1.0, 0.5, 0.5])
    smoother = LinearSmoother.from_hat_matrix(hat, [1.0, 2.0, 3.0])
    assert np.isnan(smoother.left_out[0])
    with pytest.raises(InputError, match="1 row with leverage 1"):
        _ = smoother.leave_one_out
    json.dumps(smoother.to_json(), allow_nan=False)


def test_interpolating_smoothers_have_no_generalised_cross_validation():
    assert LinearSmoother.from_hat_matrix(np.eye(3), [1.0, 2.0, 3.0]).gcv == np.inf


def test_learners_without_a_closed_form_are_refused():
    table = numbers()
    with pytest.raises(InputError, match="'knn' is not a linear smoother"):
        linear_smoother(cw.learner("knn").fit(table), table)


def test_another_table_is_refused():
    table = numbers()
    model = cw.learner("ols").fit(table)
    with pytest.raises(InputError, match="fitted to 30 rows, but the table has 10"):
        linear_smoother(model, table.head(10))


def test_least_squares_criteria_are_those_of_statsmodels():
    table = numbers(60)
    result = in_sample(cw.learner("ols").fit(table), table)
    x = np.column_stack([table[name].values for name in table.features])
    reference = sm.OLS(table.y, sm.add_constant(x)).fit()
    assert result.df == pytest.approx(5.0)
    assert result.log_likelihood == pytest.approx(reference.llf)
    assert result.aic == pytest.approx(reference.aic)
    assert result.bic == pytest.approx(reference.bic)
    noise = reference.ssr / (60 - 5)
    assert result.cp == pytest.approx(reference.ssr / 60 + 2 * 5 * noise / 60)
    assert result.gcv == pytest.approx((reference.ssr / 60) / (1 - 5 / 60) ** 2)


def test_poisson_criteria_are_those_of_statsmodels():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 3))
    table = cw.read(
        {"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "y": rng.poisson(np.exp(0.5 * x[:, 0] + 1))},
        target="y",
        task="count",
    )
    result = in_sample(cw.learner("glm", alpha=0.0).fit(table), table)
    reference = sm.GLM(table.y, sm.add_constant(x), family=sm.families.Poisson()).fit()
    assert result.df == pytest.approx(4.0)
    assert result.log_likelihood == pytest.approx(reference.llf, rel=1e-6)
    assert result.aic == pytest.approx(reference.aic, rel=1e-6)


def binary_table(n=200):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 3))
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-x[:, 0])), "yes", "no")
    return x, cw.read({"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "y": y}, target="y")


def test_logistic_criteria_are_those_of_statsmodels():
    x, table = binary_table()
    result = in_sample(cw.learner("logistic", penalty="none").fit(table), table)
    reference = sm.Logit(table.y == "yes", sm.add_constant(x)).fit(disp=0)
    assert result.df == pytest.approx(4.0)
    assert result.log_likelihood == pytest.approx(reference.llf, rel=1e-5)
    assert result.bic == pytest.approx(reference.bic, rel=1e-5)


def test_penalties_take_degrees_of_freedom():
    _, table = binary_table()
    free, some, much = (
        in_sample(cw.learner("logistic", C=c).fit(table), table).df for c in (1e6, 0.05, 1e-6)
    )
    assert free == pytest.approx(4.0, abs=1e-3)
    assert 1.0 < some < free
    assert much == pytest.approx(1.0, abs=1e-3)
    sparse = in_sample(cw.learner("logistic", penalty="l1", C=0.001).fit(table), table)
    assert sparse.df == pytest.approx(1.0)


def test_lasso_counts_the_columns_it_keeps():
    table = numbers(80, columns=6)
    model = cw.learner("lasso", alpha=0.2).fit(table)
    result = in_sample(model, table)
    assert result.df == 1 + np.count_nonzero(model.estimator_.coef_)
    assert 1 < result.df < 7


def test_elastic_net_has_fewer_degrees_of_freedom_than_columns():
    table = numbers(80)
    model = cw.learner("elastic-net", alpha=0.5, l1_ratio=0.2).fit(table)
    kept = np.count_nonzero(model.estimator_.coef_)
    assert 1 < in_sample(model, table).df < 1 + kept


def test_optimism_of_least_squares_is_what_cp_adds():
    # at the same features with new targets, the error is Cp on average: Rosso (40)
    rng = np.random.default_rng(5)
    x = rng.normal(size=(25, 5))
    gap = []
    for _ in range(200):
        mean = x.sum(axis=1)
        y, new = mean + rng.normal(size=25), mean + rng.normal(size=25)
        table = cw.read({**{f"x{i}": x[:, i] for i in range(5)}, "y": y}, target="y")
        model = cw.learner("ols").fit(table)
        result = in_sample(model, table)
        gap.append(result.cp - np.mean((new - model.predict(table)) ** 2))
    assert abs(np.mean(gap)) < 4 * np.std(gap) / np.sqrt(200)


def test_results_are_plain_json():
    table = numbers()
    model = cw.learner("ridge").fit(table)
    json.dumps(in_sample(model, table).to_json(), allow_nan=False)
    json.dumps(linear_smoother(model, table).to_json(), allow_nan=False)
    assert "df" in in_sample(model, table).to_frame("dict")


def test_weighted_rows_have_no_in_sample_criteria():
    table = numbers(weights=True)
    with pytest.raises(InputError, match="weighted rows"):
        in_sample(cw.learner("ols").fit(table), table)


def test_several_classes_have_no_in_sample_criteria():
    wine = cw.datasets.load("wine")
    with pytest.raises(InputError, match="two classes, not 3"):
        in_sample(cw.learner("logistic").fit(wine), wine)
