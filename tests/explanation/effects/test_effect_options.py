"""Effects at the user's own values, within the user's patience, by either way to look outside."""

from contextlib import nullcontext

import numpy as np
import pytest
from numpy.testing import assert_allclose

import clearwood as cw
from clearwood.explanation import Explanation
from clearwood.explanation.effects import effect as effects
from clearwood.explanation.effects.request import EffectOptions
from clearwood.explanation.rows import predictor


def measured_effect(model, data, columns, **options):
    """Measure an effect without warnings."""
    names = [columns] if isinstance(columns, str | int) else columns
    return effects.measured_effect(Explanation(model, data), names, EffectOptions(**options))


@pytest.fixture(scope="module", name="X")
def _matrix():
    return np.random.default_rng(0).normal(size=(300, 3))


def product(X):
    return X[:, 0] ** 2 * X[:, 1] + X[:, 2]


@pytest.mark.parametrize("kind", ["pdp", "ice"])
def test_given_values_are_asked_about_whether_they_occur_or_not(X, kind):
    grid = [1.25, -0.5, 0.0]
    found = cw.effect(product, X, "x0", kind=kind, grid=grid, extrapolation=False)
    assert found.grid[0].tolist() == [-0.5, 0.0, 1.25]
    expected = np.array([0.25, 0.0, 1.5625]) * X[:, 1].mean() + X[:, 2].mean()
    assert_allclose(found.values, expected)
    assert found.shares.sum() == pytest.approx(1)


def test_given_values_are_the_edges_of_an_accumulated_effect(X):
    def bend(X):
        return np.maximum(X[:, 0], 0.0)

    with pytest.warns(cw.ClearwoodWarning, match="beyond the grid of 'x0'"):
        found = cw.effect(bend, X, "x0", kind="ale", grid=[-1, 0, 0.5, 1], centred=False)
    assert_allclose(found.values, [0, 0, 0.5, 1])
    with pytest.warns(cw.ClearwoodWarning, match="beyond the grid"):
        both = cw.effect(product, X, ("x0", "x1"), kind="ale", grid=([-1, 0, 1], [-1, 0.2, 1]))
    assert both.values.shape == (3, 3)


def test_values_beyond_the_data_extrapolate(X):
    with pytest.warns(cw.ClearwoodWarning, match="at 1 of 3 grid points of 'x0'"):
        found = cw.effect(product, X, "x0", grid=[0, 1, 100])
    assert found.outside.tolist()[-1] == 1.0
    assert found.values[-1] == pytest.approx(1e4 * X[:, 1].mean() + X[:, 2].mean())
    supported = cw.effect(product, X, "x0", kind="supported_pdp", grid=[0, 1, 100])
    assert np.isnan(supported.values[-1])


@pytest.mark.parametrize("library", ["pandas", "table"])
@pytest.mark.parametrize("kind", ["pdp", "ale", "marginal"])
def test_given_levels_and_dates(library, kind):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    days = np.datetime64("2024-01-01") + rng.integers(0, 300, 120)
    frame = pd.DataFrame({"town": rng.choice(["a", "b", "c", "d"], 120), "day": days})
    frame["y"] = frame["town"].map({"a": 0, "b": 1, "c": 2, "d": 3}) + 0.01 * np.arange(120)
    data = cw.read(frame, target="y")
    model = cw.learner("tree").fit(data)
    given = data if library == "table" else frame
    options = {"kind": kind, "extrapolation": False, "n_bootstrap": 0}
    with pytest.warns(cw.ClearwoodWarning) if kind == "ale" else nullcontext():
        found = cw.effect(model, given, "town", grid=["c", "a"], **options)
    assert found.grid[0].tolist() == ["c", "a"]
    assert found.values[0] > found.values[1]
    with pytest.warns(cw.ClearwoodWarning) if kind == "ale" else nullcontext():
        dated = cw.effect(model, given, "day", grid=["2024-03-01", "2024-05-01"], **options)
    assert dated.grid[0][1] == np.datetime64("2024-05-01")


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ([1.0], "has 1 values; give at least 2"),
        (["one", "two"], "holds 'one'; it takes numbers"),
        ([0.0, np.nan], "missing or infinite"),
        ("abc", "it is a list of values"),
        (3, "it is a list of values"),
    ],
)
def test_odd_grids_are_refused(X, grid, message):
    with pytest.raises(cw.InputError, match=message):
        cw.effect(product, X, "x0", grid=grid)


