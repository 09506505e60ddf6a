"""Whole-number weights are repeated rows, and rows with weight 0 are ignored."""

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


def explained(name):
    """Explain a model over weighted rows and over repeated ones."""
    model, data = (make() for make in MODELS[name])
    return cw.explain(model, data, weights=weights()), cw.explain(model, repeated(data))


@pytest.fixture(params=list(MODELS))
def both(request):
    """Explain every model over weighted rows and over repeated ones."""
    return explained(request.param)


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
    options = {} if kind == "component" else {"n_bootstrap": 0}
    for column in both[0].columns:
        if kind == "component" and both[0].about.is_sampled:
            continue  # drawn rows differ
        weighted, plain = (why.effect(column, kind=kind, points=points, **options) for why in both)
        same_grid(weighted, plain)
        same(weighted, plain, "values", "shares", "outside", "baseline")
        assert (weighted.n_zero_weight, plain.n_zero_weight) == (ZERO, 0)
        assert any(f"{ZERO} rows with weight 0 are ignored" in note for note in weighted.notes)


@pytest.mark.filterwarnings("ignore::clearwood.ClearwoodWarning")
@pytest.mark.parametrize("kind", ["pdp", "ale", "marginal", "supported_pdp"])
def test_surfaces_of_weighted_rows_are_those_of_repeated_rows(both, kind):
    weighted, plain = (why.effect("a", "b", kind=kind, points=5, n_bootstrap=0) for why in both)
    same_grid(weighted, plain)
    same(weighted, plain, "values", "shares", "outside", "baseline")


def strong(frame):
    """Decide which rows are positive."""
    return (frame["a"] * frame["b"] > 0.3).to_numpy()


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        *(("trees", kind) for kind in ("components", "shapley", "variance", "impurity")),
        *(("linear", kind) for kind in ("components", "shapley", "variance", "coefficients")),
        ("function", "variance"),
        ("function of missing values", "variance"),
        ("neighbours", "variance"),
    ],
)
def test_importance_of_weighted_rows_is_that_of_repeated_rows(model, kind):
    weighted, plain = (why.importance(kind=kind, confidence=0.5) for why in explained(model))
    same(weighted, plain, "values")
    assert (weighted.n_zero_weight, plain.n_zero_weight) == (ZERO, 0)


@pytest.mark.parametrize("conditional", [False, True])
def test_shuffling_weighted_rows_is_shuffling_repeated_rows_but_for_chance(conditional):
    data, model = numbers(table()), boosted()
    target = strong(data)
    options = {"kind": "permutation", "repeats": 150, "conditional": conditional}
    weighted = cw.explain(model, data, weights=weights()).importance(y=target, **options)
    long = repeated(data)
    plain = cw.explain(model, long).importance(y=strong(long), **options)
    np.testing.assert_allclose(weighted.values, plain.values, rtol=0.12, atol=0.02)
    assert weighted.n_rows == N_ROWS - ZERO


def test_loco_takes_the_target_of_the_rows_that_count():
    data = numbers(table())
    model = LinearRegression().fit(data, data["a"])
    why = cw.explain(model, data, weights=weights())
    result = why.importance(kind="loco", y=data["a"], folds=3)
    assert result.n_rows == N_ROWS - ZERO
    assert result["a"] > result["b"]


@pytest.mark.filterwarnings("ignore::clearwood.ClearwoodWarning")
def test_lime_of_weighted_rows_is_that_of_repeated_rows(both):
    row = both[0].data.iloc[[3]]
    weighted, plain = (why.lime(row, n_samples=200, repeats=2) for why in both)
    assert weighted.terms == plain.terms
    same(weighted, plain, "coefficients", "standardised", "r2", "effective_rows")
    assert (weighted.n_zero_weight, plain.n_zero_weight) == (ZERO, 0)


def test_a_row_of_zero_weight_can_be_explained_by_its_position(both):
    position = int(np.flatnonzero(weights() == 0)[0])
    row = both[0].data.iloc[[position]]
    by_position, by_value = (both[0].what_if(given, {"b": 0.5}).before for given in (position, row))
    np.testing.assert_allclose(by_position, by_value)


def test_what_if_does_not_depend_on_the_weights(both):
    row = both[0].data.iloc[[3]]
    weighted, plain = (why.what_if(row, {"b": 0.5, "a": 0.1}) for why in both)
    same(weighted, plain, "before", "after", "shares", "alone")


def test_agreement_of_weighted_rows_is_that_of_repeated_rows(both):
    weighted, plain = (why.agreement() for why in both)
    for entry in plain.columns:
        other = weighted[entry.column]
        for name in ("interventional_observational", "interaction", "extrapolates"):
            assert getattr(other, name) == pytest.approx(getattr(entry, name), abs=1e-9), name
        assert other.interacts_with == entry.interacts_with
        assert other.associated_with == entry.associated_with
    assert (weighted.n_zero_weight, plain.n_zero_weight) == (ZERO, 0)


def test_curves_keep_the_labels_of_their_rows():
    frame = numbers(table()).set_index(np.arange(N_ROWS) + 1000)
    why = cw.explain(boosted(), frame, weights=weights())
    expected = 1000 + np.flatnonzero(weights())
    for _ in range(2):  # the second time, the rows are known
        curves = why.effect("a", kind="ice", n_bootstrap=0, extrapolation=False)
        np.testing.assert_array_equal(curves.rows, expected)
        assert why.importance(kind="variance").n_rows == len(expected)
    array = cw.explain(lambda X: X[:, 0], frame.to_numpy(), weights=weights())
    np.testing.assert_array_equal(
        array.effect("x0", kind="ice", n_bootstrap=0, extrapolation=False).rows, expected - 1000
    )
