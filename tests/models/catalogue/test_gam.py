"""Additive models: laws of the fit, oracles, and input that could break it."""

import numpy as np
import pandas as pd
import pytest

import clearwood as cw
from clearwood.models.catalogue.gam.design import build_design
from clearwood.models.catalogue.gam.estimators import GamClassifier, GamRegressor
from clearwood.models.catalogue.gam.fitting import fit_folds, fit_score
from clearwood.table import as_table

FAMILIES = ("gaussian", "poisson", "gamma", "binomial")


def rows(n=300, seed=0):
    """Two curves, a category and gaps."""
    rng = np.random.default_rng(seed)
    matrix = rng.random((n, 4))
    matrix[:, 3] = rng.integers(0, 4, n)
    signal = np.sin(6 * matrix[:, 0]) + matrix[:, 1] + 0.4 * matrix[:, 3] - 1
    matrix[rng.random(n) < 0.1, 1] = np.nan
    return matrix, signal, rng


def targets(signal, rng):
    return {
        "gaussian": signal + 0.3 * rng.normal(size=len(signal)),
        "poisson": rng.poisson(np.exp(signal)).astype(float),
        "gamma": np.exp(signal) * rng.gamma(5, 1 / 5, len(signal)),
        "binomial": (rng.random(len(signal)) < 1 / (1 + np.exp(-2 * signal))).astype(float),
    }


def estimator(family, **settings):
    if family == "binomial":
        return GamClassifier(categorical=(3,), **settings)
    return GamRegressor(family=family, categorical=(3,), **settings)


def score(model, matrix):
    return model.parts_(matrix)[:, 0]


@pytest.mark.parametrize("family", FAMILIES)
def test_curves_follow_the_signal(family):
    matrix, signal, rng = rows(1000)
    model = estimator(family).fit(matrix, targets(signal, rng)[family])
    slope = 2 if family == "binomial" else 1
    known = ~np.isnan(matrix[:, 1])
    error = score(model, matrix)[known] - slope * signal[known]
    assert np.sqrt(np.mean(error**2)) < 0.25


@pytest.mark.parametrize("family", FAMILIES)
def test_whole_weights_equal_repeated_rows(family):
    matrix, signal, rng = rows(150)
    y = targets(signal, rng)[family]
    weights = rng.integers(0, 4, 150)
    repeated = np.repeat(np.arange(150), weights)
    # weights of counts are exposures, unless the exposure is given
    more = {"exposure": np.ones(150)} if family == "poisson" else {}
    weighted = estimator(family).fit(matrix, y, sample_weight=weights, **more)
    plain = estimator(family).fit(matrix[repeated], y[repeated])
    np.testing.assert_allclose(
        score(weighted, matrix[repeated]), score(plain, matrix[repeated]), atol=1e-6
    )


@pytest.mark.parametrize("family", FAMILIES)
def test_fits_of_folds_equal_fits_without_their_rows(family):
    matrix, signal, rng = rows()
    y = targets(signal, rng)[family]
    design = build_design(matrix, categorical=(3,))
    full = fit_score(design, y, family=family)
    held_out = np.array_split(rng.permutation(len(y)), 5)
    for out, fold in zip(
        held_out, fit_folds(design, y, held_out, full, family=family, search=False), strict=True
    ):
        weights = np.ones(len(y))
        weights[out] = 0
        direct = fit_score(design, y, weights=weights, family=family, start=full, search=False)
        np.testing.assert_allclose(
            design.score(fold.coefficients), design.score(direct.coefficients), atol=5e-3
        )
        changed = y.copy()
        changed[out] = y[out][::-1]
        (again,) = fit_folds(design, changed, [out], full, family=family, search=False)
        np.testing.assert_allclose(again.coefficients, fold.coefficients, atol=5e-3)


def test_bins_hardly_change_a_fit():
    matrix, signal, rng = rows(3000)
    y = targets(signal, rng)["poisson"]
    exact = build_design(matrix, categorical=(3,))
    binned = build_design(matrix, categorical=(3,), bins=256)
    fits = [fit_score(design, y, family="poisson") for design in (exact, binned)]
    difference = exact.score(fits[0].coefficients) - binned.score(fits[1].coefficients)
    assert np.abs(difference).max() < 0.05


