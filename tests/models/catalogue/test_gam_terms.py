"""Terms of additive models: bases, smoothness, tests, shapes, pairs, bands."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import softmax

import clearwood as cw
from clearwood import InputError
from clearwood.models.catalogue.gam.bases import spline_basis
from clearwood.models.catalogue.gam.covariance import INDIFFERENT, least_smooth
from clearwood.models.catalogue.gam.design import build_design
from clearwood.models.catalogue.gam.estimators import GamClassifier, GamRegressor
from clearwood.models.catalogue.gam.fitting import fit_classes, fit_score
from clearwood.models.catalogue.gam.smoothness import Working, criterion, evaluate
from clearwood.table import as_table

# edf of mgcv 1.8: gam(y ~ s(x1, bs="bs", k=20) + ..., method="REML"), and its p-values
MGCV = {
    (0, "gaussian"): ((4.392, 3.215, 2.335, 2.917), (0, 0, 0.00379, 0.271)),
    (0, "binomial"): ((3.359, 2.754, 1.0, 1.0), (1.27e-5, 7.05e-6, 0.815, 0.367)),
    (0, "poisson"): ((4.665, 1.758, 1.0, 1.57), (0, 0, 4.29e-5, 0.36)),
    (0, "gamma"): ((4.757, 2.556, 1.0, 1.001), (0, 0, 0.00133, 0.999)),
    (1, "gaussian"): ((4.709, 3.039, 1.0, 1.001), (0, 0, 0.00394, 0.00405)),
    (1, "binomial"): ((3.196, 1.056, 2.838, 1.583), (0.000309, 0, 0.0065, 0.506)),
    (1, "poisson"): ((3.894, 3.344, 1.002, 1.997), (0, 0, 0.00145, 0.0365)),
    (1, "gamma"): ((4.2, 2.649, 1.369, 1.949), (0, 0, 0.123, 0.145)),
}


def four_curves(seed, n=400):
    rng = np.random.default_rng(seed)
    x = rng.random((n, 4))
    f = 2 * np.sin(np.pi * x[:, 0]) + np.exp(2 * x[:, 1]) / 3 + 0.5 * x[:, 2]
    return x, {
        "gaussian": f + rng.normal(size=n),
        "binomial": (rng.random(n) < 1 / (1 + np.exp(-(f - 3)))).astype(float),
        "poisson": rng.poisson(np.exp(f / 2 - 0.5)).astype(float),
        "gamma": np.exp(f / 2) * rng.gamma(4, 0.25, n),
    }


@pytest.mark.parametrize(("seed", "family"), MGCV)
def test_degrees_of_freedom_and_tests_agree_with_mgcv(seed, family):
    x, targets = four_curves(seed)
    y = targets[family]
    if family == "binomial":
        model = GamClassifier(shrink=False).fit(x, y)
    else:
        model = GamRegressor(family=family, shrink=False).fit(x, y)
    edf, p = MGCV[seed, family]
    np.testing.assert_allclose([row["edf"] for row in model.term_table_], edf, atol=0.1)
    np.testing.assert_allclose(
        [row["p_value"] for row in model.term_table_], p, rtol=0.25, atol=1e-5
    )


@pytest.mark.parametrize("knows_scale", [True, False])
def test_derivatives_of_the_criterion_agree_with_differences(knows_scale):
    rng = np.random.default_rng(0)
    x, targets = four_curves(0, 80)
    design = build_design(x, n_splines=8)
    y = targets["gaussian"]
    working = Working(
        design.gram(np.ones(80)),
        design.moment(y),
        float(y @ y),
        design.penalties,
        None if knows_scale else 79.0,
        80.0,
    )
    rho = rng.normal(size=design.penalties.shape[1]) + 2
    state = evaluate(working, rho)
    h = 1e-4
    steps = h * np.eye(len(rho))
    gradient = [
        (criterion(working, rho + s) - criterion(working, rho - s)) / (2 * h) for s in steps
    ]
    hessian = [
        (evaluate(working, rho + s).gradient - evaluate(working, rho - s).gradient) / (2 * h)
        for s in steps
    ]
    np.testing.assert_allclose(state.gradient, gradient, atol=1e-5)
    np.testing.assert_allclose(state.hessian, hessian, atol=1e-5)


def test_functions_are_orthonormal_and_their_penalty_is_the_curvature():
    rng = np.random.default_rng(0)
    values = np.sort(rng.random(60))
    basis, penalties = spline_basis(values, np.ones(60), n_splines=9)
    curves = basis(values)
    np.testing.assert_allclose(curves.T @ curves / 60, np.eye(curves.shape[1]), atol=1e-9)
    np.testing.assert_allclose(curves.mean(axis=0), 0, atol=1e-9)

    def second(x, i, h=1e-3):
        near = basis(np.array([x - h, x, x + h]))[:, i]
        return (near[0] - 2 * near[1] + near[2]) / h**2

    inside = (values[0] + 2e-3, values[-1] - 2e-3)
    bent = [quad(lambda x, i=i: second(x, i) ** 2, *inside, limit=200)[0] for i in (1, 2, 3)]
    ratio = np.array(bent) / penalties[0][1:4]
    np.testing.assert_allclose(ratio / ratio[0], 1, rtol=0.05)
    assert penalties[0][0] == 0
    assert penalties[1][0] == 1


def test_least_smooth_parameters_lose_what_makes_no_difference():
    x, targets = four_curves(0)
    fit = fit_score(build_design(x), targets["poisson"], family="poisson")
    lowered = least_smooth(fit)
    changed = np.flatnonzero(lowered < fit.rho - 0.1)
    assert len(changed)
    for k in changed:
        one = fit.rho.copy()
        one[k] = lowered[k]
        lost = criterion(fit.working, one) - criterion(fit.working, fit.rho)
        assert 0.8 * INDIFFERENT < lost <= INDIFFERENT


def test_bands_cover_the_truth():
    covered = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x = rng.random((300, 3))
        truth = np.sin(2 * np.pi * x[:, 0]) + x[:, 1]
        model = GamRegressor().fit(x, truth + rng.normal(size=300))
        error = np.sqrt((model.parts_.spread.parts(x) ** 2).sum(axis=1))
        covered.append(np.mean(np.abs(model.predict(x) - truth) < 1.96 * error))
    assert 0.91 < np.mean(covered) < 0.99


def test_the_covariance_is_wider_than_that_of_known_smoothness():
    x, targets = four_curves(1)
    design = build_design(x)
    fit = fit_score(design, targets["gaussian"])
    model = GamRegressor().fit(x, targets["gaussian"])
    plain = np.einsum("ij,jk,ik->i", design.matrix, fit.state.inverse * model.scale_, design.matrix)
    corrected = (model.parts_.spread.parts(x) ** 2).sum(axis=1)
    assert (corrected >= plain - 1e-12).all()
    assert corrected.mean() > 1.02 * plain.mean()


def test_scores_of_classes_maximise_the_penalised_likelihood_of_the_softmax():
    rng = np.random.default_rng(0)
    x = rng.random((300, 2))
    score = np.stack([np.zeros(300), 3 * x[:, 0] - 1, np.sin(6 * x[:, 1])], axis=1)
    classes = (softmax(score, axis=1).cumsum(axis=1) < rng.random((300, 1))).sum(axis=1)
    design = build_design(x)
    fit = fit_classes(design, classes, 3)
    beta = np.stack([one.coefficients for one in fit.fits], axis=1)
    shares = softmax(design.matrix @ beta, axis=1)
    penalty = np.stack([one.state.penalty for one in fit.fits], axis=1)
    gradient = design.matrix.T @ (np.eye(3)[classes] - shares) - penalty * beta
    assert np.abs(gradient).max() < 0.05  # of sums over 300 rows
    np.testing.assert_allclose(fit.coefficients.sum(axis=1), 0, atol=1e-9)


@pytest.mark.parametrize("family", ["gaussian", "binomial", "poisson"])
def test_backfitting_reaches_the_direct_fit(family):
    x, targets = four_curves(0)
    x[:, 3] = np.round(4 * x[:, 3])
    y = targets[family]
    kind = GamClassifier if family == "binomial" else GamRegressor
    more = {} if family == "binomial" else {"family": family}
    direct = kind(categorical=(3,), **more).fit(x, y)
    slow = kind(categorical=(3,), method="backfitting", **more).fit(x, y)
    np.testing.assert_allclose(slow.parts_(x), direct.parts_(x), atol=2e-3)
    assert slow.rounds_ > 1


@pytest.mark.parametrize("direction", [1, -1])
@pytest.mark.parametrize("family", ["gaussian", "binomial"])
def test_monotone_curves_never_turn(direction, family):
    x, targets = four_curves(0)
    y = targets[family]
    kind = GamClassifier if family == "binomial" else GamRegressor
    model = kind(monotone=(direction, 0, 0, 0)).fit(x, y)
    grid = np.tile(x[:1], (1000, 1))
    grid[:, 0] = np.linspace(-0.1, 1.1, 1000)
    assert (direction * np.diff(model.parts_(grid)[:, 0]) >= 0).all()
    free = kind().fit(x, y)
    assert (direction * np.diff(free.parts_(grid)[:, 0])).min() < -1e-4


def test_a_constraint_that_holds_anyway_changes_nothing():
    x, _ = four_curves(0)
    y = np.sin(6 * x[:, 0]) + 2 * x[:, 1] + 0.01 * x[:, 2] ** 2
    free = GamRegressor().fit(x, y)
    kept = GamRegressor(monotone=(0, 1, 0, 0)).fit(x, y)
    np.testing.assert_allclose(kept.parts_(x), free.parts_(x), atol=1e-9)


def test_convex_and_concave_curves_bend_one_way():
    x, targets = four_curves(1)
    model = GamRegressor(concave=(0,), convex=(1,)).fit(x, targets["gaussian"])
    for column, sign in ((0, -1), (1, 1)):
        grid = np.tile(x[:1], (200, 1))
        grid[:, column] = np.linspace(x[:, column].min(), x[:, column].max(), 200)
        bend = sign * np.diff(model.parts_(grid)[:, 0], 2)
        assert bend.min() > -1e-10
        assert bend.max() > 1e-6


def test_bands_under_constraints_stay_close_to_the_fit():
    x, targets = four_curves(0)
    free = GamRegressor().fit(x, targets["gaussian"])
    kept = GamRegressor(monotone=(0, 1, 0, 0)).fit(x, targets["gaussian"])
    errors = [np.sqrt((m.parts_.spread.parts(x) ** 2).sum(axis=1)).mean() for m in (free, kept)]
    assert 0.6 < errors[1] / errors[0] < 1.1


def two_pairs(n=800):
    rng = np.random.default_rng(0)
    x = rng.random((n, 5))
    x[:, 4] = rng.integers(0, 3, n)
    signal = 6 * (x[:, 0] - 0.5) * (x[:, 1] - 0.5) + 2 * x[:, 2] * (x[:, 4] == 1)
    return x, signal + 0.4 * rng.normal(size=n)


def test_pairs_that_matter_are_added_and_no_others():
    x, y = two_pairs()
    model = GamRegressor(categorical=(4,), pairs=5).fit(x, y)
    pairs = {row["term"] for row in model.term_table_ if row["kind"] == "pair"}
    assert pairs == {"x0 × x1", "x2 × x4"}
    plain = GamRegressor(categorical=(4,)).fit(x, y)
    assert np.mean((model.predict(x) - y) ** 2) < 0.6 * np.mean((plain.predict(x) - y) ** 2)
    named = GamRegressor(categorical=(4,), pairs=[(0, 1), (2, 4)]).fit(x, y)
    np.testing.assert_allclose(named.predict(x), model.predict(x), atol=0.02)


def test_pairs_of_binned_columns_equal_those_of_the_whole_matrix(monkeypatch):
    x, y = two_pairs()
    whole = GamRegressor(categorical=(4,), pairs=[(0, 1), (2, 4)]).fit(np.round(x, 2), y)
    monkeypatch.setattr("clearwood.models.catalogue.gam.design.DENSE_CELLS", 0)
    binned = GamRegressor(categorical=(4,), pairs=[(0, 1), (2, 4)]).fit(np.round(x, 2), y)
    np.testing.assert_allclose(binned.predict(x), whole.predict(x), atol=1e-6)


def test_names_of_columns_reach_pairs_shapes_and_the_table():
    data = cw.datasets.load("diabetes")
    model = cw.learner("gam", pairs=["bmi:bp"], convex="s5", monotone={"bmi": "up"})
    with pytest.raises(InputError, match="'bmi' cannot have a shape and be in a pair"):
        model.fit(data)
    model = cw.learner("gam", pairs=["age:bp"], convex="s5", monotone={"bmi": "up"}).fit(data)
    table = model.estimator_.term_table_
    assert {"bmi", "s5", "age × bp"} <= {row["term"] for row in table}
    assert {row["term"]: row["monotone"] for row in table}["bmi"] == 1
    assert sum(row["share"] for row in table) == pytest.approx(1)
    with pytest.raises(InputError, match=r"convex names 'bmy'.*did you mean 'bmi'"):
        cw.learner("gam", convex=["bmy"]).fit(data)


def test_concurvity_marks_a_column_that_others_imitate():
    rng = np.random.default_rng(0)
    x = rng.random((400, 3))
    x[:, 1] = x[:, 0] + 0.01 * rng.normal(size=400)
    y = np.sin(6 * x[:, 0]) + x[:, 2] + 0.2 * rng.normal(size=400)
    table = {row["term"]: row for row in GamRegressor(shrink=False).fit(x, y).term_table_}
    assert table["x0"]["concurvity"] > 0.9
    assert table["x2"]["concurvity"] < 0.3


def test_a_column_without_effect_vanishes():
    rng = np.random.default_rng(1)
    x = rng.random((500, 2))
    model = GamRegressor().fit(x, np.sin(6 * x[:, 0]) + 0.3 * rng.normal(size=500))
    noise = model.term_table_[1]
    assert noise["edf"] < 0.1
    assert noise["p_value"] > 0.05
    assert noise["share"] < 1e-3


def test_bands_of_overdispersed_counts_cover_and_null_curves_are_not_found():
    """By Poisson's law alone they cover 75 % of 95, and most null columns are found."""
    covered, found, dispersions = [], [], []
    for seed in range(12):
        rng = np.random.default_rng([5, seed])
        matrix = rng.random((500, 2))
        truth = 0.5 * np.sin(2 * np.pi * matrix[:, 0])
        y = rng.poisson(np.exp(1.0 + truth) * rng.gamma(1.0, 1.0, 500))
        model = GamRegressor(family="poisson").fit(matrix, y)
        products, spread = model.parts_.products, model.parts_.spread.parts.products
        height = products.constant[0] + products.terms[0](matrix)[:, 0]
        deviations = spread.constant + spread.terms[0](matrix)
        errors = np.sqrt((deviations**2).sum(axis=1))
        gap = np.abs(height - 1.0 - truth)
        covered.append(np.mean(gap <= 1.96 * errors))
        found.append(model.term_table_[1]["p_value"] < 0.05)
        dispersions.append(model.scale_)
    assert np.mean(covered) > 0.88
    assert np.sum(found) <= 2
    # the mean of the variance over the mean, weighted by the mean: 1 + E[m²] / E[m]
    assert np.mean(dispersions) == pytest.approx(4.2, rel=0.15)


