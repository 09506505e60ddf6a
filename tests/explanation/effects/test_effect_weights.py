"""Whole-number weights are repeated rows, and rows of zero weight count for nothing."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor

import clearwood as cw

N_ROWS = 90


def table(seed=0):
    """Make numbers that depend on each other, some missing, and a category."""
    rng = np.random.default_rng(seed)
    a = np.round(rng.normal(size=N_ROWS), 2)
    b = np.round(a + rng.normal(size=N_ROWS), 1)
    town = rng.choice(["Bern", "Chur", "Ulm"], N_ROWS, p=[0.5, 0.3, 0.2])
    return pd.DataFrame({"a": a, "b": b, "town": pd.Categorical(town)})


def weights(seed=0):
    """Make weights, some of them zero."""
    return np.random.default_rng(seed + 1).integers(0, 4, N_ROWS)


def repeated(frame):
    """Repeat rows as often as their weight."""
    return frame.iloc[np.repeat(np.arange(N_ROWS), weights())].reset_index(drop=True)


def function(frame):
    """Predict from all columns, with an interaction."""
    a, b = frame["a"].to_numpy(), frame["b"].to_numpy()
    return np.nan_to_num(a) * b + 2.0 * (frame["town"].to_numpy() == "Chur") + b**2


def holes(frame):
    """Leave out some values."""
    return frame.assign(a=frame["a"].where(frame["a"] < 1.2))


def numbers(frame):
    """Keep the columns of numbers."""
    return frame[["a", "b"]]


def boosted():
    """Fit trees to classes."""
    frame = numbers(table())
    model = HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=5)
    return model.fit(frame, frame["a"] * frame["b"] > 0.3)


MODELS = {
    "function": (lambda: function, table),
    "function of missing values": (lambda: function, lambda: holes(table())),
    "trees": (boosted, lambda: numbers(table())),
    "linear": (
        lambda: LinearRegression().fit(numbers(table()), table()["a"] + table()["b"]),
        lambda: numbers(table()),
    ),
    "neighbours": (
        lambda: KNeighborsRegressor().fit(numbers(table()), table()["a"] ** 2),
        lambda: numbers(table()),
    ),
}


@pytest.fixture(params=list(MODELS))
def both(request):
    """Explain a model over weighted rows and over repeated ones."""
    model, data = (make() for make in MODELS[request.param])
    return cw.explain(model, data, weights=weights()), cw.explain(model, repeated(data))


def same(one, two, *names):
    """Compare fields of two results."""
    for name in names:
        for left, right in zip(
            np.atleast_1d(getattr(one, name)), np.atleast_1d(getattr(two, name)), strict=True
        ):
            np.testing.assert_allclose(
                np.asarray(left, float),
                np.asarray(right, float),
                rtol=1e-9,
                atol=1e-9,
                err_msg=name,
            )


def same_grid(one, two):
    """Compare the values at which effects are shown."""
    for left, right in zip(one.grid, two.grid, strict=True):
        assert [str(value) for value in left] == [str(value) for value in right]


ZERO = int((weights() == 0).sum())


@pytest.mark.filterwarnings("ignore::clearwood.ClearwoodWarning")
@pytest.mark.parametrize("points", [None, 6])
@pytest.mark.parametrize("kind", ["pdp", "ale", "marginal", "supported_pdp", "component", "ice"])
def test_effects_of_weighted_rows_are_those_of_repeated_rows(both, kind, points):
    options = {} if kind == "component" else {"bands": 0}
    for column in both[0].columns:
        if kind == "component" and both[0].about.is_sampled:
            continue
        weighted, plain = (why.effect(column, kind=kind, points=points, **options) for why in both)
        same_grid(weighted, plain)
        same(weighted, plain, "values", "shares", "outside", "baseline")
        assert (weighted.n_zero_weight, plain.n_zero_weight) == (ZERO, 0)
        assert any(f"{ZERO} rows have a weight of zero" in note for note in weighted.notes)


@pytest.mark.filterwarnings("ignore::clearwood.ClearwoodWarning")
@pytest.mark.parametrize("kind", ["pdp", "ale", "marginal", "supported_pdp"])
def test_surfaces_of_weighted_rows_are_those_of_repeated_rows(both, kind):
    weighted, plain = (why.effect("a", "b", kind=kind, points=5, bands=0) for why in both)
    same_grid(weighted, plain)
    same(weighted, plain, "values", "shares", "outside", "baseline")
