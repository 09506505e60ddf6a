"""Worked examples 23 to 27 of Hiabu (2024), with their misprints corrected."""

import numpy as np
import pytest
from scipy.special import expit

import clearwood as cw
from clearwood.causal import conditions_of


@pytest.fixture(scope="module")
def correlated():
    """Two normal columns with means 0, variances 1 and correlation 0.3 to rounding."""
    drawn = np.random.default_rng(0).normal(size=(20_000, 2))
    drawn -= drawn.mean(axis=0)
    white = drawn @ np.linalg.inv(np.linalg.cholesky(np.cov(drawn.T, ddof=0))).T
    return white @ np.linalg.cholesky(np.array([[1, 0.3], [0.3, 1]])).T


def interacting(X):
    return X[:, 0] + X[:, 1] + 2 * X[:, 0] * X[:, 1]


def test_example_23_accumulated_local_effects_and_partial_dependence(correlated):
    """The derivative is 1 + 2 X₂, whose conditional mean is 1 + 0.6 x₁; the text has 1 + X₂."""
    grid = np.linspace(-2, 2, 41)
    ends = [correlated[:, 0].min(), *grid, correlated[:, 0].max()]
    ale = cw.effect(interacting, correlated, "x0", kind="ale", grid=ends, n_bootstrap=0)
    curve = ale.values[1:-1]
    np.testing.assert_allclose(curve - curve[20], grid + 0.3 * grid**2, atol=0.1)
    pdp = cw.effect(
        interacting, correlated, "x0", grid=[-1, 0, 2], n_bootstrap=0, extrapolation=False
    )
    np.testing.assert_allclose(pdp.values, [-1, 0, 2], atol=1e-9)


def test_example_24_marginal_identification(correlated):
    """The components are m₀ = 0.6, m₁ = x₁ - 0.6 and m₁₂ = 2 x₁ x₂ + 0.6."""
    points = [-1.5, 0.0, 2.0]
    options = {"n_bootstrap": 0, "extrapolation": False}
    one, other = (
        cw.effect(interacting, correlated, name, grid=points, **options) for name in ("x0", "x1")
    )
    both = cw.effect(interacting, correlated, "x0", "x1", grid=(points, points), **options)
    baseline = one.baseline
    assert baseline == pytest.approx(0.6)
    np.testing.assert_allclose(one.values - baseline, np.subtract(points, 0.6), atol=1e-9)
    joint = both.values - one.values[:, None] - other.values[None] + baseline
    np.testing.assert_allclose(joint, 2 * np.outer(points, points) + 0.6, atol=1e-9)
    # centred accumulated local effects share m otherwise; the text has x₁x₂ for 2 x₁x₂
    x, y = np.meshgrid(points, points, indexing="ij")
    shares = 0.6 + (x + 0.3 * (x**2 - 1)) + (y + 0.3 * (y**2 - 1)) + 2 * x * y - 0.3 * (x**2 + y**2)
    np.testing.assert_allclose(shares, interacting(np.stack([x, y], axis=1)), atol=1e-9)


EXAMPLE_25 = cw.SCM(
    {
        "X1": "0.8 * X3 + normal(0, 1)",
        "X2": "X1 + normal(0, 1)",
        "X3": "normal(0, 1)",
        "X4": "X2 - 2 * X3 + normal(0, 1)",
    }
)


def test_example_25_adjustment_and_independences():
    graph = EXAMPLE_25.graph
    assert set(graph.edges) == {("X3", "X1"), ("X1", "X2"), ("X2", "X4"), ("X3", "X4")}
    assert graph.d_separated("X1", "X4", given=["X2", "X3"])
    assert graph.d_separated("X2", "X3", given=["X1"])
    assert not graph.d_separated("X2", "X3")
    assert [tuple(s) for s in graph.adjustment_sets("X1", "X4")] == [("X3",)]
    assert {tuple(s) for s in graph.adjustment_sets("X2", "X4")} == {("X1",), ("X3",)}
    assert [tuple(s) for s in graph.adjustment_sets("X2", "X4", kind="optimal")] == [("X3",)]