def test_the_unit_of_an_exposure_changes_neither_dispersion_nor_bands():
    rng = np.random.default_rng(0)
    matrix, years = rng.random((400, 2)), rng.uniform(0.2, 1.0, 400)
    y = rng.poisson(years * np.exp(matrix[:, 0]) * rng.gamma(1.0, 1.0, 400))
    models = [
        GamRegressor(family="poisson").fit(matrix, y / (k * years), sample_weight=k * years)
        for k in (1.0, 365.0)
    ]
    one, days = (model.parts_.spread.parts.products.terms[0](matrix) for model in models)
    assert models[1].scale_ == pytest.approx(models[0].scale_, rel=1e-6)
    np.testing.assert_allclose((days**2).sum(axis=1), (one**2).sum(axis=1), rtol=2e-3, atol=1e-9)


def mixed_table(rng, n):
    """Draw four levels, a column with a curved effect, and one with a straight effect."""
    matrix = np.column_stack(
        [rng.choice(4, n, p=[0.4, 0.3, 0.2, 0.1]), rng.random(n), rng.normal(size=n)]
    ).astype(float)
    effects = np.array([0.0, 0.35, 0.0, -0.1])
    return matrix, effects, effects[matrix[:, 0].astype(int)] - 0.3 * matrix[:, 2]


