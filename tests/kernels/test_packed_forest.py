"""Leaves that rows reach in packed trees."""

import numpy as np
import pytest

from clearwood.kernels import PackedForest

# categories of the set, others, and values that are no categories
IN_SET = (1.0, 33.0, 1.9)
OUTSIDE = (0.0, 34.0, 63.0)
UNSEEN = (64.0, 1e12, np.inf, -0.5, -1.0, -np.inf)


def stump(*, missing_left, unseen_left, compare_float32):
    words = np.array([1 << 1, 1 << (33 - 32)], np.uint32)
    return PackedForest(
        roots=np.array([0], np.int32),
        left=np.array([1, -1, -1], np.int32),
        right=np.array([2, -1, -1], np.int32),
        feature=np.array([1, -1, -1], np.int32),
        threshold=np.zeros(3),
        default_left=np.array([missing_left, False, False]),
        zero_missing=np.zeros(3, bool),
        category_start=np.array([0, -1, -1], np.int32),
        category_size=np.array([2, 0, 0], np.int32),
        category_words=words,
        unseen_left=np.array([unseen_left, False, False]),
        value=np.array([[0.0], [10.0], [20.0]]),
        tree_output=np.array([0], np.int32),
        n_features=2,
        n_outputs=1,
        compare_float32=compare_float32,
        add_float32=False,
    )


@pytest.mark.parametrize("missing_left", [True, False])
@pytest.mark.parametrize("unseen_left", [True, False])
@pytest.mark.parametrize("single", [True, False])
@pytest.mark.parametrize("order", ["C", "F"])
def test_categories_go_by_the_set_and_all_else_by_its_rule(
    missing_left, unseen_left, single, order
):
    forest = stump(missing_left=missing_left, unseen_left=unseen_left, compare_float32=single)
    values = np.array([*IN_SET, *OUTSIDE, *UNSEEN, np.nan])
    goes_left = [True] * 3 + [False] * 3 + [unseen_left] * 6 + [missing_left]
    X = np.zeros((13 * 70, 2), np.float32 if single else np.float64, order=order)
    X[:, 1] = np.tile(values, 70)  # more than one lot of rows
    expected = np.where(np.tile(goes_left, 70), 11.0, 21.0)
    np.testing.assert_array_equal(forest.sum(X, base=np.array([1.0])).ravel(), expected)
