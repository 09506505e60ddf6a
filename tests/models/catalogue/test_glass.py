"""Curves and shallow trees averaged over folds: what they add up to, keep to, and refuse."""

import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student
from sklearn.datasets import load_iris
from sklearn.metrics import log_loss

import clearwood as cw
from clearwood import InputError
from clearwood.models.catalogue.gam.design import build_design
from clearwood.models.catalogue.glass import boosting
from clearwood.models.catalogue.glass.boosting import (
    MANY_ROWS,
    boost_folds,
    chosen_pairs,
    deviating_trees,
    jackknife,
)
from clearwood.models.catalogue.glass.curves import fold_curves
from clearwood.models.catalogue.glass.estimators import GlassClassifier, GlassRegressor
from clearwood.models.shared.binning import bin_columns, category_orders

ROOT = Path(__file__).parents[3]


def mixed(n_rows=400, *, seed=0, noise=0.3):
    """Two numbers, a category with gaps, a number with gaps; curves, a jump and a pair."""
    rng = np.random.default_rng(seed)
    matrix = rng.random((n_rows, 4))
    matrix[:, 2] = rng.integers(0, 5, n_rows)
    matrix[rng.random(n_rows) < 0.1, 2] = np.nan
    matrix[rng.random(n_rows) < 0.2, 3] = np.nan
    level = np.array([0.0, 1.0, 0.2, -1.0, 0.5, 0.8])[
        np.nan_to_num(matrix[:, 2], nan=5).astype(int)
    ]
    score = np.sin(6 * matrix[:, 0]) + 2 * matrix[:, 1] * (matrix[:, 0] > 0.5) + level
    score += np.where(np.isnan(matrix[:, 3]), 0.7, matrix[:, 3])
    return matrix, score + noise * rng.standard_normal(n_rows)


def test_binned_numbers_are_split_as_their_thresholds_do():
    """A value up to the edge after bin b is in bin b or below, for every edge."""
    rng = np.random.default_rng(0)
    columns = [
        rng.integers(0, 9, 2_000),
        rng.standard_normal(2_000),
        np.exp(rng.normal(0, 30, 2_000)),
    ]
    matrix = np.stack(columns, axis=1).astype(float)
    matrix[::50, 1] = np.nan
    binned = bin_columns(matrix)
    assert binned.n_bins.tolist() == [9, 254, 254]
    for column, edges in enumerate(binned.edges):
        known = ~np.isnan(matrix[:, column])
        values, bins = matrix[known, column], binned.bins[column, known]
        np.testing.assert_array_equal(
            values[:, None] <= edges, bins[:, None] <= np.arange(1, len(edges) + 1)
        )
        assert bins.min() == 1
        assert (binned.bins[column, ~known] == 0).all()


def test_neighbouring_floating_point_numbers_are_told_apart():
    matrix = np.array([[1.0], [np.nextafter(1.0, 2.0)]])
    assert bin_columns(matrix).bins.ravel().tolist() == [1, 2]


def test_levels_are_ordered_without_the_rows_a_fold_holds_out():
    """A level whose kept rows are all high is last, whatever its held-out rows are."""
    codes = np.repeat([0.0, 1.0, 2.0], 40)
    folds = np.tile([0, 1], 60)
    y = np.where(codes == 1, np.where(folds == 0, 10.0, -10.0), codes)
    binned = bin_columns(codes[:, None], (0,))
    orders = category_orders(binned, y[None], np.ones(120), folds, 2, (0,))
    assert orders[0, 0, 0, :5].tolist() == [0, 2, 1, 3, 0]  # fold 0 keeps the low rows of level 1
    assert orders[1, 0, 0, :5].tolist() == [0, 1, 3, 2, 0]


