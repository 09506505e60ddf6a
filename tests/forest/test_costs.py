import pytest

import clearwood as cw


def test_a_tree_with_costs_is_refused_as_a_forest_with_its_own_reason():
    data = cw.datasets.load("breast_cancer")
    model = cw.learner("tree", max_depth=2, costs=[[0, 1], [8, 0]]).fit(data)
    with pytest.raises(cw.InputError, match="least expected cost"):
        cw.condense(model)