def test_bins_keep_the_range_and_the_tails_of_a_column():
    rng = np.random.default_rng(0)
    matrix = np.exp(1.2 * rng.normal(size=(5000, 1)))
    y = np.log1p(matrix[:, 0]) + matrix[:, 0] + 0.5 * rng.normal(size=5000)
    design = build_design(matrix, bins=256, ends=np.array([[-np.inf], [np.inf]]))
    (basis,) = design.terms[0].bases
    assert (basis.low, basis.high) == (matrix.min(), matrix.max())
    assert len(design.terms[0].table) <= 257  # the last is for missing values
    score = design.score(fit_score(design, y).coefficients)
    tail = np.argsort(matrix[:, 0])[-50:]
    assert np.sqrt(np.mean((score - y)[tail] ** 2)) < 0.6


@pytest.mark.parametrize("task", ["regression", "binary", "multiclass", "count"])
def test_a_saved_model_predicts_the_same(task, tmp_path):
    matrix, signal, rng = rows(120)
    frame = pd.DataFrame(matrix[:, :3], columns=list("abc"))
    frame["d"] = np.array(["u", "v", "w", "x"])[matrix[:, 3].astype(int)]
    y = {
        "regression": signal,
        "count": rng.poisson(np.exp(signal)),
        "binary": signal > 0,
        "multiclass": np.digitize(signal, [-0.5, 0.5]),
    }[task]
    model = cw.learner("gam", task=task).fit(frame, y)
    cw.save(model, tmp_path / "gam.cw")
    again = cw.load(tmp_path / "gam.cw")
    predict = "predict_proba" if task in ("binary", "multiclass") else "predict"
    np.testing.assert_array_equal(getattr(model, predict)(frame), getattr(again, predict)(frame))
    spread, kept = (m.estimator_.parts_.spread for m in (model, again))
    encoded = model.encoder_.transform(as_table(frame))
    np.testing.assert_array_equal(spread.parts(encoded), kept.parts(encoded))


def test_separated_classes_do_not_diverge():
    x = np.linspace(0, 1, 100)[:, None]
    for shrink in (True, False):
        model = GamClassifier(shrink=shrink).fit(x, x[:, 0] > 0.5)
        shares = model.predict_proba(x)
        assert np.isfinite(shares).all()
        assert np.isfinite(model.parts_.spread.parts(x)).all()
        assert (model.predict(x) == (x[:, 0] > 0.5)).all()


def test_columns_without_functions_are_left_out():
    matrix, signal, rng = rows(100)
    constant = np.full(100, 2.0)
    missing = np.full(100, np.nan)
    level = np.zeros(100)
    wide = np.column_stack([matrix[:, 0], constant, missing, level])
    model = GamRegressor(categorical=(3,)).fit(wide, signal)
    assert [row["term"] for row in model.term_table_] == ["x0"]
    alone = GamRegressor().fit(matrix[:, :1], signal)
    np.testing.assert_allclose(model.predict(wide), alone.predict(matrix[:, :1]))
    with_gaps = np.where(rng.random(100) < 0.5, np.nan, constant)[:, None]
    model = GamRegressor().fit(with_gaps, np.isnan(with_gaps[:, 0]) + 0.1 * signal)
    assert [row["kind"] for row in model.term_table_] == ["missing"]
    assert np.diff(model.predict([[2.0], [np.nan]]))[0] > 0.8


def test_a_target_without_variation_gives_a_constant():
    matrix, _, _ = rows(60)
    np.testing.assert_allclose(
        GamRegressor(categorical=(3,)).fit(matrix, np.full(60, 7.0)).predict(matrix), 7
    )


@pytest.mark.parametrize("distinct", [2, 3, 4, 5, 6, 12])
def test_few_distinct_values(distinct):
    rng = np.random.default_rng(0)
    x = rng.integers(0, distinct, 200)[:, None].astype(float)
    y = np.sqrt(x[:, 0]) + 0.05 * rng.normal(size=200)
    model = GamRegressor().fit(x, y)
    assert np.corrcoef(model.predict(x), y)[0, 1] > 0.9
    assert (model.term_table_[0]["kind"] == "line") == (distinct < 5)