@pytest.mark.parametrize("loss", ["squared", "logistic", "softmax", "poisson", "gamma"])
def test_trees_as_arrays_give_the_pooled_loss_of_the_kernel(loss):
    """Held-out scores computed from the arrays have the loss at which growing stopped."""
    matrix, score = mixed(300)
    rng = np.random.default_rng(1)
    y = {
        "squared": score,
        "logistic": (score > 1.5).astype(float),
        "softmax": np.digitize(score, [1.0, 2.0]).astype(float),
        "poisson": rng.poisson(np.exp(0.5 * score)).astype(float),
        "gamma": np.exp(score),
    }[loss]
    n_folds, n_outputs = 3, 3 if loss == "softmax" else 1
    folds = np.arange(300) % n_folds
    offset = np.full((n_folds, n_outputs, 300), y.mean() if loss == "squared" else 0.3)
    boosted = boost_folds(matrix, y, offset, folds, loss=loss, categorical=(2,), max_trees=40)
    assert boosted.rounds > 5
    # undo the division by folds to have the fold's own trees
    deviations = deviating_trees(boosted.trees, n_folds)(matrix).reshape(300, n_outputs, n_folds)
    mean = boosted.trees(matrix)
    own = mean[:, :, None] + deviations / np.sqrt((n_folds - 1) / n_folds)
    held_out = own[np.arange(300), :, folds] + offset[0, :, 0]
    one = held_out[:, 0]
    each = {
        "squared": lambda: (y - one) ** 2 / np.average((y - y.mean()) ** 2),
        "logistic": lambda: np.logaddexp(0, one) - y * one,
        "softmax": lambda: (
            np.logaddexp.reduce(held_out, axis=1) - held_out[np.arange(300), y.astype(int)]
        ),
        "poisson": lambda: np.exp(one) - y * one,
        "gamma": lambda: y * np.exp(-one) + one,
    }[loss]()
    np.testing.assert_allclose(each.mean(), boosted.curve[boosted.rounds], rtol=1e-4)


def test_deviations_add_up_to_the_jackknife_variance():
    rng = np.random.default_rng(0)
    models = rng.standard_normal((5, 7))  # folds by rows
    deviations = models.T @ jackknife(5)
    expected = 4 / 5 * ((models - models.mean(axis=0)) ** 2).sum(axis=0)
    np.testing.assert_allclose((deviations**2).sum(axis=1), expected)


@pytest.mark.parametrize("kind", ["number", "two", "three", "count", "amount"])
def test_curves_and_trees_learn_what_there_is_to_learn(kind):
    """On new rows the loss is close to that of the truth, and well below a constant's."""
    matrix, score = mixed(1_500, noise=0.0)
    rng = np.random.default_rng(3)
    train, new = slice(0, 1_000), slice(1_000, None)
    if kind == "number":
        y = score + 0.3 * rng.standard_normal(1_500)
        model = GlassRegressor(categorical=(2,)).fit(matrix[train], y[train])
        error = np.mean((model.predict(matrix[new]) - y[new]) ** 2)
        assert error < 1.35 * 0.3**2
    elif kind == "two":
        y = rng.random(1_500) < 1 / (1 + np.exp(2 - 2 * score))
        model = GlassClassifier(categorical=(2,)).fit(matrix[train], y[train])
        truth = log_loss(y[new], 1 / (1 + np.exp(2 - 2 * score[new])))
        assert log_loss(y[new], model.predict_proba(matrix[new])[:, 1]) < truth + 0.03
        np.testing.assert_array_equal(
            model.predict(matrix[new]), model.decision_function(matrix[new]) > 0
        )
    elif kind == "three":
        y = np.digitize(score + 0.2 * rng.standard_normal(1_500), [1.0, 2.0])
        model = GlassClassifier(categorical=(2,)).fit(matrix[train], y[train])
        shares = model.predict_proba(matrix[new])
        assert log_loss(y[new], shares) < 0.45
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    else:
        mean = np.exp(0.7 * score)
        y = rng.poisson(mean) if kind == "count" else mean * rng.gamma(4.0, 0.25, 1_500)
        family = {"count": "poisson", "amount": "gamma"}[kind]
        model = GlassRegressor(family=family, categorical=(2,)).fit(matrix[train], y[train])
        assert np.corrcoef(np.log(model.predict(matrix[new])), np.log(mean[new]))[0, 1] > 0.95
        assert np.isclose(model.predict(matrix[train]).mean(), y[train].mean(), rtol=0.03)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_amounts_with_zeros_are_fitted_in_any_currency(scale):
    """The family of counts takes the size of the noise from the data."""
    matrix, score = mixed(600, noise=0.0)
    rng = np.random.default_rng(0)
    y = np.exp(score) * rng.gamma(2.0, 0.5, 600) * (rng.random(600) < 0.6)
    model = GlassRegressor(family="poisson", categorical=(2,)).fit(matrix, scale * y)
    fitted = model.predict(matrix) / scale
    assert np.corrcoef(np.log(fitted), score)[0, 1] > 0.9
    assert np.isclose(fitted.mean(), y.mean(), rtol=0.05)


