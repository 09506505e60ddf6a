"""Codes of values: every split of a forest is a test of one small integer."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearwood.forest import ZERO, Forest
from clearwood.kernels import Background, Trees, components, path_dependent
from clearwood.kernels import split_codes as module
from clearwood.kernels.split_codes import SplitCodes


def stumps(splits, *, precision="float64", values=None):
    """One tree with one split for each of (feature, threshold or categories, flags)."""
    n = len(splits)
    nodes = 3 * n
    start, size = np.full(nodes, -1, np.int32), np.zeros(nodes, np.int32)
    threshold, words = np.zeros(nodes), []
    flags = {
        name: np.zeros(nodes, bool) for name in ("default_left", "zero_missing", "unseen_left")
    }
    feature = np.full(nodes, -1, np.int32)
    for k, split in enumerate(splits):
        feature[3 * k] = split["feature"]
        for name, flag in flags.items():
            flag[3 * k] = split.get(name, False)
        if "categories" in split:
            bits = np.zeros(32 * split["words"], np.uint8)
            bits[list(split["categories"])] = 1
            packed = np.packbits(bits, bitorder="little").view("<u4")
            start[3 * k], size[3 * k] = len(words), len(packed)
            words.extend(packed)
        else:
            threshold[3 * k] = split["threshold"]
    root = np.arange(0, nodes, 3)
    left, right = np.full(nodes, -1, np.int32), np.full(nodes, -1, np.int32)
    left[root], right[root] = root + 1, root + 2
    value = np.zeros(nodes)
    value[root + 1] = np.arange(1, n + 1) if values is None else values
    cover = np.ones(nodes)
    cover[root] = 2
    return Forest(
        roots=root.astype(np.int32),
        left=left,
        right=right,
        feature=feature,
        threshold=threshold,
        value=value,
        cover=cover,
        base=np.zeros(1),
        feature_names=("a", "b"),
        category_start=start,
        category_size=size,
        category_words=np.array(words, np.uint32),
        tree_output=np.zeros(n, np.int32),
        tree_weight=np.ones(n),
        precision=precision,
        **flags,
    )


def outcomes(splits: SplitCodes, X):
    """Whether each row goes left at each node, by its codes."""
    codes = splits.encode(X)
    result = np.zeros((len(X), len(splits.column)), bool)
    for node in np.flatnonzero(splits.column >= 0):
        code = codes[:, splits.column[node]]
        if splits.set[node] < 0:
            result[:, node] = (code - splits.start[node]) <= splits.width[node]
        else:
            word = splits.words[splits.set[node] + code // 32]
            result[:, node] = (word >> (code % 32).astype(np.uint32)) & 1
    return result


ODD = np.array(
    [
        *[0.0, -0.0, 0.5, 1.0, 1.5, 31.0, 31.999, 32.0, 63.0, 64.0, 1e9, -1.0, -0.5, ZERO, -ZERO],
        *[2 * ZERO, -2 * ZERO, 1e300, -1e300, np.inf, -np.inf, np.nan, 16777216.0, 5.0, 7.0],
    ]
)

split = st.fixed_dictionaries(
    {"feature": st.integers(0, 1), "threshold": st.sampled_from([-1.0, 0.0, 0.1, 5.0, 1e300])},
    optional={
        "categories": st.sets(st.integers(0, 63), max_size=12),
        "default_left": st.booleans(),
        "zero_missing": st.booleans(),
        "unseen_left": st.booleans(),
    },
)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(split, min_size=1, max_size=8),
    st.integers(2, 4),
    st.sampled_from(["float32", "float64"]),
)
def test_codes_send_every_value_the_way_of_the_forest(splits, words, precision):
    made = []
    for k, drawn in enumerate(splits):
        n_words = words - k % 2
        if "categories" in drawn:  # zero is a category there
            fitting = {c for c in drawn["categories"] if c < 32 * n_words}
            made.append(drawn | {"categories": fitting, "words": n_words, "zero_missing": False})
        else:
            made.append(drawn)
    forest = stumps(made, precision=precision)
    X = np.stack([ODD, ODD[::-1]], axis=1)
    result = outcomes(SplitCodes.of(forest), X)
    for node in np.flatnonzero(forest.left >= 0):
        np.testing.assert_array_equal(
            result[:, node], forest.goes_left(int(node), X[:, forest.feature[node]])
        )


def test_a_column_of_categories_has_one_column_of_codes_however_many_sets():
    sets = [{"feature": 0, "categories": {k, 2 * k + 1}, "words": 8} for k in range(100)]
    splits = SplitCodes.of(stumps([*sets, {"feature": 1, "threshold": 0.0}]))
    assert splits.n_columns == 2


def test_classes_that_do_not_fit_one_column_take_more(monkeypatch):
    monkeypatch.setattr(module, "_MOST_THRESHOLDS", 20)
    rng = np.random.default_rng(0)
    sets = [
        {"feature": 0, "categories": set(rng.choice(96, 40, replace=False)), "words": 3}
        for _ in range(12)
    ]
    forest = stumps(sets)
    splits = SplitCodes.of(forest)
    assert splits.n_columns > 1
    assert max(splits.n_classes) <= 20
    X = np.stack([np.arange(-2.0, 100.0)] * 2, axis=1)
    result = outcomes(splits, X)
    for node in np.flatnonzero(forest.left >= 0):
        np.testing.assert_array_equal(result[:, node], forest.goes_left(int(node), X[:, 0]))


@pytest.mark.parametrize("n_categories", [5, 40, 300, 1100, 5000])
@pytest.mark.usefixtures("each_level")
def test_every_instruction_set_finds_the_members_of_sets(n_categories):
    rng = np.random.default_rng(n_categories)
    words = -(-n_categories // 32)
    splits = [
        {
            "feature": 0,
            "categories": set(rng.choice(n_categories, n_categories // 2, replace=False)),
            "words": words,
            "default_left": bool(k % 2),
        }
        for k in range(14)
    ]
    forest = stumps(splits, values=2.0 ** np.arange(14))
    values = np.concatenate([np.arange(-1.0, n_categories + 2), [np.nan]])
    X = np.stack([values, values], axis=1)
    expected = forest.predict_raw(X)
    trees = Trees.of(forest)
    background = Background.of(trees, X)
    result = components(trees, X, background, [(0,)])
    np.testing.assert_allclose(result.values[:, 0, 0] + result.baseline, expected)
    path = path_dependent(trees, X)
    np.testing.assert_allclose(path.values[:, 0, 0] + path.baseline, expected)


def test_classes_beyond_those_of_a_column_are_refused():
    forest = stumps([{"feature": 0, "categories": {1}, "words": 1}])
    trees = Trees.of(forest)
    codes = np.full((3, 1), 40, np.uint16, order="F")
    with pytest.raises(ValueError, match="class that does not exist"):
        trees.kernel.count(codes, np.ones(3), np.zeros(trees.kernel.n_counts), 1)