def test_more_terms_than_rows():
    rng = np.random.default_rng(0)
    x = rng.random((25, 30))
    y = 3 * x[:, 0] + 0.1 * rng.normal(size=25)
    model = GamRegressor().fit(x, y)
    assert np.isfinite(model.predict(rng.random((50, 30)))).all()
    assert np.isfinite([row["edf"] for row in model.term_table_]).all()
    assert model.edf_ < 25 + 1e-3


def test_an_unseen_level_adds_nothing():
    matrix, signal, _ = rows()
    model = GamRegressor(categorical=(3,)).fit(matrix, signal)
    at = np.tile(matrix[:1], (2, 1))
    at[:, 3] = [9, np.nan]
    without = at.copy()
    term = next(term for term in model.parts_.products.terms if term.columns == (3,))
    np.testing.assert_array_equal(term(without), 0)


def test_curves_are_constant_or_straight_beyond_the_training_range():
    rng = np.random.default_rng(0)
    x = rng.random((300, 1))
    heavy = np.exp(4 * rng.normal(size=(300, 1)))
    for column in (x, heavy):
        y = np.log(column[:, 0] + 0.1) + 0.1 * rng.normal(size=300)
        low, high = column.min(), column.max()
        far = high + (high - low) * np.array([0.0, 0.5, 1.0, 1.5])[:, None]
        flat = GamRegressor().fit(column, y).predict(far)
        np.testing.assert_allclose(flat, flat[0])
        straight = GamRegressor(extrapolate="linear").fit(column, y).predict(far)
        assert abs(straight[1] - straight[0]) > 1e-3
        np.testing.assert_allclose(np.diff(straight, 2), 0, atol=1e-9)
        h = (high - low) * 1e-6
        slope = np.diff(
            GamRegressor(extrapolate="linear")
            .fit(column, y)
            .predict([[high - h], [high], [high + h]])
        )
        np.testing.assert_allclose(slope[0], slope[1], rtol=1e-3)


def test_small_weights_do_not_make_rows_fewer():
    matrix, signal, rng = rows()
    y = targets(signal, rng)["gaussian"]
    plain = GamRegressor(categorical=(3,)).fit(matrix, y)
    small = GamRegressor(categorical=(3,)).fit(matrix, y, sample_weight=np.full(len(y), 1e-3))
    np.testing.assert_allclose(small.predict(matrix), plain.predict(matrix), atol=1e-3)
    errors = [np.sqrt((m.parts_.spread.parts(matrix) ** 2).sum(axis=1)) for m in (small, plain)]
    np.testing.assert_allclose(*errors, rtol=1e-2)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_weights_of_classes_that_add_up_to_one_are_relative(n_classes):
    matrix, signal, rng = rows()
    y = np.digitize(signal + rng.normal(size=300), [-0.5, 1.0][: n_classes - 1])
    plain = GamClassifier(categorical=(3,)).fit(matrix, y)
    small = GamClassifier(categorical=(3,)).fit(matrix, y, sample_weight=np.full(300, 1 / 300))
    np.testing.assert_allclose(small.predict_proba(matrix), plain.predict_proba(matrix), atol=1e-3)
    errors = [np.sqrt((m.parts_.spread.parts(matrix) ** 2).sum(axis=1)) for m in (small, plain)]
    np.testing.assert_allclose(*errors, rtol=1e-2)


@pytest.mark.parametrize("family", ["poisson", "gamma", "tweedie"])
@pytest.mark.parametrize("unit", [1e-15, 1e-6, 1e15])
def test_the_unit_of_a_positive_target_makes_no_difference(family, unit):
    matrix, signal, rng = rows()
    y = targets(signal, rng)["gamma" if family == "gamma" else "poisson"]
    # a rate and its exposure, which is the weight of a rate
    weights = np.full(300, 1 / unit) if family == "poisson" else None
    plain = estimator(family).fit(matrix, y)
    other = estimator(family).fit(matrix, y * unit, sample_weight=weights)
    np.testing.assert_allclose(other.predict(matrix) / unit, plain.predict(matrix), rtol=1e-3)