def test_curves_of_amounts_do_not_depend_on_the_currency():
    matrix, score = mixed(400, noise=0.0)
    rng = np.random.default_rng(0)
    y = np.exp(score) * rng.gamma(2.0, 0.5, 400) * (rng.random(400) < 0.7)
    design = build_design(matrix, categorical=(2,))
    folds = rng.integers(0, 4, 400)
    scores = [
        fold_curves(design, unit * y, np.ones(400), folds, loss="poisson", n_outputs=1).scores
        for unit in (1.0, 1e-4, 1e6)
    ]
    for unit, other in ((1e-4, scores[1]), (1e6, scores[2])):
        np.testing.assert_allclose(other - np.log(unit), scores[0], atol=0.01)


def test_a_target_far_from_zero_keeps_its_digits():
    """The kernel computes in single precision, which has no room for 1e9 and noise of 0.3."""
    matrix, y = mixed(300)
    model = GlassRegressor(categorical=(2,), max_trees=100)
    plain = model.fit(matrix, y).predict(matrix)
    trees = model.n_trees_
    far = model.fit(matrix, y + 1e9).predict(matrix) - 1e9
    assert model.n_trees_ == trees > 0
    np.testing.assert_allclose(far, plain, atol=0.01)


def test_many_rows_are_grown_with_best_thresholds_and_fewer_folds():
    matrix, y = mixed(MANY_ROWS)
    model = GlassRegressor(categorical=(2,), max_trees=200).fit(matrix, y)
    assert model.n_folds_ == 4
    assert np.mean((model.predict(matrix) - y) ** 2) < 1.1 * 0.3**2


def test_the_result_does_not_depend_on_the_number_of_threads():
    matrix, y = mixed(300)
    first, second = (
        GlassRegressor(categorical=(2,), n_jobs=jobs, max_trees=50).fit(matrix, y)
        for jobs in (1, 3)
    )
    np.testing.assert_array_equal(first.predict(matrix), second.predict(matrix))


def test_rows_of_weight_zero_do_not_count():
    matrix, y = mixed(300)
    kept = np.arange(300) < 200
    y_spoilt = np.where(kept, y, 1e6)
    weighted = GlassRegressor(categorical=(2,)).fit(matrix, y_spoilt, sample_weight=1.0 * kept)
    alone = GlassRegressor(categorical=(2,)).fit(matrix[kept], y[kept])
    np.testing.assert_allclose(weighted.predict(matrix), alone.predict(matrix), rtol=1e-8)


def test_whole_weights_equal_repeated_rows_given_the_folds():
    matrix, y = mixed(200)
    rng = np.random.default_rng(0)
    weights, folds = rng.integers(1, 4, 200), np.arange(200) % 4
    offset = np.full((4, 1, 200), np.average(y, weights=weights))
    once = boost_folds(
        matrix, y, offset, folds, loss="squared", weights=1.0 * weights, categorical=(2,),
        max_trees=30,
    )  # fmt: skip
    repeated = boost_folds(
        np.repeat(matrix, weights, axis=0), np.repeat(y, weights),
        np.repeat(offset, weights, axis=2), np.repeat(folds, weights), loss="squared",
        categorical=(2,), max_trees=30,
    )  # fmt: skip
    np.testing.assert_allclose(once.curve, repeated.curve, rtol=1e-4)
    np.testing.assert_allclose(once.trees(matrix), repeated.trees(matrix), atol=1e-3)


