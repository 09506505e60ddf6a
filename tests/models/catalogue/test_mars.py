"""Multivariate adaptive regression splines: the search, its laws, bad input, formula, files."""

import numpy as np
import pandas as pd
import pytest

import clearwood as cw
from clearwood import InputError
from clearwood.models.catalogue.mars.estimators import MarsClassifier, MarsPoisson, MarsRegressor
from clearwood.models.catalogue.mars.terms import generalised_error, prune

ROWS = {
    "additive": 600,
    "friedman": 1000,
    "interaction": 500,
    "step": 400,
    "waves": 800,
    "line": 300,
}
#: GCV errors of R's earth 5.3 with its defaults, on the data below.
EARTH = {
    ("additive", 1): 0.266681,
    ("additive", 2): 0.267223,
    ("friedman", 1): 2.705447,
    ("friedman", 2): 1.235859,
    ("interaction", 1): 0.199989,
    ("interaction", 2): 0.091690,
    ("step", 1): 0.537592,
    ("step", 2): 0.410378,
    ("waves", 1): 0.174477,
    ("waves", 2): 0.167688,
    ("line", 1): 0.982282,
    ("line", 2): 0.991512,
}


def generated(name):
    rng = np.random.RandomState(len(name))
    X = rng.uniform(size=(ROWS[name], 6))
    noise = rng.normal(size=len(X))
    a, b, c, d, e, _ = X.T
    return X, {
        "additive": 6 * np.maximum(a - 0.4, 0) - 4 * np.maximum(0.7 - b, 0) + 2 * c + 0.5 * noise,
        "friedman": 10 * np.sin(np.pi * a * b) + 20 * (c - 0.5) ** 2 + 10 * d + 5 * e + noise,
        "interaction": 8 * np.maximum(a - 0.5, 0) * np.maximum(b - 0.3, 0) + c + 0.3 * noise,
        "step": 3 * (a > 0.5) + 2 * (b > 0.25) * (c > 0.5) + 0.5 * noise,
        "waves": np.sin(6 * a) + np.cos(4 * b) + c * d + 0.4 * noise,
        "line": 2 * a - b + noise,
    }[name]


