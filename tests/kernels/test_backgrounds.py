"""Backgrounds that are counted in parts, in other processes, and added."""

import json
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestRegressor

from clearwood import InputError, forest
from clearwood.kernels import Background, Trees, components, interventional, prepared, shapley


def rows_of(n, columns, seed=0):
    return np.random.default_rng(seed).normal(size=(n, columns))


X = rows_of(300, 5)
Y = X[:, 0] * X[:, 1] + np.sin(X[:, 2])
SHALLOW = forest.from_model(RandomForestRegressor(5, max_depth=4, random_state=0).fit(X, Y))
DEEP = forest.from_model(RandomForestRegressor(2, random_state=0).fit(rows_of(300, 20), Y))


def split_at(cuts, rows):
    return np.split(rows, sorted(cuts))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 300), max_size=6))
def test_any_parts_add_up_to_the_same_counts(cuts):
    trees = Trees.of(SHALLOW)
    total = Background.of(trees, X[:0])
    for part in split_at(cuts, X):
        total = total + Background.of(trees, part)
    whole = Background.of(trees, X)
    np.testing.assert_array_equal(total.counts, whole.counts)
    assert (total.n_rows, total.total_weight) == (whole.n_rows, whole.total_weight)


def test_kept_rows_are_put_together_in_order():
    trees = Trees.of(DEEP)
    rows = rows_of(50, 20, seed=1)
    whole = Background.of(trees, rows)
    total = Background.of(trees, rows[:20]) + Background.of(trees, rows[20:])
    assert trees.kernel.needs_rows
    np.testing.assert_array_equal(total.codes, whole.codes)
    np.testing.assert_array_equal(
        interventional(trees, rows[:3], total).values, interventional(trees, rows[:3], whole).values
    )


def test_weights_add_up_within_rounding():
    trees = Trees.of(SHALLOW)
    weights = np.random.default_rng(2).random(300)
    whole = Background.of(trees, X, weights=weights)
    total = Background.of(trees, X[:100], weights=weights[:100]) + Background.of(
        trees, X[100:], weights=weights[100:]
    )
    np.testing.assert_allclose(total.counts, whole.counts, rtol=1e-12)


def test_a_background_goes_through_its_state_to_equal_trees_elsewhere():
    here, there = Trees.of(SHALLOW), pickle.loads(pickle.dumps(Trees.of(SHALLOW)))
    values, arrays = Background.of(there, X).state()
    back = Background.from_state(here, json.loads(json.dumps(values)), arrays)
    expected = interventional(here, X[:5], Background.of(here, X)).values
    np.testing.assert_array_equal(interventional(here, X[:5], back).values, expected)
    doubled = Background.of(here, X) + Background.of(there, X)
    np.testing.assert_array_equal(doubled.counts, 2 * back.counts)


def test_other_trees_or_players_are_refused():
    trees = Trees.of(SHALLOW)
    merged = trees.regrouped(np.array([0, 0, 1, 1, 1], np.int32), 2)
    values, arrays = Background.of(merged, X).state()
    with pytest.raises(InputError, match="counted for other trees"):
        Background.from_state(trees, values, arrays)
    with pytest.raises(InputError, match="cannot be added"):
        Background.of(trees, X) + Background.of(merged, X)
    with pytest.raises(InputError, match="counted for other trees"):
        interventional(trees, X, Background.of(merged, X))


def test_a_background_keeps_few_tables():
    trees = Trees.of(SHALLOW)
    background = Background.of(trees, X)
    for player in range(5):
        for other in range(player):
            components(trees, X[:2], background, [(other, player)])
    assert len(background._tables) <= 8
    again = components(trees, X[:2], background, [(0, 1)]).values
    np.testing.assert_array_equal(
        again, components(trees, X[:2], Background.of(trees, X), [(0, 1)]).values
    )


def test_tables_that_take_too_much_together_make_room(monkeypatch):
    trees = Trees.of(SHALLOW)
    background = Background.of(trees, X)
    first = background.tables()
    monkeypatch.setattr(shapley, "_BYTES_OF_TABLES", first.n_bytes + 1)
    assert background.tables() is first
    assert prepared(background, [(0,)])
    assert background.tables(pairs=True) is background.tables(pairs=True)
    assert background.tables() is not first


def test_medium_trees_keep_their_tables_and_deep_ones_do_not():
    rows = rows_of(3000, 12)
    model = RandomForestRegressor(20, max_leaf_nodes=200, max_features=0.3, random_state=0)
    medium = Trees.of(forest.from_model(model.fit(rows, rows @ np.arange(1, 13))))
    background = Background.of(medium, rows)
    assert background.tables().n_bytes > 16 << 20
    assert background.tables() is background.tables()
    deep = Background.of(Trees.of(DEEP), rows_of(100, 20))
    assert deep.tables() is not deep.tables()