def test_small_weights_are_relative():
    """Weights that add up to one do not make the penalty of leaves outweigh all rows."""
    matrix, y = mixed(300)
    model = GlassRegressor(categorical=(2,)).fit(matrix, y, sample_weight=np.full(300, 1 / 300))
    plain = GlassRegressor(categorical=(2,)).fit(matrix, y)
    np.testing.assert_allclose(model.predict(matrix), plain.predict(matrix), atol=0.1)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_weights_of_classes_that_add_up_to_one_are_relative(n_classes):
    matrix, y = mixed()
    codes = np.digitize(y, np.quantile(y, [0.3, 0.8][: n_classes - 1]))
    model = GlassClassifier(categorical=(2,), max_trees=50)
    plain = model.fit(matrix, codes).predict_proba(matrix)
    small = model.fit(matrix, codes, sample_weight=np.full(len(y), 1 / len(y)))
    np.testing.assert_allclose(small.predict_proba(matrix), plain, atol=0.01)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_terms_combine_at_most_as_many_columns_as_the_order(order):
    matrix, y = mixed(500)
    model = GlassRegressor(categorical=(2,), order=order, max_trees=200).fit(matrix, y)
    data = cw.read(pd.DataFrame(matrix, columns=list("abcd")).assign(y=y), target="y")
    why = cw.explain(model, data, max_order=None)
    assert why.order == order
    np.testing.assert_allclose(why.predict(data.head(50)), model.predict(matrix[:50]))


def test_screened_pairs_are_those_that_interact():
    rng = np.random.default_rng(0)
    matrix = rng.random((600, 6))
    y = matrix[:, 0] + 3 * (matrix[:, 1] > 0.5) * (matrix[:, 4] > 0.3) + np.sin(5 * matrix[:, 3])
    y += 0.1 * rng.standard_normal(600)
    model = GlassRegressor(pairs=1).fit(matrix, y)
    why = cw.explain(model, matrix)
    assert [sorted(names) for names in why.components if len(names) == 2] == [["x1", "x4"]]
    assert np.mean((model.predict(matrix) - y) ** 2) < 0.05