@pytest.mark.parametrize("unit", [1e-40, 1e100])
def test_the_unit_of_a_number_makes_no_difference(unit):
    matrix, signal, rng = rows()
    y = targets(signal, rng)["gaussian"]
    plain, other = (estimator("gaussian").fit(matrix, y * one) for one in (1.0, unit))
    np.testing.assert_allclose(other.predict(matrix) / unit, plain.predict(matrix), rtol=1e-6)


def test_large_numbers_keep_their_digits():
    matrix, signal, rng = rows()
    y = targets(signal, rng)["gaussian"]
    plain = GamRegressor(categorical=(3,)).fit(matrix, y).predict(matrix)
    shifted = GamRegressor(categorical=(3,)).fit(matrix, y + 1e7).predict(matrix)
    np.testing.assert_allclose(shifted - 1e7, plain, atol=1e-5)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"extrapolate": "cubic"}, "extrapolate='cubic' is not a known value"),
        ({"method": "direkt"}, "did you mean 'direct'"),
        ({"n_splines": 2}, "n_splines=2: it must be a whole number from 4 to 1000"),
        ({"n_splines": 5.5}, "n_splines=5.5: it must be a whole number from 4 to 1000"),
        ({"n_splines": None}, "n_splines=None: it must be a whole number"),
        ({"pairs": -1}, "pairs=-1: it must be a whole number of at least 0"),
        ({"pairs": 2.5}, "pairs=2.5: it must be a whole number"),
        ({"family": "binomial"}, "family='binomial' is not a known value"),
        ({"family": "gamma"}, "gamma model needs targets above 0"),
        ({"family": "poisson"}, "poisson model needs targets 0 or more"),
        ({"monotone": (0, 0, 0, 1)}, "column 'x3' is a category"),
        ({"convex": (0,), "concave": (0,)}, "'x0' cannot be both convex and concave"),
    ],
)
def test_settings_that_cannot_be_used_are_named(settings, message):
    matrix, signal, _ = rows(50)
    with pytest.raises(cw.InputError, match=message):
        GamRegressor(categorical=(3,), **settings).fit(matrix, signal)


@pytest.mark.parametrize("pairs", [2.5, None, True])
def test_pairs_that_are_no_number_are_named_by_the_learner(pairs):
    matrix, signal, _ = rows(50)
    with pytest.raises(cw.InputError, match=f"pairs={pairs}: it must be a whole number"):
        cw.learner("gam", pairs=pairs).fit(matrix[:, :1], signal)


def test_a_pair_that_is_named_twice_is_one_term():
    matrix, signal, _ = rows(100)
    model = GamRegressor(pairs=[(0, 2), (2, 0)]).fit(matrix[:, :3], signal)
    assert [row["columns"] for row in model.term_table_] == [(0,), (1,), (2,), (0, 2)]


def test_bands_of_classes_exist_for_very_large_weights():
    matrix, signal, rng = rows(120)
    y = np.digitize(signal + 0.1 * rng.normal(size=120), [-0.5, 1.0])
    model = GamClassifier(categorical=(3,)).fit(matrix, y, sample_weight=np.full(120, 1e9))
    assert np.isfinite(model.parts_.spread.parts(matrix)).all()


def test_settings_for_two_classes_are_refused_with_more():
    matrix, signal, _ = rows(60)
    with pytest.raises(cw.InputError, match="pairs is not possible with more than two classes"):
        GamClassifier(pairs=1).fit(matrix, np.digitize(signal, [-0.5, 0.5]))


def test_amounts_with_zeros_have_a_family_of_their_own():
    rng = np.random.default_rng(0)
    x = rng.random((600, 1))
    mean = np.exp(np.sin(6 * x[:, 0]))
    y = np.array([rng.gamma(2, 1, rng.poisson(m)).sum() for m in mean])
    frame = pd.DataFrame({"x": x[:, 0]})
    model = cw.learner("gam", task="amount").fit(frame, y)
    assert model.estimator_.family == "tweedie"
    assert np.corrcoef(np.log(model.predict(frame)), np.log(mean))[0, 1] > 0.95
