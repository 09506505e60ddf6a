"""Scores as sums of products and trees."""

import numpy as np

from clearwood.models import ProductTerm, ScoreParts, SumOfProducts, TreeArrays


def powers(values):
    return np.column_stack([values, values**2])


def test_products_of_three_columns_agree_with_their_definition():
    rng = np.random.default_rng(0)
    matrix, coefficients = rng.normal(size=(7, 3)), rng.normal(size=(2, 2, 2, 3))
    term = ProductTerm((2, 0, 1), (powers, powers, powers), coefficients)
    expected = np.zeros((7, 3))
    for i, j, k in np.ndindex(2, 2, 2):
        product = matrix[:, 2] ** (i + 1) * matrix[:, 0] ** (j + 1) * matrix[:, 1] ** (k + 1)
        expected += product[:, None] * coefficients[i, j, k]
    np.testing.assert_allclose(term(matrix), expected)


def test_trees_add_to_products():
    stump = TreeArrays(
        roots=np.array([0], np.int32),
        left=np.array([1, -1, -1], np.int32),
        right=np.array([2, -1, -1], np.int32),
        feature=np.array([1, -1, -1], np.int32),
        threshold=np.array([0.5, 0.0, 0.0]),
        default_left=np.array([True, False, False]),
        value=np.array([[0.0], [10.0], [20.0]]),
        cover=np.array([3.0, 2.0, 1.0]),
        tree_output=np.array([1], np.int32),
        n_features=2,
        n_outputs=2,
    )
    line = ProductTerm((0,), (powers,), np.array([[1.0, 0.0], [0.0, 1.0]]))
    score = ScoreParts(SumOfProducts(np.array([1.0, 2.0]), (line,)), stump)
    matrix = np.array([[3.0, 0.5], [2.0, 0.6], [1.0, np.nan]])
    np.testing.assert_array_equal(score(matrix), [[4.0, 21.0], [3.0, 26.0], [2.0, 13.0]])