def test_odd_grids_of_two_columns_and_of_levels_are_refused(X):
    with pytest.raises(cw.InputError, match="one list of values for each"):
        cw.effect(product, X, ("x0", "x1"), grid=[0, 1])
    data = {"t": ["Bern", "Rom"] * 9, "a": [1.5, 2.5, 0.5] * 6}
    with pytest.raises(cw.InputError, match=r"no level 'bern'.*Bern"):
        cw.effect(lambda X: X["a"], data, "t", grid=["bern", "Rom"])


def along_a_line(n_rows=600):
    rng = np.random.default_rng(2)
    u = rng.uniform(size=n_rows)
    return np.column_stack([u, u]) + rng.normal(0, 0.03, (n_rows, 2))


def test_an_isolation_forest_finds_extrapolation_too():
    X = along_a_line()
    with pytest.warns(cw.ClearwoodWarning, match="lie outside the data; drawn dotted"):
        found = cw.effect(lambda X: X[:, 0], X, "x0", extrapolation="isolation")
    # at the ends, half of the rows made up are far from the line
    assert found.extrapolates[[0, -1]].all()
    free = np.random.default_rng(3).uniform(size=(600, 2))
    found = measured_effect(lambda X: X[:, 0], free, "x0", extrapolation="isolation")
    assert found.extrapolates.mean() < 0.1
    with pytest.raises(cw.InputError, match=r"extrapolation='isolated'.*'isolation'"):
        cw.effect(lambda X: X[:, 0], X, "x0", extrapolation="isolated")


def test_a_surface_of_local_effects_shows_where_it_extrapolates():
    rng = np.random.default_rng(4)
    u = rng.uniform(size=800)
    # the third column follows the sum of the first two, so corners of wide cells leave the data
    X = np.column_stack([u, rng.uniform(size=800), u])
    X[:, 2] += X[:, 1] + rng.normal(0, 0.005, 800)
    with pytest.warns(cw.ClearwoodWarning, match="grid points of 'x0' and 'x1'"):
        found = cw.effect(lambda X: X[:, 0], X, ("x0", "x1"), kind="ale", points=3)
    assert found.extrapolates.any()
    # of columns that go with nothing, only the outermost corners lie outside
    free = measured_effect(lambda X: X[:, 0], rng.uniform(size=(800, 3)), ("x0", "x1"), kind="ale")
    assert free.extrapolates[2:-2, 2:-2].mean() < 0.05


@pytest.mark.parametrize("kind", ["pdp", "ice", "marginal", "ale", "supported_pdp"])
def test_a_time_limit_gives_the_rows_that_are_done(X, kind, monkeypatch):
    monkeypatch.setattr(predictor, "_FIRST", 40)
    monkeypatch.setattr(predictor, "_SECONDS", 1e-9)
    data = np.tile(X, (3, 1))
    with pytest.warns(
        cw.ClearwoodWarning, match=r"time limit of 1e-9 s was reached after \d+ of 900"
    ):
        found = cw.effect(product, data, "x2", kind=kind, time_limit=1e-9, extrapolation=False)
    assert 20 <= found.n_rows < 900
    assert found.low is not None
    assert any("time limit" in note for note in found.notes)
    if kind == "ice":
        assert found.curves.shape[0] == len(found.rows) == found.n_rows


@pytest.mark.parametrize("kind", ["pdp", "ale"])
def test_an_interrupted_effect_gives_the_rows_that_are_done(X, kind, monkeypatch):
    monkeypatch.setattr(predictor, "_EVALUATIONS", 40)  # of a block
    calls = []

    def model(X):
        calls.append(len(X))
        if len(calls) == 4:
            raise KeyboardInterrupt
        return product(X)

    with pytest.warns(cw.ClearwoodWarning, match=r"interrupted after \d+ of 300 rows"):
        found = cw.effect(model, X, "x0", kind=kind, extrapolation=False)
    assert 20 <= found.n_rows < 300


def test_no_time_at_all_is_refused(X):
    with pytest.raises(cw.InputError, match="time_limit=0"):
        cw.effect(product, X, "x0", time_limit=0)


def test_the_baseline_of_an_accumulated_effect_is_the_mean_prediction():
    X = np.random.default_rng(5).standard_t(4, size=(9000, 2))

    def model(X):
        return np.column_stack([X[:, 0] * X[:, 1] + X[:, 0] ** 2, X[:, 1]])

    for columns in ("x0", ("x0", "x1")):
        found = measured_effect(model, X, columns, kind="ale", extrapolation=False)
        assert_allclose(found.baseline, model(X).mean(axis=0), atol=0.05)
        assert found.evaluations < 4.5 * len(X)
