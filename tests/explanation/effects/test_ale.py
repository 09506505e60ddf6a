"""Accumulated local effects against their definition, loop by loop."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import clearwood as cw
from clearwood.explanation import Explanation
from clearwood.explanation.effects import effect as effects
from clearwood.explanation.effects.ale import axis_of, level_order
from clearwood.explanation.effects.request import EffectOptions
from clearwood.table import Column, Kind


def measured_effect(model, data, columns, **options):
    """Measure an effect without warnings."""
    names = [columns] if isinstance(columns, str | int) else columns
    return effects.measured_effect(Explanation(model, data), names, EffectOptions(**options))


def brute_first(model, X, k, edges):
    """Definition 7.3.3 as estimated on page 'Calculate ALE plots', then centred."""
    total, at, n_in = 0.0, [0.0], []
    for j in range(1, len(edges)):
        inside = [
            row for row in X if edges[j - 1] < row[k] <= edges[j] or (j == 1 and row[k] == edges[0])
        ]
        differences = []
        for row in inside:
            high, low = row.copy(), row.copy()
            high[k], low[k] = edges[j], edges[j - 1]
            differences.append(model(high[None])[0] - model(low[None])[0])
        total += np.mean(differences)
        at.append(total)
        n_in.append(len(inside))
    at = np.array(at)
    mean = sum(n * (at[j] + at[j + 1]) / 2 for j, n in enumerate(n_in)) / len(X)
    return at, at - mean


def brute_second(model, X, j, k, first, second):
    """The uncentred surface: sums of mean second differences; every cell must have rows."""

    def step(value, edges):
        return max(int(np.searchsorted(edges, value, side="left")) - 1, 0)

    rise = np.zeros((len(first) - 1, len(second) - 1))
    for a in range(rise.shape[0]):
        for b in range(rise.shape[1]):
            found = []
            for row in X:
                if step(row[j], first) == a and step(row[k], second) == b:
                    corners = []
                    for u, v in ((a + 1, b + 1), (a, b + 1), (a + 1, b), (a, b)):
                        made = row.copy()
                        made[j], made[k] = first[u], second[v]
                        corners.append(model(made[None])[0])
                    found.append(corners[0] - corners[1] - (corners[2] - corners[3]))
            rise[a, b] = np.mean(found)
    surface = np.zeros((len(first), len(second)))
    for a in range(1, len(first)):
        for b in range(1, len(second)):
            surface[a, b] = rise[:a, :b].sum()
    return surface


def wavy(X):
    return np.sin(X[:, 0]) * X[:, 1] + X[:, 2] ** 2 * X[:, 0]


@pytest.mark.parametrize("bins", [2, 3, 10])
def test_one_column_is_the_definition(bins):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    X[:, 1] += X[:, 0]
    found = measured_effect(wavy, X, "x0", kind="ale", points=bins, centred=False)
    assert len(found.grid[0]) == bins + 1
    raw, centred = brute_first(wavy, X, 0, found.grid[0])
    np.testing.assert_allclose(found.values, raw, atol=1e-12)
    again = measured_effect(wavy, X, "x0", kind="ale", points=bins)
    np.testing.assert_allclose(again.values, centred, atol=1e-12)
    assert again.evaluations <= 3 * len(X)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 6), min_size=8, max_size=40), st.integers(2, 9))
def test_ties_make_fewer_bins_and_never_an_empty_one(values, bins):
    if len(set(values)) < 2:
        return
    rng = np.random.default_rng(0)
    X = np.column_stack([np.array(values, float), rng.normal(size=(len(values), 2))])
    found = measured_effect(wavy, X, "x0", kind="ale", points=bins, centred=False)
    assert np.isfinite(found.values).all()
    assert (np.diff(found.grid[0]) > 0).all()
    np.testing.assert_allclose(found.values, brute_first(wavy, X, 0, found.grid[0])[0], atol=1e-9)


def test_two_columns_are_the_definition():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 3))
    X[:, 1] += 0.5 * X[:, 0]
    found = measured_effect(wavy, X, ("x0", "x1"), kind="ale", points=3, centred=False)
    expected = brute_second(wavy, X, 0, 1, *found.grid)
    np.testing.assert_allclose(found.values, expected, atol=1e-10)


def test_centred_surface_has_no_first_order_effect_and_no_mean():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 3))
    found = measured_effect(wavy, X, ("x0", "x1"), kind="ale", points=6)
    assert float((found.values * found.shares).sum()) == pytest.approx(0, abs=1e-9)
    # its own first-order effect along x0: mean rise over the rows of each step
    one = np.searchsorted(found.grid[0], X[:, 0], side="left").clip(1) - 1
    two = np.searchsorted(found.grid[1], X[:, 1], side="left").clip(1) - 1
    rise = np.diff(found.values, axis=0)
    middle = (rise[:, 1:] + rise[:, :-1]) / 2
    for a in range(6):
        assert middle[a, two[one == a]].mean() == pytest.approx(0, abs=1e-9)


def test_sums_have_no_interaction():
    X = np.random.default_rng(3).normal(size=(200, 3))
    found = measured_effect(lambda X: X[:, 0] ** 2 + np.exp(X[:, 1]), X, ("x0", "x1"), kind="ale")
    np.testing.assert_allclose(found.values, 0, atol=1e-9)


@pytest.fixture(scope="module")
def normal_pair():
    return np.random.default_rng(4).multivariate_normal([0, 0], [[1, 0.3], [0.3, 1]], 40_000)


def sum_and_product(X):
    return X[:, 0] + X[:, 1] + 2 * X[:, 0] * X[:, 1]


def test_example_23_first_order(normal_pair):
    # The notes write E[1 + X2 | X1] for the slope; the derivative is 1 + 2 X2, and their result,
    # x + 0.3 x squared, is that of the latter.
    found = measured_effect(sum_and_product, normal_pair, "x0", kind="ale", centred=False)
    x = found.grid[0]
    truth = x - x[0] + 0.3 * (x**2 - x[0] ** 2)
    shift = (found.values - truth)[20]  # the outermost step, to the extreme rows, is wide
    inner = np.abs(x) < 2
    np.testing.assert_allclose((found.values - shift)[inner], truth[inner], atol=0.08)
    plain = measured_effect(lambda X: X[:, 0] + X[:, 1], normal_pair, "x0", kind="ale")
    np.testing.assert_allclose(np.diff(plain.values), np.diff(plain.grid[0]), atol=1e-9)


def test_example_24_second_order_has_twice_the_product(normal_pair):
    # The notes give x1 x2 - 0.3 (x1² + x2²); subtracting their own parts leaves 2 x1 x2 - ...
    one = measured_effect(sum_and_product, normal_pair, "x0", kind="ale")
    x = one.grid[0]
    inner = np.abs(x) < 2
    np.testing.assert_allclose(one.values[inner], (x + 0.3 * (x**2 - 1))[inner], atol=0.1)
    two = measured_effect(sum_and_product, normal_pair, ("x0", "x1"), kind="ale", points=40)
    a, b = np.meshgrid(*two.grid, indexing="ij")
    near = (np.abs(a) < 1.5) & (np.abs(b) < 1.5)
    right = 2 * a * b - 0.3 * (a**2 + b**2)
    printed = a * b - 0.3 * (a**2 + b**2)
    assert np.abs(two.values - right)[near].max() < 0.15
    assert np.abs(two.values - printed)[near].max() > 1
    assert one.baseline == pytest.approx(0.6, abs=0.05)


def test_partial_dependence_of_example_24_is_the_marginal_identification(normal_pair):
    X = normal_pair[:5000]
    found = measured_effect(sum_and_product, X, "x0", centred=False, extrapolation=False)
    np.testing.assert_allclose(
        found.values, found.grid[0] * (1 + 2 * X[:, 1].mean()) + X[:, 1].mean()
    )


def test_empty_cells_take_the_nearest_cell_and_are_counted():
    X = np.repeat([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [3.0, 3.0]], 5, axis=0)
    found = measured_effect(lambda X: X[:, 0] * X[:, 1], X, ("x0", "x1"), kind="ale", centred=False)
    # steps are of size one, and every second difference of a product is one
    a, b = np.meshgrid(*found.grid, indexing="ij")
    np.testing.assert_allclose(found.values, a * b)
    assert any("6 of 9 cells have no rows" in note for note in found.notes)


def test_levels_are_ordered_by_likeness_of_the_other_columns():
    rng = np.random.default_rng(5)
    true_order = np.array([2, 0, 3, 1])
    codes = np.repeat(np.arange(4), 100)
    place = np.argsort(true_order)[codes]
    other = Column("o", Kind.NUMBER, place + rng.normal(0, 1.5, 400))
    found = level_order(codes, 4, [other])
    assert found.tolist() in ([2, 0, 3, 1], [1, 3, 0, 2])


def test_levels_use_rows_of_both_neighbours():
    data = {"size": ["S"] * 4 + ["M"] * 4, "w": [1.0, 2, 3, 4, 5, 6, 7, 8]}
    step = {"S": 0.0, "M": 1.0}
    model = lambda X: np.array([step[s] for s in X["size"]]) * X["w"].to_numpy()  # noqa: E731
    found = measured_effect(model, cw.read(data), "size", kind="ale", centred=False)
    rise = dict(zip(found.grid[0], found.values, strict=True))
    assert abs(rise["S"] - rise["M"]) == pytest.approx(4.5)  # the mean of w over all eight


def test_ordered_levels_keep_their_order():
    table = cw.read(
        {"size": ["S", "L", "M", "S", "L", "M"], "w": [1.0, 2, 3, 4, 5, 6]},
        kinds={"size": ["S", "M", "L"]},
    )
    axis = axis_of(table.columns, 0, 10)
    assert axis.values.tolist() == ["S", "M", "L"]


def test_the_effect_of_missing_is_the_difference_to_the_middle():
    X = np.column_stack([np.append(np.linspace(0, 1, 41), [np.nan] * 9), np.zeros(50)])
    model = lambda X: np.where(np.isnan(X[:, 0]), 7.0, 2 * X[:, 0])  # noqa: E731
    found = measured_effect(model, X, "x0", kind="ale", centred=False)
    *numbers, missing = found.values
    middle = np.interp(0.5, found.grid[0][:-1].astype(float), numbers)  # of the median
    assert missing - middle == pytest.approx(7 - 2 * 0.5)


def test_band_of_an_accumulated_effect_covers_the_truth():
    rng = np.random.default_rng(6)
    hits = []
    for seed in range(40):
        X = rng.normal(size=(300, 2))
        found = measured_effect(
            lambda X: X[:, 0] * (1 + X[:, 1]),
            X,
            "x0",
            kind="ale",
            points=6,
            centred=False,
            n_bootstrap=200,
            extrapolation=False,
            seed=seed,
        )
        truth = found.grid[0] - found.grid[0][0]
        hits.append(((found.low <= truth) & (truth <= found.high))[3])
    assert np.mean(hits) > 0.85


# Where it leaves the data


def test_steps_of_a_continuous_column_stay_within_the_data_however_strong_the_association():
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    twins = np.column_stack([x, x + rng.normal(0, 0.01, 400)])
    assert not measured_effect(lambda X: X[:, 0], twins, "x0", kind="ale").extrapolates.any()
    assert measured_effect(lambda X: X[:, 0], twins, "x0", kind="pdp").extrapolates.mean() > 0.5


def test_a_step_to_a_level_that_such_rows_never_have_is_marked():
    rng = np.random.default_rng(0)
    old = np.repeat([0, 1], 200)
    data = {
        "school": np.where(old == 1, "left", "attends").tolist(),
        "age": np.where(old == 1, rng.uniform(40, 80, 400), rng.uniform(6, 15, 400)),
    }
    model = lambda frame: frame["age"].to_numpy() * (frame["school"] == "left").to_numpy()  # noqa: E731
    assert measured_effect(model, data, "school", kind="ale").extrapolates.all()
