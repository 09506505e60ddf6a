"""The kernel of single trees refuses arrays that do not fit together."""

import numpy as np
import pytest

from clearwood.kernels import cart_leaves, grow_cart, weakest_links


def arguments(**changed):
    columns = np.array([[1.0, 2.0, 5.0, 6.0], [0.0, 1.0, 1.0, np.nan]])
    given = {
        "columns": columns,
        "order": np.argsort(columns, axis=1).astype(np.int32),
        "n_levels": np.array([0, 2], np.int32),
        "monotone": np.zeros(2, np.int8),
        "surrogates": np.zeros(2, bool),
        "target": np.array([0.0, 0.0, 1.0, 1.0]),
        "weight": np.ones(4),
        "cover": np.ones(4),
        "criterion": "squared",
        "costs": np.empty((0, 0)),
        "n_classes": 0,
        "prior_mean": 0.0,
        "prior_weight": 0.0,
        "max_depth": -1,
        "min_rows": 1,
        "max_surrogates": 0,
        "max_subset_levels": 10,
    }
    return {**given, **changed}


def test_the_best_split_is_halfway_between_values():
    grown = grow_cart(**arguments())
    assert grown["nodes"]["threshold"][0] == 3.5
    assert grown["nodes"]["value"].tolist() == [0.5, 0.0, 1.0]


@pytest.mark.parametrize(
    ("changed", "match"),
    [
        ({"order": np.zeros((2, 3), np.int32)}, "order"),
        ({"order": np.full((2, 4), 9, np.int32)}, "unknown row"),
        ({"order": np.zeros((2, 4), np.int32)}, "met twice"),
        ({"n_levels": np.array([0, 1], np.int32)}, "unknown category"),
        ({"n_levels": np.zeros(3, np.int32)}, "each column"),
        ({"target": np.zeros(3)}, "each row"),
        ({"cover": np.zeros(4)}, "no row has a weight"),
        ({"n_classes": 1, "criterion": "gini"}, "unknown class"),
        ({"criterion": "gain"}, "criterion"),
        ({"criterion": "gamma"}, "not above zero"),
        ({"n_classes": 2, "costs": np.zeros((3, 3))}, "pair of classes"),
        ({"max_subset_levels": 40}, "subsets"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(changed, match):
    with pytest.raises(ValueError, match=match):
        grow_cart(**arguments(**changed))


def test_rows_of_another_width_are_refused():
    grown = grow_cart(**arguments())
    parts = {"nodes": grown["nodes"], "surrogates": grown["surrogates"], "words": grown["words"]}
    assert cart_leaves(np.array([[3.0, 0.0], [4.0, 0.0]]), **parts).tolist() == [1, 2]
    with pytest.raises(ValueError, match="unknown column"):
        cart_leaves(np.empty((2, 0)), **parts)


def test_weakest_links_need_a_tree():
    leaf, two = np.array([1, -1, -1], np.int32), np.array([2, -1, -1], np.int32)
    assert weakest_links(leaf, two, np.array([5.0, 1.0, 1.0]))[0] == 3.0
    with pytest.raises(ValueError, match="after their parent"):
        weakest_links(np.array([0, -1, -1], np.int32), two, np.zeros(3))
    for wrong in ([np.nan, 1.0, 1.0], [np.inf, 1.0, 1.0], [2.0, np.inf, 1.0]):
        with pytest.raises(ValueError, match="not a number"):
            weakest_links(leaf, two, np.array(wrong))