def test_the_screen_scores_a_pair_by_its_best_four_cells():
    """Against brute force over all pairs of thresholds."""
    rng = np.random.default_rng(0)
    matrix = rng.integers(0, 6, (200, 3)).astype(float)
    residual = (matrix[:, 0] > 2) * (matrix[:, 1] > 3) + 0.3 * rng.standard_normal(200)

    def gain(first, second):
        best = 0.0
        for a in range(5):
            for b in range(5):
                cell = 2 * (matrix[:, first] > a) + (matrix[:, second] > b)
                if min(np.bincount(cell, minlength=4)) <= 1:
                    continue

                def explained(group):
                    return sum(
                        residual[group == g].sum() ** 2 / (group == g).sum() for g in set(group)
                    )

                best = max(best, explained(cell) - max(explained(cell // 2), explained(cell % 2)))
        return best

    pairs = [(0, 1), (0, 2), (1, 2)]
    by_gain = sorted(pairs, key=lambda pair: -gain(*pair))
    binned = bin_columns(matrix)
    for count in (1, 2, 3):
        kept = chosen_pairs(binned, residual[None], np.ones((1, 200)), count, ())
        assert {pair for pair in pairs if kept[pair]} == set(by_gain[:count])
        np.testing.assert_array_equal(kept, kept.T)


@pytest.mark.parametrize("task", ["regression", "binary", "multiclass", "count"])
def test_bands_of_effects_are_those_of_curves_and_of_the_trees_of_folds(task):
    """Both vary independently; the degrees of freedom are Satterthwaite's."""
    matrix, score = mixed(250)
    y = {
        "regression": score,
        "binary": np.where(score > 1.5, "yes", "no"),
        "multiclass": np.array(["a", "b", "c"])[np.digitize(score, [1.0, 2.0])],
        "count": np.random.default_rng(0).poisson(np.exp(0.3 * score)),
    }[task]
    frame = pd.DataFrame({"a": matrix[:, 0], "b": matrix[:, 1], "y": y})
    data = cw.read(frame, target="y", task=task)
    model = cw.learner("glass", folds=5, max_trees=60).fit(data)
    options = {"output": "b"} if task == "multiclass" else {}
    scale = "response" if task == "regression" else "margin"
    effect = cw.effect(model, data, "a", scale=scale, confidence=0.9, **options)
    estimator = model.estimator_
    parts, output = estimator.parts_, 1 if task == "multiclass" else 0
    trees, curves = parts.spread, parts.spread.further
    assert (trees.source, trees.freedom, curves.source) == ("folds", 4, "covariance")
    variances = []
    for value in effect.to_frame()["a"]:
        rows = np.column_stack([np.full(250, value), matrix[:, 1]])
        means = [
            one.parts(rows).reshape(250, -1, one.count)[:, output].mean(axis=0)
            for one in (trees, curves)
        ]
        variances.append([(mean**2).sum() for mean in means])
    of_trees, of_curves = np.transpose(variances)
    whole = of_trees + of_curves
    freedom = whole**2 / (of_trees**2 / 4 + of_curves**2 / curves.freedom)
    half = np.asarray(effect.high - effect.low).ravel() / 2
    np.testing.assert_allclose(half, student.ppf(0.95, freedom) * np.sqrt(whole), rtol=1e-6)
    assert effect.band_freedom == pytest.approx(freedom.min())
    assert (half >= student.ppf(0.95, curves.freedom) * np.sqrt(of_curves)).all()


def level_table(seed, n=400):
    """Draw counts with four levels and a curve."""
    rng = np.random.default_rng(seed)
    matrix = np.column_stack([rng.choice(4, n, p=[0.4, 0.3, 0.2, 0.1]), rng.random(n)])
    effects = np.array([0.0, 0.35, 0.0, -0.1])
    score = effects[matrix[:, 0].astype(int)] + 0.5 * np.sin(5 * matrix[:, 1]) - 0.5
    return matrix, effects, rng.poisson(np.exp(score)).astype(float)


def level_contrasts(model, matrix):
    """Return what levels add beyond the first, and the standard errors."""
    rows = [np.column_stack([np.full(50, level), matrix[:50, 1]]) for level in range(4)]
    parts = model.parts_
    heights = np.array([parts(one)[:, 0].mean() for one in rows])
    variance, spread = 0.0, parts.spread
    while spread is not None:
        deviations = np.array([spread.parts(one).mean(axis=0) for one in rows])
        variance = variance + ((deviations - deviations[0]) ** 2).sum(axis=1)
        spread = spread.further
    return heights - heights[0], np.sqrt(variance)


@pytest.mark.parametrize("n", [400, 6_000])
def test_standard_errors_of_levels_are_at_least_those_of_the_events(n):
    """The jackknife alone gave .046 where the events allow no less than .103."""
    for seed in range(3):
        matrix, _, y = level_table(seed, n)
        model = GlassRegressor(family="poisson", categorical=(0,), random_state=seed)
        _, errors = level_contrasts(model.fit(matrix, y), matrix)
        events = np.bincount(matrix[:, 0].astype(int), y)
        # fitted events, not observed ones, are in the likelihood
        assert (errors[1:] >= 0.9 * np.sqrt(1 / events[1:] + 1 / events[0])).all()


def test_parametric_levels_of_glass_are_those_of_an_additive_model_and_covered():
    found, covered = [], []
    for seed in range(25):
        matrix, truth, y = level_table(seed)
        model = GlassRegressor(
            family="poisson", categorical=(0,), parametric=(0,), random_state=seed
        ).fit(matrix, y)
        contrasts, errors = level_contrasts(model, matrix)
        found.append(contrasts[1])
        covered.append(np.abs(contrasts - truth)[1:] <= 1.645 * errors[1:])
    assert np.mean(found) == pytest.approx(0.35, abs=0.08)
    assert np.mean(covered) > 0.8
    assert model.trees_ is None or 0 not in model.trees_.feature


def test_a_parametric_number_is_a_straight_line_beside_curves():
    matrix, y = mixed(400)
    data = cw.read(pd.DataFrame({"a": matrix[:, 0], "b": matrix[:, 1], "y": y}), target="y")
    model = cw.learner("glass", parametric=["b"], max_trees=30).fit(data)
    grid = np.linspace(matrix[:, 1].min(), matrix[:, 1].max(), 9)
    line = model.estimator_.parts_(np.column_stack([np.zeros(9), grid]))[:, 0]
    np.testing.assert_allclose(np.diff(line, 2), 0.0, atol=1e-9)
    assert abs(line[-1] - line[0]) > 0.1


@pytest.mark.parametrize(("family", "pair"), [("gaussian", True), ("binomial", False)])
def test_bands_cover_about_as_often_as_they_should(family, pair, monkeypatch):
    """Nominal 95 %; bands that leave out the variance of the constant cover 87 % for classes."""
    monkeypatch.syspath_prepend(ROOT)  # the benchmarks are run from there and not installed
    from benchmarks.bench_bands import Setting
    from benchmarks.bench_glass_bands import coverage

    result = coverage(Setting("test", family, 400), 12, pair=pair)
    assert 0.90 <= result.mean <= 0.995


@pytest.mark.parametrize("random_thresholds", [True, False])
@pytest.mark.parametrize("kind", ["number", "two", "count", "amount"])
def test_predictions_keep_their_direction_everywhere(kind, random_thresholds, monkeypatch):
    """The target goes against both directions, by itself and together with a third column."""
    if not random_thresholds:
        monkeypatch.setattr(boosting, "MANY_ROWS", 100)
    rng = np.random.default_rng(0)
    matrix = rng.random((600, 4))
    matrix[:40, 0] = np.nan
    first = np.nan_to_num(matrix[:, 0], nan=0.5)
    score = np.sin(9 * first) + np.cos(7 * matrix[:, 1]) * (matrix[:, 2] > 0.5) + matrix[:, 3]
    y = {
        "number": score,
        "two": score > 0.5,
        "count": rng.poisson(np.exp(score)),
        "amount": np.exp(score),
    }[kind]
    family = {"number": "gaussian", "count": "poisson", "amount": "gamma"}.get(kind)
    make = GlassClassifier if kind == "two" else partial(GlassRegressor, family=family)
    model = make(monotone=(1, -1, 0, 0), order=3, min_rows=2, max_trees=300).fit(matrix, y)
    assert model.n_trees_ > 2
    grid = np.linspace(-0.2, 1.2, 200)
    for column, direction in ((0, 1), (1, -1)):
        rows = np.repeat(matrix[rng.choice(600, 100)], 200, axis=0)
        rows[:, column] = np.tile(grid, 100)
        score = model.parts_(rows).reshape(100, 200)
        steps = direction * np.diff(score, axis=1)
        assert steps.min() > -1e-8 * np.ptp(score)
        assert steps.max() > 0


def test_a_direction_for_several_classes_is_refused():
    matrix, y = mixed(60)
    with pytest.raises(InputError, match="several classes have no common direction"):
        GlassClassifier(monotone=(1, 0, 0, 0)).fit(matrix, np.digitize(y, [1, 2]))


def test_the_learner_keeps_directions():
    matrix, y = mixed(300)
    data = cw.read(pd.DataFrame({"a": matrix[:, 0], "b": matrix[:, 1], "y": y}), target="y")
    model = cw.learner("glass", monotone={"a": "up"}).fit(data)
    grid = pd.DataFrame({"a": np.linspace(0, 1, 50), "b": 0.7})
    assert (np.diff(model.predict(grid)) >= -1e-12).all()


def test_a_constant_column_and_a_missing_one_are_left_alone():
    matrix, y = mixed(200)
    dull = np.column_stack([matrix, np.ones(200), np.full(200, np.nan)])
    model = GlassRegressor(categorical=(2,)).fit(dull, y)
    other = dull.copy()
    other[:, 4:] = 5.0
    np.testing.assert_allclose(model.predict(dull), model.predict(other), rtol=1e-9)


def test_values_outside_the_range_get_the_prediction_at_its_end():
    matrix, y = mixed(300)
    model = GlassRegressor(categorical=(2,)).fit(matrix, y)
    end, beyond = matrix.copy(), matrix.copy()
    end[:, 0], beyond[:, 0] = matrix[:, 0].max(), 1e6
    np.testing.assert_allclose(model.predict(end), model.predict(beyond))


def test_an_unseen_level_is_treated_as_missing_by_the_learner():
    matrix, y = mixed(300)
    frame = pd.DataFrame(
        {"a": matrix[:, 0], "level": [f"level {code}" for code in matrix[:, 2]], "y": y}
    )
    model = cw.learner("glass").fit(cw.read(frame, target="y"))
    new = frame.head(5).assign(level="never seen")
    missing = frame.head(5).assign(level=None)
    with pytest.warns(cw.ClearwoodWarning, match="never seen"):
        predictions = model.predict(new)
    np.testing.assert_array_equal(predictions, model.predict(missing))


def test_separable_classes_on_few_rows_are_predicted_with_sensible_probabilities():
    """Curves alone would be sure of every row, right or wrong."""
    X, y = load_iris(return_X_y=True)
    train = np.arange(150) % 3 > 0
    model = GlassClassifier().fit(X[train], y[train])
    assert log_loss(y[~train], model.predict_proba(X[~train])) < 0.3


def test_perfectly_separated_classes_have_finite_scores():
    x = np.linspace(-1, 1, 100)[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = GlassClassifier().fit(x, x[:, 0] > 0)
    shares = model.predict_proba(x)[:, 1]
    assert np.isfinite(model.decision_function(x)).all()
    assert (shares[:45] < 0.1).all()
    assert (shares[55:] > 0.9).all()


def test_more_columns_than_rows_are_fitted_by_trees_alone():
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((80, 150))
    model = GlassRegressor().fit(matrix[:40], matrix[:40, 3])
    assert not model.curves_
    assert np.corrcoef(model.predict(matrix[40:]), matrix[40:, 3])[0, 1] > 0.5


def test_a_target_without_signal_has_hardly_any_tree():
    rng = np.random.default_rng(0)
    matrix, y = rng.random((300, 4)), rng.standard_normal(300)
    model = GlassRegressor().fit(matrix, y)
    assert np.std(model.predict(matrix)) < 0.35


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"order": 4}, r"order=4: it must be a whole number from 1 to 3"),
        ({"order": 2.0}, r"order=2.0: it must be a whole number"),
        ({"pairs": -1}, r"pairs=-1: it must be a whole number of at least 0"),
        ({"pairs": "a:b"}, r"pairs='a:b': it must be a whole number"),
        ({"folds": 1}, r"folds=1: it must be a whole number of at least 2"),
        ({"max_trees": 1.5}, r"max_trees=1.5: it must be a whole number"),
        ({"n_splines": 0}, r"n_splines=0: it must be a whole number from 4 to 1000"),
        ({"min_rows": np.nan}, r"min_rows=nan: it must be a number of at least 1"),
        ({"learning_rate": 0.0}, r"learning_rate=0.0: it must be a number above 0"),
        ({"learning_rate": "a"}, r"learning_rate='a': it must be a number above 0"),
        ({"l2": -1.0}, r"l2=-1.0: it must be a number of at least 0"),
        ({"family": "gamma"}, r"needs targets above 0; 20 of 50 are not.*family=.gaussian"),
        ({"family": "tweedie"}, r"family=.tweedie. is not a known value"),
        ({"family": "binomial"}, r"family='binomial' is not a known value"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, message):
    matrix, y = mixed(50)
    with pytest.raises(InputError, match=message):
        GlassRegressor(**settings).fit(matrix, y - y.mean())


def test_few_rows_single_classes_and_large_codes_are_refused():
    with pytest.raises(InputError, match="3 rows are too few for folds"):
        GlassRegressor().fit(np.ones((3, 1)), np.arange(3))
    with pytest.raises(InputError, match="single class"):
        GlassClassifier().fit(np.ones((9, 1)), np.ones(9))
    with pytest.raises(InputError, match="codes outside 0 to 253"):
        GlassRegressor(categorical=(0,)).fit(np.arange(300.0)[:, None], np.arange(300))
