"""The forward pass of MARS against least squares on every candidate."""

from itertools import combinations

import numpy as np
import pytest

from clearwood.kernels import HINGE_KINDS, search_hinges

NUMBERS = np.zeros(3, np.int32)


def noisy_product(n=120):
    rng = np.random.default_rng(3)
    X = rng.uniform(size=(n, 3))
    y = 4 * np.maximum(X[:, 0] - 0.4, 0) * (1 + 3 * np.maximum(X[:, 1] - 0.5, 0))
    return X, y + 0.1 * rng.normal(size=n), rng.choice([1.0, 2.0, 3.0], n)


def squares_left(functions, y, weight):
    design, target = np.sqrt(weight)[:, None] * functions, np.sqrt(weight) * y
    return np.sum((target - design @ np.linalg.lstsq(design, target, rcond=None)[0]) ** 2)


def hinges(x, knot):
    return np.column_stack([np.maximum(x - knot, 0), np.maximum(knot - x, 0)])


@pytest.mark.parametrize("degree", [1, 2])
def test_each_step_takes_the_hinges_that_lower_the_sum_of_squares_most(degree):
    X, y, weight = noisy_product()
    search = search_hinges(
        X, y[:, None], weight, levels=NUMBERS, max_terms=7, degree=degree, threshold=0.0,
        min_span=1, end_span=4, max_knots=1000,
    )  # fmt: skip
    values = search.basis.T / np.sqrt(weight)[:, None]
    for last in (1, 3, 5):  # every step of this search adds a pair
        before = values[:, :last]
        least = np.inf
        for parent in range(last):
            column = search.column[parent]
            for j in range(3):
                if search.parent[parent] > 0 or j == column or (degree == 1 and parent > 0):
                    continue
                rows = before[:, parent] != 0
                for knot in np.unique(X[:, j]):
                    sides = [
                        np.sum(weight[rows & side]) for side in (X[:, j] >= knot, X[:, j] < knot)
                    ]
                    if min(sides) < 4:
                        continue
                    pair = before[:, [parent]] * hinges(X[:, j], knot)
                    least = min(least, squares_left(np.hstack([before, pair]), y, weight))
        assert HINGE_KINDS[search.kind[last]] == "up"
        chosen = squares_left(values[:, : last + 2], y, weight)
        assert chosen == pytest.approx(least, rel=1e-9)


def test_the_first_set_of_levels_is_the_best_of_all_sets():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 5, 200).astype(float)
    codes[::20] = np.nan
    y = np.array([0.0, 2.0, -1.0, 2.5, 0.3, 4.0])[np.where(np.isnan(codes), 5, codes).astype(int)]
    y = y + rng.normal(size=200)
    search = search_hinges(
        codes[:, None], y[:, None], np.ones(200), levels=np.array([5], np.int32), max_terms=3,
        end_span=1,
    )  # fmt: skip
    known = np.where(np.isnan(codes), 5, codes)
    left = {
        chosen: squares_left(
            np.column_stack([np.ones(200), np.isin(known, chosen)]), y, np.ones(200)
        )
        for size in (1, 2, 3)
        for chosen in combinations(range(6), size)
    }
    best = min(left, key=left.get)
    assert HINGE_KINDS[search.kind[1]] == "levels"
    assert set(np.flatnonzero(search.subset[1])) in (set(best), set(range(6)) - set(best))


def test_the_number_of_threads_does_not_change_a_bit():
    X, y, weight = noisy_product(400)
    one, three = (
        search_hinges(X, y[:, None], weight, levels=NUMBERS, max_terms=21, degree=3, n_jobs=n)
        for n in (1, 3)
    )
    np.testing.assert_array_equal(one.basis, three.basis)


def test_wrong_shapes_and_codes_are_refused():
    X, y, weight = noisy_product()
    with pytest.raises(ValueError, match="shapes of the input"):
        search_hinges(X, y[:-1, None], weight, levels=NUMBERS, max_terms=3)
    with pytest.raises(ValueError, match="a code is not a level"):
        search_hinges(X + 1, y[:, None], weight, levels=np.ones(3, np.int32), max_terms=3)
