"""Local regression: statsmodels, rows left out, cells, categories, laws and bad input."""

import numpy as np
import pytest
from statsmodels.nonparametric.kernel_regression import KernelReg

import clearwood as cw
from clearwood.models.catalogue.neighbours.local import LocalRegressor


def rows(n=80, p=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, p))
    return X, np.sin(2 * X[:, 0]) + 0.2 * rng.normal(size=n), rng


# statsmodels announces another generator of random numbers, which these calls do not use
quiet = pytest.mark.filterwarnings("ignore:After 0.17:FutureWarning")


@quiet
@pytest.mark.parametrize(("degree", "kind"), [(0, "lc"), (1, "ll")])
@pytest.mark.parametrize("p", [1, 2])
def test_fits_are_those_of_statsmodels(degree, kind, p):
    X, y, _ = rows(p=p)
    model = LocalRegressor(degree=degree, bandwidth=0.4).fit(X, y)
    oracle = KernelReg(y, X, "c" * p, reg_type=kind, bw=0.4 * X.std(axis=0))
    new = np.random.default_rng(1).uniform(-1.8, 1.8, (20, p))
    np.testing.assert_allclose(model.predict(new), oracle.fit(new)[0], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("degree", [0, 1])
def test_the_error_of_rows_left_out_is_that_of_fits_without_them(degree):
    X, y, rng = rows(n=40)
    weight = rng.uniform(0.5, 2, 40)
    model = LocalRegressor(degree=degree, bandwidth=0.5).fit(X, y, weight)
    errors = []
    for k in range(40):
        rest = np.delete(np.arange(40), k)
        # the same scale of columns as in the fit to all rows
        one = LocalRegressor(degree=degree, bandwidth=0.5).fit(X, y, weight)
        one.rows_, one.codes_ = one.rows_[rest], one.codes_[rest]
        one.y_, one.weight_ = one.y_[rest], one.weight_[rest]
        errors.append(y[k] - one.predict(X[k : k + 1])[0])
    assert model.loo_ == pytest.approx(np.average(np.square(errors), weights=weight), rel=1e-5)


def test_the_chosen_bandwidth_has_the_least_error_of_those_tried():
    X, y, _ = rows(p=1)
    model = LocalRegressor().fit(X, y)
    for bandwidth in (0.06, 0.2, 0.7, 3.0):
        assert LocalRegressor(bandwidth=bandwidth).fit(X, y).loo_ >= model.loo_ - 1e-12


@pytest.mark.parametrize("degree", [0, 1])
def test_generalised_cross_validation_is_that_of_the_matrix_of_the_smoother(degree):
    X, y, _ = rows(n=60)
    model = LocalRegressor(degree=degree, bandwidth=0.4, criterion="gcv").fit(X, y)
    smoother = np.stack(
        [
            LocalRegressor(degree=degree, bandwidth=0.4).fit(X, unit).predict(X)
            for unit in np.eye(len(y))
        ],
        axis=1,
    )
    trace = np.trace(smoother)
    assert model.freedom_ == pytest.approx(trace, rel=1e-5)
    gcv = np.mean((y - smoother @ y) ** 2) / (1 - trace / len(y)) ** 2
    assert model.loo_ == pytest.approx(gcv, rel=1e-5)
    chosen = LocalRegressor(criterion="gcv").fit(X, y)
    assert chosen.loo_ <= model.loo_
    with pytest.raises(cw.InputError, match="criterion"):
        LocalRegressor(criterion="aic").fit(X, y)


def test_a_column_that_does_not_matter_gets_a_wide_kernel():
    X, y, _ = rows(n=400)
    model = LocalRegressor().fit(X, y)
    assert model.bandwidth_[1] > 4 * model.bandwidth_[0]


def test_a_line_is_found_exactly_up_to_the_ends_by_degree_one_only():
    x = np.linspace(0, 1, 60)[:, None]
    ends = np.array([[0.0], [1.0]])
    line = LocalRegressor(bandwidth=0.5).fit(x, 3 * x[:, 0]).predict(ends)
    np.testing.assert_allclose(line, [0, 3], atol=1e-5)
    mean = LocalRegressor(degree=0, bandwidth=0.5).fit(x, 3 * x[:, 0]).predict(ends)
    assert mean[0] > 0.2
    assert mean[1] < 2.8


@quiet
def test_cells_of_many_rows_give_nearly_the_same_curve():
    rng = np.random.default_rng(0)
    x = rng.uniform(-2, 2, (6_000, 1))
    y = np.sin(2 * x[:, 0]) + 0.3 * rng.normal(size=6_000)
    binned = LocalRegressor(bandwidth=0.2).fit(x, y)
    assert binned.is_binned_
    assert len(binned.y_) <= 800
    at = np.linspace(-1.9, 1.9, 50)[:, None]
    whole = KernelReg(y, x, "c", reg_type="ll", bw=0.2 * x.std(axis=0)).fit(at)[0]
    np.testing.assert_allclose(binned.predict(at), whole, atol=2e-3)


def test_levels_have_curves_of_their_own_as_far_as_rows_show_it():
    rng = np.random.default_rng(0)
    n = 400
    x, level = rng.uniform(-2, 2, n), rng.integers(0, 2, n)
    X = np.column_stack([x, level])
    noise = 0.1 * rng.normal(size=n)
    apart = LocalRegressor(categorical=(1,)).fit(X, np.where(level, x, -x) + noise)
    alike = LocalRegressor(categorical=(1,)).fit(X, x + noise)
    assert apart.across_ < 0.2
    assert alike.across_ > 0.2
    np.testing.assert_allclose(apart.predict([[1.0, 1], [1.0, 0]]), [1, -1], atol=0.15)
    unseen = apart.predict([[1.0, 7]])
    assert abs(unseen[0]) < 0.6  # the mean of both levels


def test_whole_weights_count_rows_as_repeated_and_units_do_not_matter():
    X, y, rng = rows(n=60)
    times = rng.integers(0, 3, 60)
    fixed = {"bandwidth": 0.4}
    weighted = LocalRegressor(**fixed).fit(X, y, times)
    repeated = LocalRegressor(**fixed).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), atol=1e-7)
    plain = LocalRegressor().fit(X, y)
    moved = LocalRegressor().fit(1000 * X + 5, 10 * y + 1e4)
    np.testing.assert_allclose(moved.predict(1000 * X + 5), 10 * plain.predict(X) + 1e4, rtol=1e-6)


