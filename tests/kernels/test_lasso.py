"""Lasso paths: conditions of optimality, scikit-learn, cross-validation written out."""

import numpy as np
import pytest
from sklearn.linear_model import Lasso, LogisticRegression

from clearwood.kernels import lasso_path

N = 240
UNFOLDED = np.full(N, -1, np.int32)


def problem(seed=0):
    """Overlapping indicators, of which one holds nearly everywhere, and three lines."""
    rng = np.random.default_rng(seed)
    indicators = rng.random((25, N)) < rng.uniform(0.1, 0.95, 25)[:, None]
    indicators[3] = indicators[0] | indicators[1]
    lines = rng.normal(size=(3, N))
    score = 1.5 * indicators[0] - 1.0 * indicators[1] + 0.5 * lines[0]
    return indicators, lines, score, rng


def response_of(family, score, rng):
    noisy = score + rng.logistic(size=N)
    return {
        "gaussian": (score + rng.normal(size=N))[None, :],
        "logistic": (noisy > 0)[None, :].astype(float),
        "poisson": rng.poisson(np.exp(score / 2))[None, :].astype(float),
        "multinomial": np.eye(3)[np.digitize(noisy, [-0.5, 1])].T,
    }[family]


def means(family, score):
    if family == "multinomial":
        odds = np.exp(score)
        return odds / odds.sum(axis=0)
    return {
        "gaussian": lambda f: f,
        "logistic": lambda f: 1 / (1 + np.exp(-f)),
        "poisson": np.exp,
    }[family](score)


def loss(family, y, score):
    """Mean loss of rows, as the kernel defines it."""
    return {
        "gaussian": lambda: 0.5 * (y - score) ** 2,
        "logistic": lambda: np.log1p(np.exp(score)) - y * score,
        "poisson": lambda: np.exp(score) - y * score,
        "multinomial": lambda: np.log(np.exp(score).sum(axis=0)) - (y * score).sum(axis=0),
    }[family]()


@pytest.mark.parametrize("family", ["gaussian", "logistic", "poisson", "multinomial"])
def test_the_solution_meets_the_conditions_of_optimality(family):
    indicators, lines, score, rng = problem()
    y, weight = response_of(family, score, rng), rng.choice([0.5, 1.0, 3.0], N)
    path = lasso_path(
        indicators, lines, y, weight, UNFOLDED, family=family, ratio=0.05, tolerance=1e-13
    )
    design = np.vstack([indicators, lines])
    fitted = path.intercept[:, None] + path.coefficients @ design
    residual = weight * (y - means(family, fitted))
    gradient = residual @ design.T / weight.sum()
    penalty, beta = path.penalties[path.chosen], path.coefficients
    np.testing.assert_allclose(residual.sum(axis=1), 0, atol=1e-4)
    np.testing.assert_allclose(gradient[beta != 0], penalty * np.sign(beta[beta != 0]), atol=1e-6)
    assert (np.abs(gradient[beta == 0]) <= penalty * (1 + 1e-5)).all()
    assert 0 < np.count_nonzero(beta) < beta.size


