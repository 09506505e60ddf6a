"""Effects of drawn rows: their bands cover the effect of all rows, and they say so."""

import numpy as np
import pytest
from scipy.special import expit

import clearwood as cw
from clearwood.explanation import Explanation
from clearwood.explanation.effects.effect import measured_effect
from clearwood.explanation.effects.request import EffectOptions


@pytest.fixture(scope="module")
def why():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 3))
    X[:, 1] += 0.7 * X[:, 0]
    X[:, 2] = np.round(np.exp(X[:, 2]), 1)
    return Explanation(lambda X: expit(X[:, 0] + X[:, 1] * X[:, 2]), X)


@pytest.mark.parametrize(
    ("kind", "points", "least"),
    [("pdp", 12, 0.9), ("supported_pdp", 12, 0.88), ("ale", None, 0.88), ("marginal", None, 0.85)],
)
def test_the_band_of_drawn_rows_covers_the_curve_of_all_rows(why, kind, points, least):
    covered = []
    for seed in range(40):
        options = EffectOptions(kind=kind, points=points, sample=250, seed=seed, n_bootstrap=200)
        some = measured_effect(why, ["x0"], options)
        if not seed:
            n_points = len(some.grid[0]) - (kind == "ale")
            every = measured_effect(why, ["x0"], EffectOptions(kind=kind, points=n_points))
        np.testing.assert_array_equal(some.grid[0], every.grid[0])
        np.testing.assert_allclose(some.shares, every.shares)
        assert (some.n_rows, some.n_data) == (250, 1500)
        covered.append((some.low <= every.values) & (every.values <= some.high))
    assert np.mean(covered) >= least


def test_rows_are_drawn_evenly_over_the_predictions(why):
    every = measured_effect(why, ["x0"], EffectOptions(points=20))
    plain = np.random.default_rng(0)
    chosen = [plain.choice(1500, 100, replace=False) for _ in range(30)]
    X = why.data
    errors, errors_at_random = [], []
    for seed, rows in enumerate(chosen):
        some = measured_effect(why, ["x0"], EffectOptions(points=20, sample=100, seed=seed))
        errors.append(some.values - every.values)
        curves = [why.model(np.column_stack([np.full(100, v), X[rows, 1:]])) for v in some.grid[0]]
        errors_at_random.append(np.mean(curves, axis=1) - every.values)
    assert np.mean(np.square(errors)) < 0.5 * np.mean(np.square(errors_at_random))


def test_drawn_rows_without_a_value_are_answered():
    x = np.append(np.full(200, np.nan), [1.0, 2.0])
    data = {"x": x, "z": np.sin(np.arange(202.0))}
    with pytest.raises(cw.InputError, match=r"none of the 2 rows .* has a value of 'x'"):
        cw.effect(lambda frame: frame["z"].to_numpy(), data, "x", kind="ale", sample=2)


def test_an_exact_curve_is_that_of_all_rows_and_has_nothing_drawn():
    data = cw.datasets.load("diabetes")
    model = cw.learner("gbm", max_depth=2, max_iter=10).fit(data)
    effect = cw.effect(model, data, "bmi")
    assert effect.exact
    assert effect.n_rows == data.n_rows
    assert effect.n_data is None


def test_sampled_components_say_of_how_many_rows(why):
    main = why.effect("x0", kind="component")
    assert (main.n_rows, main.n_data) == (200, 1500)
    assert main.sentence.endswith("averaged over 200 of 1,500 rows.")
    assert why.importance().n_data == 1500


def test_an_effect_that_ends_early_says_of_how_many_rows():
    X = np.random.default_rng(0).normal(size=(4000, 2))
    with pytest.warns(cw.ClearwoodWarning, match="time limit"):
        effect = cw.effect(lambda X: X[:, 0] * X[:, 1], X, "x0", kind="ale", time_limit=1e-9)
    assert effect.n_rows < 4000
    assert effect.n_data == 4000
    assert np.isfinite(effect.values).all()