def level_effects(model):
    """Return the effects of levels less that of the first, and their standard errors."""
    levels = np.arange(4.0)[:, None] * np.eye(3)[0]
    at = next(i for i, t in enumerate(model.parts_.products.terms) if t.columns == (0,))
    effects, deviations = (
        parts.products.terms[at](levels) for parts in (model.parts_, model.parts_.spread.parts)
    )
    errors = np.sqrt(((deviations - deviations[0]) ** 2).sum(axis=1))
    return effects[:, 0] - effects[0, 0], errors


@pytest.mark.parametrize("family", ["gaussian", "poisson", "gamma", "binomial"])
def test_parametric_terms_are_those_of_a_generalised_linear_model(family):
    sm = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(0)
    matrix, _, score = mixed_table(rng, 400)
    y = {
        "gaussian": score + rng.normal(size=400),
        "poisson": rng.poisson(np.exp(score)).astype(float),
        "gamma": np.exp(score) * rng.gamma(3, 1 / 3, 400),
        "binomial": (rng.random(400) < 1 / (1 + np.exp(-score))).astype(float),
    }[family]
    settings = {"categorical": (0,), "parametric": (0, 1, 2)}
    if family == "binomial":
        model = GamClassifier(**settings).fit(matrix, y)
    else:
        model = GamRegressor(family=family, **settings).fit(matrix, y)
    design = np.column_stack([np.ones(400), matrix[:, [0]] == [1, 2, 3], matrix[:, 1:]])
    of = {
        "gaussian": sm.families.Gaussian(),
        "poisson": sm.families.Poisson(),
        "gamma": sm.families.Gamma(sm.families.links.Log()),
        "binomial": sm.families.Binomial(),
    }[family]
    oracle = sm.GLM(y, design, family=of).fit()
    effects, errors = level_effects(model)
    np.testing.assert_allclose((effects[1:] - oracle.params[1:4]) / oracle.bse[1:4], 0, atol=5e-4)
    np.testing.assert_allclose(
        errors[1:] / np.sqrt(model.scale_ / oracle.scale), oracle.bse[1:4], rtol=1e-4
    )
    assert [row["edf"] for row in model.term_table_] == pytest.approx([3.0, 1.0, 1.0])