# steps end by the share of the deviance that they explain, which no unit changes
@pytest.mark.parametrize("unit", [1e-3, 1e3, 1e6])
def test_amounts_in_another_unit_have_the_same_coefficients(unit):
    indicators, lines, score, rng = problem()
    y = response_of("poisson", score, rng)
    one, other = (
        lasso_path(indicators, lines, amounts, np.ones(N), UNFOLDED, family="poisson")
        for amounts in (y, unit * y)
    )
    np.testing.assert_allclose(other.coefficients, one.coefficients, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(other.intercept, one.intercept + np.log(unit), rtol=1e-6)


def test_coefficients_are_those_of_scikit_learn():
    indicators, lines, score, rng = problem(1)
    design = np.vstack([indicators, lines]).T
    y = response_of("gaussian", score, rng)
    ours = lasso_path(
        indicators, lines, y, np.ones(N), UNFOLDED, family="gaussian", ratio=0.1, tolerance=1e-13
    )
    theirs = Lasso(ours.penalties[-1], tol=1e-10, max_iter=100_000).fit(design, y[0])
    np.testing.assert_allclose(ours.coefficients[0], theirs.coef_, atol=1e-6)
    classes = response_of("logistic", score, rng)
    ours = lasso_path(
        indicators, lines, classes, np.ones(N), UNFOLDED, family="logistic", ratio=0.1,
        tolerance=1e-13,
    )  # fmt: skip
    theirs = LogisticRegression(
        C=1 / (N * ours.penalties[-1]), l1_ratio=1, solver="saga", tol=1e-9, max_iter=100_000
    ).fit(design, classes[0])
    np.testing.assert_allclose(ours.coefficients[0], theirs.coef_[0], atol=1e-4)
    assert ours.intercept[0] == pytest.approx(theirs.intercept_[0], abs=1e-4)


@pytest.mark.parametrize("family", ["gaussian", "logistic", "poisson", "multinomial"])
def test_held_out_losses_are_those_of_fits_to_the_other_rows(family):
    indicators, lines, score, rng = problem(2)
    y, folds = response_of(family, score, rng), (np.arange(N) % 4).astype(np.int32)
    path = lasso_path(
        indicators, lines, y, np.ones(N), folds, family=family, n_penalties=12, patience=12,
        tolerance=1e-12,
    )  # fmt: skip
    kept = folds != 2
    # the same penalties for the rows that are kept: from a path over them with these ends
    again = lasso_path(
        indicators[:, kept], lines[:, kept], y[:, kept], np.ones(kept.sum()),
        np.full(kept.sum(), -1, np.int32), family=family, n_penalties=2000, ratio=1e-3,
        tolerance=1e-12,
    )  # fmt: skip
    at = 6
    nearest = int(np.argmin(np.abs(again.penalties - path.penalties[at])))
    stop = lasso_path(
        indicators[:, kept], lines[:, kept], y[:, kept], np.ones(kept.sum()),
        np.full(kept.sum(), -1, np.int32), family=family, n_penalties=nearest + 1,
        ratio=again.penalties[nearest] / again.penalties[0], tolerance=1e-12,
    )  # fmt: skip
    design = np.vstack([indicators, lines])[:, ~kept]
    fitted = stop.intercept[:, None] + stop.coefficients @ design
    expected = loss(family, y[:, ~kept], fitted).mean()
    assert path.losses[2, at] == pytest.approx(expected, rel=2e-3)
    pooled = path.losses.mean(axis=0)
    assert path.chosen == np.argmin(pooled)


def test_one_standard_error_takes_fewer_columns():
    indicators, lines, score, rng = problem(3)
    y, folds = response_of("gaussian", score, rng), (np.arange(N) % 5).astype(np.int32)
    best, simple = (
        lasso_path(indicators, lines, y, np.ones(N), folds, family="gaussian", one_error=one_error)
        for one_error in (False, True)
    )
    assert simple.chosen < best.chosen
    assert np.count_nonzero(simple.coefficients) < np.count_nonzero(best.coefficients)


def test_the_number_of_threads_does_not_change_a_bit():
    indicators, lines, score, rng = problem(4)
    y, folds = response_of("poisson", score, rng), (np.arange(N) % 5).astype(np.int32)
    one, three = (
        lasso_path(indicators, lines, y, np.ones(N), folds, family="poisson", n_jobs=n)
        for n in (1, 3)
    )
    np.testing.assert_array_equal(one.losses, three.losses)
    np.testing.assert_array_equal(one.coefficients, three.coefficients)


def test_wrong_shapes_are_refused():
    indicators, lines, score, _ = problem()
    with pytest.raises(ValueError, match="shapes of the input"):
        lasso_path(
            indicators, lines[:, 1:], score[None, :], np.ones(N), UNFOLDED, family="gaussian"
        )
    with pytest.raises(ValueError, match="no such family"):
        lasso_path(
            indicators, lines, np.vstack([score, score]), np.ones(N), UNFOLDED, family="poisson"
        )
