"""Convolution over columns that form a grid: where cells lie, gaps, bad grids, files."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits

import clearwood as cw
from clearwood.models.catalogue.network.estimators import CnnClassifier, CnnRegressor

pytest.importorskip("torch")

QUICK = {"epochs": 3, "units": 4, "layers": 1}


def images(n=80, seed=0):
    """A bright spot somewhere in a grid of 4 by 5; is it in the upper half?"""
    rng = np.random.default_rng(seed)
    X = 0.1 * rng.normal(size=(n, 4, 5))
    row, column = rng.integers(0, 4, n), rng.integers(0, 5, n)
    X[np.arange(n), row, column] += 3.0
    return X.reshape(n, 20), (row < 2).astype(int)


@pytest.mark.filterwarnings("ignore:column")  # some pixels are never lit
def test_digits_are_read_from_their_pixels(tmp_path):
    pixels, digit = load_digits(return_X_y=True, as_frame=True)
    frame = pixels.assign(digit=digit.astype(str))
    train, test = cw.read(frame[:500], target="digit"), frame[500:800]
    assert len(train.features) < 64  # constant pixels are cells all the same
    settings = {"units": 8, "epochs": 8, "batch_size": 32, "learning_rate": 0.01}
    model = cw.learner("cnn", grid=(8, 8), early_stopping=False, **settings).fit(train)
    assert model.estimator_.grid == (8, 8)
    assert np.mean(model.predict(test) == test["digit"]) > 0.87
    cw.save(model, tmp_path / "m.cw")
    loaded = cw.load(tmp_path / "m.cw")
    np.testing.assert_array_equal(loaded.predict_proba(test), model.predict_proba(test))


def test_the_cells_of_columns_decide_and_not_their_order():
    X, y = images()
    order = np.random.default_rng(5).permutation(20)
    plain = CnnClassifier(grid=(4, 5), **QUICK).fit(X, y).predict_proba(X)
    moved = CnnClassifier(grid=(4, 5), cells=order, **QUICK).fit(X[:, order], y)
    np.testing.assert_allclose(moved.predict_proba(X[:, order]), plain, rtol=1e-6)


def test_missing_cells_are_marked():
    X, _ = images()
    rng = np.random.default_rng(0)
    gaps = rng.random(len(X)) < 0.5
    X[gaps, 7] = np.nan
    model = CnnRegressor(grid=(4, 5), epochs=30, units=8, layers=1).fit(X, 10.0 * gaps)
    predicted = model.predict(X)
    assert predicted[gaps].mean() - predicted[~gaps].mean() > 8


@pytest.mark.parametrize(
    ("grid", "match"),
    [
        ((4, 4), r"grid=\(4, 4\) has 16 cells, and the table has 20 columns"),
        (None, "20 columns form no square"),
        ((0, 20), "two whole numbers above 0"),
        ((4.0, 5), "two whole numbers above 0"),
        ("4by5", "two whole numbers above 0"),
        ((2, 2, 5), "two whole numbers above 0"),
        (20, "two whole numbers above 0"),
    ],
)
def test_a_grid_that_does_not_fit_is_refused(grid, match):
    X, y = images()
    with pytest.raises(cw.InputError, match=match):
        cw.learner("cnn", grid=grid, task="binary").fit(X, y)
    with pytest.raises(cw.InputError, match=match):
        CnnClassifier(grid=grid).fit(X, y)


def test_a_grid_can_be_written_as_text():
    X, y = images()
    model = cw.learner("cnn", grid="4x5", task="binary", **QUICK).fit(X, y)
    assert model.estimator_.grid == (4, 5)


def test_categories_and_dates_are_no_cells():
    X, y = images()
    frame = pd.DataFrame(X[:, :3], columns=list("abc")).assign(kind=np.where(y, "x", "z"))
    with pytest.raises(cw.InputError, match="'kind' is not a number") as caught:
        cw.learner("cnn", grid=(2, 2), categories="onehot").fit(frame, X[:, 0])
    assert caught.value.parameter == "grid"
    with pytest.raises(cw.InputError, match="'kind' is not a number"):
        cw.learner("cnn", grid=(2, 2)).fit(frame, X[:, 0])
    day = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(len(frame)) * 5, "D")
    with pytest.raises(cw.InputError, match="'day' is not a number"):
        cw.learner("cnn", grid=(2, 2)).fit(frame.drop(columns="kind").assign(day=day), X[:, 0])
    with pytest.raises(cw.InputError, match="there are categories"):
        CnnRegressor(grid=(4, 5), categorical=[2]).fit(X, y)


def test_a_cell_that_two_columns_claim_is_refused():
    X, y = images()
    with pytest.raises(cw.InputError, match="none twice"):
        CnnRegressor(grid=(4, 5), cells=[0] * 20).fit(X, y)
