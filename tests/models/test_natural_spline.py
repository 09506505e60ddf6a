"""The natural cubic spline basis."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from clearwood.models.catalogue.spline.natural_spline import NaturalSpline


def basis_of(x, n_knots=6):
    return NaturalSpline(n_knots=n_knots).fit(x[:, None])


@given(st.integers(0, 1000), st.integers(3, 10))
def test_basis_functions_add_up_to_one_everywhere(seed, n_knots):
    rng = np.random.default_rng(seed)
    basis = basis_of(rng.normal(size=50), n_knots)
    far = np.linspace(-9, 9, 40)[:, None]
    np.testing.assert_allclose(basis.transform(far).sum(axis=1), 1, atol=1e-9)


def test_straight_lines_lie_in_the_span():
    x = np.random.default_rng(0).exponential(size=80)
    basis = basis_of(x)
    far = np.linspace(-5, 20, 60)
    np.testing.assert_allclose(basis.transform(far[:, None]) @ basis.knots_[0], far, atol=1e-9)


def test_curves_are_smooth_and_straight_beyond_the_outer_knots():
    x = np.linspace(0, 1, 50)
    basis, h = basis_of(x), 1e-3

    def second_derivative(at):
        near = basis.transform(np.array([[at - h], [at], [at + h]]))
        return (near[0] - 2 * near[1] + near[2]) / h**2

    np.testing.assert_allclose(second_derivative(1.5), 0, atol=1e-5)
    np.testing.assert_allclose(second_derivative(-0.5), 0, atol=1e-5)
    # continuous across an inner knot and across an outer one
    for knot in (basis.knots_[0][2], 1.0):
        jump = second_derivative(knot + 2 * h) - second_derivative(knot - 2 * h)
        assert np.abs(jump).max() < 5.0
    assert np.abs(second_derivative(basis.knots_[0][2])).max() > 50


def test_coefficients_are_heights_at_the_knots():
    basis = basis_of(np.random.default_rng(0).normal(size=90))
    np.testing.assert_allclose(basis.transform(basis.knots_[0][:, None]), np.eye(6), atol=1e-12)


def test_indicators_stay_as_they_are():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2, 40), rng.normal(size=40), np.ones(40)])
    basis = NaturalSpline(n_knots=4).fit(X)
    assert [len(knots) for knots in basis.knots_] == [0, 4, 0]
    np.testing.assert_array_equal(basis.transform(X)[:, [0, 5]], X[:, [0, 2]])