def test_example_25_regression_on_a_valid_set_gives_the_effect_of_do():
    rows = EXAMPLE_25.sample(200_000, seed=3)
    columns = {name: rows[name].values for name in rows.names}

    def slope(effect, *causes):
        X = np.column_stack([columns[name] for name in causes])
        return np.linalg.lstsq(X, columns[effect], rcond=None)[0][0]

    truth = np.diff([EXAMPLE_25.do(1000, X2=v)["X4"].values.mean() for v in (0, 1)])[0]
    assert truth == pytest.approx(1)
    assert slope("X4", "X2", "X1") == pytest.approx(truth, abs=0.02)
    assert slope("X4", "X2", "X3") == pytest.approx(truth, abs=0.02)
    assert abs(slope("X4", "X2") - truth) > 0.3
    assert abs(slope("X4", "X1", "X2", "X3")) < 0.02  # X1 ⊥ X4 given X2 and X3


def test_example_26_hidden_causes_within_a_block_do_no_harm():
    """Two of the columns in M share a hidden cause, which needs q ≥ 2; the text has q ≤ 2."""
    graph = cw.Graph("W -> {X1 X2 Y}; {X1 X2} -> Y; X1 <-> X2")
    for columns, others in ((["W"], ["X1", "X2"]), (["X1", "X2"], ["W"])):
        assert all(
            c.holds for c in conditions_of(graph, columns, others, target="Y", claim="world")
        )
    # one column of the block alone: it acts on no other one, so it may share a cause with it
    assert conditions_of(graph, ["X1"], ["X2", "W"])[0].holds


EXAMPLE_27 = cw.SCM(
    {
        "A": 'choice("female", "male")',
        "X": 'normal(160 + 20 * (A == "male"), 10)',
        "Z": "poisson(0.1)",
        "E": "poisson(0.05)",
        "Y": 'Z * (A == "male") + E',
    },
    hidden=["Z", "E"],
)


def mean_of_27(rows):
    return 0.05 + 0.1 * (np.asarray(rows["A"]) == "male")


def test_example_27_height_stands_in_for_gender_in_an_unaware_price():
    """P(male | height) is a logistic curve, with P(A) = 1/2, which the text does not state."""
    rows = EXAMPLE_27.sample(400_000, seed=1)
    height, accidents = rows["X"].values, rows["Y"].values
    for place, price in ((150, 0.0518), (170, 0.1), (190, 0.1482)):
        assert 0.05 + 0.1 * expit(0.2 * (place - 170)) == pytest.approx(price, abs=5e-5)
        near = np.abs(height - place) < 1
        error = accidents[near].std() / np.sqrt(near.sum())
        assert accidents[near].mean() == pytest.approx(price, abs=4 * error)


def test_example_27_direct_effects_and_fair_price():
    rows = EXAMPLE_27.do(4000, seed=2).to_frame("pandas")
    graph = EXAMPLE_27.graph
    height = cw.direct_effect(mean_of_27, rows[["A", "X"]], "X", at=[150, 170, 190], graph=graph)
    np.testing.assert_allclose(height.effect, 0, atol=1e-12)
    assert height.holds is True
    gender = cw.direct_effect(mean_of_27, rows[["A", "X"]], "A", at=["female", "male"], graph=graph)
    assert gender.effect[1] == pytest.approx(0.1)
    assert gender.holds is True
    # the fair price is the partial dependence of height: the same at every height
    np.testing.assert_allclose(height.means, 0.10, atol=0.002)


def test_example_27_has_no_additive_independent_noise():
    """The variance of Y depends on A, so (8.1) fails, while E[Y | do(x, a)] is m(x, a)."""
    groups = {a: EXAMPLE_27.do(100_000, A=a)["Y"].values for a in ("female", "male")}
    assert groups["male"].var() > 2 * groups["female"].var()
    assert groups["male"].mean() == pytest.approx(0.15, abs=0.005)
    assert groups["female"].mean() == pytest.approx(0.05, abs=0.005)


def test_the_constant_of_theorem_8_2_2_is_not_always_the_mean():
    """With S₁ = ∅, S₂ = {s} and m = s r, the constant is -E[s]E[r], not -E[s r]."""
    scm = cw.SCM({"r": "normal(1, 1)", "s": "r + normal(0, 1)"})
    n = 400_000
    drawn = scm.draw(n, 1)
    others = scm.draw(n, (1, 1), {"s": drawn["s"]})["r"]
    constant = -(drawn["s"] * others).mean()
    assert constant == pytest.approx(-1, abs=0.02)
    assert -(drawn["s"] * drawn["r"]).mean() == pytest.approx(-2, abs=0.02)