@pytest.mark.parametrize("setting", [{"parametric": (0,)}, {"shrink": False}])
def test_levels_without_shrinkage_are_unbiased_and_covered(setting):
    """With shrinkage the strongest effect of .35 is .19 on average and covered in 60 % of 90."""
    found, covered = [], []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        matrix, truth, score = mixed_table(rng, 400)
        score = score + 0.5 * np.sin(5 * matrix[:, 1])
        y = rng.random(400) < 1 / (1 + np.exp(-score))
        effects, errors = level_effects(GamClassifier(categorical=(0,), **setting).fit(matrix, y))
        found.append(effects[1])
        covered.append(np.abs(effects - truth)[1:] <= 1.645 * errors[1:])
    assert np.mean(found) == pytest.approx(0.35, abs=0.12)
    assert np.mean(covered) > 0.83


def test_unseen_levels_without_shrinkage_have_the_mean_of_the_levels():
    rng = np.random.default_rng(1)
    matrix, _, score = mixed_table(rng, 300)
    y = score + rng.normal(size=300)
    model = GamRegressor(categorical=(0,), parametric=(0,)).fit(matrix, y)
    term = model.parts_.products.terms[0]
    each = term(matrix)[:, 0]
    assert term(np.array([[9.0, 0.0, 0.0]]))[0, 0] == 0.0
    assert each.mean() == pytest.approx(0.0, abs=1e-12)