def people(n=300, seed=0):
    """A number with gaps, a category and a target with a kink for each."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.uniform(18, 80, n),
            "bmi": rng.normal(25, 4, n),
            "region": rng.choice(["north", "south", "east", "west"], n),
        }
    )
    frame.loc[rng.random(n) < 0.2, "bmi"] = np.nan
    signal = np.maximum(frame["age"] - 41, 0) / 10 + frame["region"].isin(["north", "east"])
    signal = signal + np.where(frame["bmi"].isna(), 1.5, 0.0)
    return frame, np.asarray(signal), rng


def test_gcv_errors_are_those_of_earth_or_lower():
    ratios = []
    for (name, degree), gcv in EARTH.items():
        ratios.append(MarsRegressor(degree=degree).fit(*generated(name)).gcv_ / gcv)
    assert max(ratios) < 1.01
    assert np.mean(np.array(ratios) < 1) >= 2 / 3


def test_the_backward_pass_drops_what_least_squares_misses_least():
    rng = np.random.default_rng(1)
    basis = np.vstack([np.ones(60), rng.normal(size=(6, 60))])
    y = basis[2] - 0.7 * basis[4] + 0.8 * rng.normal(size=60)
    y -= y.mean()

    def rss(terms):
        design = basis[terms].T
        return np.sum((y - design @ np.linalg.lstsq(design, y, rcond=None)[0]) ** 2)

    active, best = list(range(7)), (np.inf, None)
    while True:
        best = min(best, (generalised_error(rss(active), 60, len(active), 3.0)[0], active))
        if len(active) == 1:
            break
        active = min(([t for t in active if t != k] for k in active[1:]), key=rss)
    assert list(prune(basis, y[:, None], 60, 3.0)) == best[1]


@pytest.mark.parametrize("kind", [MarsRegressor, MarsPoisson, MarsClassifier])
def test_whole_weights_equal_repeated_rows(kind):
    X, y = generated("interaction")
    X, y = X[:200], np.round(2 * np.abs(y[:200])).astype(int) % 3
    X[::9, 2] = np.nan
    weight = np.arange(200) % 4
    weighted = kind(degree=2).fit(X, y, sample_weight=weight)
    repeated = kind(degree=2).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert weighted.gcv_ == pytest.approx(repeated.gcv_, rel=1e-9)
    np.testing.assert_allclose(weighted.parts_(X), repeated.parts_(X), atol=1e-6)


def test_only_ratios_of_fractional_weights_matter():
    X, y = generated("waves")
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    one, other = (MarsRegressor().fit(X, y, sample_weight=weight * f) for f in (0.001, 77.7))
    np.testing.assert_allclose(one.predict(X), other.predict(X), rtol=1e-8)
    assert len(one.products_) > 3


def test_gaps_and_categories_enter_as_indicators():
    frame, signal, rng = people()
    model = cw.learner("mars").fit(frame, 10 * signal + rng.normal(size=len(frame)))
    names = model.encoder_.get_feature_names_out()
    formula = model.estimator_.equation(names, [(), (), ("east", "north", "south", "west")])
    by_term = dict(zip(formula.term, formula.coefficient, strict=True))
    assert by_term["[bmi is missing]"] == pytest.approx(15, abs=1)
    assert by_term["[region is east or north]"] == pytest.approx(10, abs=1) or by_term[
        "[region is south or west]"
    ] == pytest.approx(-10, abs=1)
    # a level never seen is predicted, as one of the larger group
    unseen = frame.head(2).assign(region="moon")
    with pytest.warns(UserWarning, match="not fitted with: 'moon'"):
        assert np.isfinite(model.predict(unseen)).all()


def test_the_written_formula_computes_the_prediction():
    X, y = generated("friedman")
    model = MarsRegressor(degree=2).fit(X - 0.5, y)
    text = " ".join(str(model.equation(list("abcdef"))).splitlines())
    text = text.replace("−", "-").replace("·", "*").replace("max(0,", "np.maximum(0,")
    values = dict(zip("abcdef", (X - 0.5).T, strict=True))
    computed = eval(text, {"np": np, **values})
    np.testing.assert_allclose(computed, model.predict(X - 0.5), atol=0.3)
    assert np.corrcoef(computed, model.predict(X - 0.5))[0, 1] > 0.999


def test_predictions_are_constant_beyond_the_range_unless_lines_go_on():
    X, y = generated("additive")
    inside, beyond = np.full((1, 6), 0.5), np.full((1, 6), 0.5)
    inside[0, 0], beyond[0, 0] = X[:, 0].max(), 3.0
    constant = MarsRegressor().fit(X, y)
    assert constant.predict(beyond) == constant.predict(inside)
    linear = MarsRegressor(extrapolate="linear").fit(X, y)
    rise = (linear.predict(beyond) - linear.predict(inside)) / (3.0 - X[:, 0].max())
    assert rise[0] == pytest.approx(6, rel=0.1)
    np.testing.assert_array_equal(linear.predict(X), constant.predict(X))
    assert list(constant.outside(np.vstack([inside, beyond]))) == [1, 0, 0, 0, 0, 0]


@pytest.mark.parametrize("task", ["regression", "count", "binary", "multiclass"])
def test_components_and_baseline_add_up_to_the_score(task):
    frame, signal, rng = people()
    y = {
        "regression": signal,
        "count": rng.poisson(np.exp(signal / 2)),
        "binary": signal + rng.normal(size=len(signal)) > 2,
        "multiclass": np.digitize(signal + 0.5 * rng.normal(size=len(signal)), [1, 2]),
    }[task]
    model = cw.learner("mars", task=task, degree=2).fit(frame, y)
    explanation = cw.explain(model, frame.head(80))
    values = explanation.shapley()
    matrix = model.encoder_.transform(cw.table.as_table(frame.head(80)))
    score = model.estimator_.parts_(matrix)
    total = values.baseline + values.values.sum(axis=1)
    np.testing.assert_allclose(total.reshape(score.shape), score, atol=1e-9)


def test_bands_repeat_the_search_and_cover_the_truth():
    X, y = generated("additive")
    model = MarsRegressor(bands=30, random_state=1).fit(X, y)
    again = MarsRegressor(bands=30, random_state=1).fit(X, y)
    grid = np.full((21, 6), 0.5)
    grid[:, 0] = np.linspace(0.02, 0.98, 21)
    spread = model.parts_.spread
    assert (spread.count, spread.freedom, spread.source) == (30, 29.0, "bootstrap")
    se = np.sqrt(np.sum(spread.parts(grid) ** 2, axis=1))
    np.testing.assert_array_equal(se, np.sqrt(np.sum(again.parts_.spread.parts(grid) ** 2, axis=1)))
    truth = 6 * np.maximum(grid[:, 0] - 0.4, 0) - 4 * 0.2 + 2 * 0.5
    assert np.mean(np.abs(model.predict(grid) - truth) < 2 * se) > 0.8
    # noise of 0.5 with 600 rows: far from nothing, and far from the noise itself
    assert 0.02 < np.median(se) < 0.15


@pytest.mark.parametrize(("kind", "outputs"), [(MarsPoisson, 1), (MarsClassifier, 3)])
def test_bands_of_counts_and_classes_have_deviations_for_each_score(kind, outputs):
    X, y = generated("step")
    model = kind(bands=10).fit(X, np.round(np.abs(y)).astype(int) % 3)
    deviations = model.parts_.spread.parts(X[:5])
    assert deviations.shape == (5, outputs * 10)
    np.testing.assert_allclose(deviations.reshape(5, outputs, 10).sum(axis=2), 0, atol=1e-9)


def test_separable_classes_have_finite_scores():
    X = np.linspace(-1, 1, 80)[:, None]
    model = MarsClassifier().fit(X, X[:, 0] > 0)
    assert np.abs(model.decision_function(X)).max() < 20
    assert np.mean(model.predict(X) == (X[:, 0] > 0)) > 0.95


@pytest.mark.parametrize("n", [2, 5, 12])
def test_fewer_rows_than_terms_give_a_small_model(n):
    rng = np.random.default_rng(0)
    model = MarsRegressor(degree=2).fit(rng.normal(size=(n, 10)), rng.normal(size=n))
    assert len(model.products_) < n / 2
    assert np.isfinite(model.predict(rng.normal(size=(3, 10)))).all()


def test_constant_empty_and_two_valued_columns_are_harmless():
    rng = np.random.default_rng(0)
    X = np.column_stack(
        [np.ones(100), np.full(100, np.nan), np.arange(100) % 2, rng.normal(size=100)]
    )
    y = 3 * X[:, 2] + 0.1 * rng.normal(size=100)
    model = MarsRegressor().fit(X, y)
    assert {column for columns, _ in model.products_ for column in columns} == {2}
    assert model.predict(X[:2])[1] - model.predict(X[:2])[0] == pytest.approx(3, abs=0.1)
    category = MarsRegressor(categorical=[1]).fit(X, y)
    np.testing.assert_allclose(category.predict(X), model.predict(X))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"degree": 4}, "degree=4: it must be a whole number from 1 to 3"),
        ({"penalty": -1}, "penalty=-1: it must be a number of at least 0"),
        ({"max_terms": 0}, "max_terms=0: it must be a whole number of at least 1"),
        ({"bands": 3}, "bands=3: it must be a whole number of at least 10"),
        ({"extrapolate": "flat"}, "extrapolate='flat' is not a known value"),
        ({"min_span": 1.5}, "min_span=1.5: it must be a whole number"),
        ({"ridge": 0}, "ridge=0: it must be a number above 0"),
    ],
)
def test_settings_that_cannot_be_used_are_named(settings, message):
    X, y = generated("line")
    with pytest.raises(InputError, match=message):
        cw.learner("mars", **settings).fit(X, y)


def test_targets_that_cannot_be_used_are_named():
    X, y = generated("line")
    with pytest.raises(InputError, match="counts must not be negative"):
        MarsPoisson().fit(X, y)
    with pytest.raises(InputError, match="every target is zero"):
        MarsPoisson().fit(X, 0 * y)
    with pytest.raises(InputError, match="weights must be finite and not negative"):
        MarsRegressor().fit(X, y, sample_weight=y)


@pytest.mark.parametrize("task", ["regression", "count", "binary"])
def test_a_saved_model_predicts_the_same(task, tmp_path):
    frame, signal, _ = people()
    y = {"regression": signal, "count": np.round(signal), "binary": signal > 1.5}[task]
    model = cw.learner("mars", task=task, degree=2, bands=10).fit(frame, y)
    cw.save(model, tmp_path / "model.cw")
    loaded = cw.load(tmp_path / "model.cw")
    method = "predict_proba" if task == "binary" else "predict"
    np.testing.assert_array_equal(getattr(loaded, method)(frame), getattr(model, method)(frame))
    one, other = (m.estimator_.parts_.spread.parts for m in (model, loaded))
    matrix = model.encoder_.transform(cw.table.as_table(frame))
    np.testing.assert_array_equal(one(matrix), other(matrix))


# fifteen rows are fitted perfectly in many ways, of which rounding chooses one
TIES = {"check_sample_weight_equivalence_on_dense_data": "ties between perfect fits"}


@pytest.mark.estimators(MarsRegressor(), MarsPoisson(), MarsClassifier(), expected=TIES)
def test_a_learner_keeps_scikit_learns_conventions(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("error")
def test_a_target_whose_squares_are_infinite_is_refused():
    with pytest.raises(InputError, match="its squares are infinite"):
        MarsRegressor().fit(np.arange(20.0)[:, None], np.arange(20.0) * 1e200)


@pytest.mark.parametrize("seed", [2, 8])
def test_a_level_with_its_own_term_does_not_make_sets_depend_on_rounding(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(90, 4))
    X[:, 3] = rng.integers(0, 5, 90)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = np.nan_to_num(X[:, 0]) + (X[:, 3] == 1) + 0.3 * rng.normal(size=90)
    counts = rng.integers(0, 4, 90)
    weighted = MarsRegressor(categorical=[3], degree=2).fit(X, y, counts)
    repeated = MarsRegressor(categorical=[3], degree=2).fit(X.repeat(counts, 0), y.repeat(counts))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), atol=1e-8)