def test_far_rows_constant_columns_and_a_single_row_have_predictions():
    X, y, _ = rows(n=30)
    model = LocalRegressor(degree=0).fit(X, y)
    nearest = np.argmax(X[:, 0])
    assert np.isfinite(model.predict([[1e4, X[nearest, 1]]])).all()
    constant = LocalRegressor().fit(np.ones((20, 1)), np.arange(20.0))
    assert constant.predict([[1.0]])[0] == pytest.approx(9.5)
    assert LocalRegressor().fit([[1.0]], [3.0]).predict([[2.0]]).tolist() == [3.0]


def test_too_many_columns_and_odd_settings_are_refused():
    X = np.zeros((10, 11))
    with pytest.raises(cw.InputError, match="11 columns of numbers"):
        LocalRegressor().fit(X, np.arange(10))
    for settings in ({"degree": 2}, {"bandwidth": 0}, {"across": 1.5}):
        with pytest.raises(cw.InputError, match=next(iter(settings))):
            LocalRegressor(**settings).fit(X[:, :1], np.arange(10))


def test_gaps_are_levels_and_do_not_count_as_columns_of_numbers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 7))
    y = X[:, 0].copy()
    X[::10] = np.nan
    X[3::10, 1] = np.nan
    model = cw.learner("local", bandwidth=1.0).fit(X, y)
    assert len(model.encoder_.columns_) == 14
    assert len(model.estimator_.numeric_) == 7


def test_a_table_goes_through_fit_file_and_effect(tmp_path):
    rng = np.random.default_rng(0)
    n = 200
    x = rng.uniform(0, 6, n)
    frame = {
        "x": np.where(rng.random(n) < 0.05, np.nan, x),
        "place": rng.choice(["north", "south"], n),
        "w": rng.uniform(0.5, 2, n),
        "y": np.sin(x) + 0.1 * rng.normal(size=n),
    }
    data = cw.read(frame, target="y", weight="w")
    model = cw.learner("local").fit(data)
    cw.save(model, tmp_path / "model.cw")
    np.testing.assert_array_equal(cw.load(tmp_path / "model.cw").predict(data), model.predict(data))
    effect = cw.effect(model, data, "x", n_bootstrap=0)
    known = np.isfinite(effect.grid[0])
    error = np.abs(effect.values[known] - np.sin(effect.grid[0][known])).max()
    assert error < 0.3


def test_files_of_earlier_versions_without_ends_predict_as_they_did(tmp_path):
    rng = np.random.default_rng(0)
    x, z = rng.uniform(0, 4, 150), rng.normal(size=150)
    data = cw.read({"x": x, "z": z, "y": np.sin(x) + 0.1 * rng.normal(size=150)}, target="y")
    model = cw.learner("local").fit(data)
    assert np.isinf(model.estimator_.ends_).all()
    new = {"x": [-1.0, 2.0, 9.0], "z": [0.0, 0.3, 0.0]}
    predicted = model.predict(new)
    del model.estimator_.ends_
    cw.save(model, tmp_path / "model.cw")
    np.testing.assert_array_equal(cw.load(tmp_path / "model.cw").predict(new), predicted)