def test_missing_values_of_parametric_columns_are_not_shrunk():
    rng = np.random.default_rng(2)
    x = rng.normal(size=200)
    x[:60] = np.nan
    y = np.where(np.isnan(x), 0.3, 0.1 * x) + 0.5 * rng.normal(size=200)
    design = np.column_stack([np.ones(200), np.nan_to_num(x), np.isnan(x)])
    expected = design @ np.linalg.lstsq(design, y, rcond=None)[0]
    model = GamRegressor(parametric=(0,)).fit(x[:, None], y)
    np.testing.assert_allclose(model.predict(x[:, None]), expected, atol=1e-9)


def test_unshrunk_levels_without_events_are_named():
    rng = np.random.default_rng(3)
    region = rng.choice(["a", "b", "c"], 200)
    y = np.where(region == "b", 0, rng.poisson(1.0, 200))
    data = {"region": region.tolist(), "claims": y.tolist()}
    learner = cw.learner("gam", task="count", parametric=["region"])
    with pytest.warns(cw.ClearwoodWarning, match="1 of 3 levels of column 'region' have no event"):
        learner.fit(as_table(data, target="claims"))


def test_parametric_names_columns_that_exist_and_do_not_bend():
    data = cw.datasets.load("diabetes")
    with pytest.raises(InputError, match="parametric names 'bmj', which is not a column"):
        cw.learner("gam", parametric="bmj").fit(data)
    with pytest.raises(InputError, match="'bmi' cannot be a straight line and bend"):
        cw.learner("gam", parametric="bmi", convex="bmi").fit(data)


@pytest.mark.parametrize("separated", ["line", "classes"])
def test_the_score_of_separated_classes_stays_finite(separated):
    """Unbounded smoothing parameters gave probabilities down to 1e-125."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    y = X[:, 0] > 0 if separated == "line" else np.argmax(X, axis=1)
    probability = GamClassifier().fit(X, y).predict_proba(X)
    assert np.log(probability).min() > -50
    assert np.mean(probability.argmax(axis=1) == y) > 0.97
