"""Random forests of every kind, against a walker that follows one row at a time."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearwood.forest import ZERO, goes_left, raw_of_leaves, rounded
from clearwood.forest.build import CategorySets, Trees, assemble
from clearwood.kernels import _core

N_FEATURES = 4


@pytest.fixture(params=_core.supported_levels())
def level(request):
    before = _core.level()
    _core.use_level(request.param)
    yield request.param
    _core.use_level(before)


def reference_apply(forest, X):
    """Return the leaf of each row in each tree, in plain NumPy."""
    X = rounded(forest, X)
    leaves = np.empty((len(X), forest.n_trees), np.int32)
    for tree, root in enumerate(forest.roots):
        node = np.full(len(X), root, np.intp)
        rows = np.flatnonzero(~forest.is_leaf[node])
        while len(rows):
            at = node[rows]
            left = goes_left(forest, at, X[rows, forest.feature[at]])
            node[rows] = np.where(left, forest.left[at], forest.right[at])
            rows = rows[~forest.is_leaf[node[rows]]]
        leaves[:, tree] = node
    return leaves


def reference_raw(forest, X):
    """Return the raw prediction in plain NumPy, in the order and precision of the library."""
    raw = raw_of_leaves(forest, reference_apply(forest, X))
    return raw[:, 0] if forest.n_outputs == 1 else raw


def one_tree(*, categories=None, **fields):
    """Make one tree; categories are the words of the sets of its nodes."""
    sets = None
    if categories:
        words = list(categories.values())
        sizes = np.array([len(own) for own in words])
        sets = CategorySets(np.array(list(categories)), sizes, np.concatenate(words))
    return Trees(sizes=[len(fields["left"])], sets=sets, **fields)


def random_tree(rng, n_leaves, *, n_values, output):
    """Split leaves at random until there are enough."""
    left, right = [-1], [-1]
    while (len(left) + 1) // 2 < n_leaves:
        leaf = int(rng.choice([i for i, child in enumerate(left) if child < 0]))
        left[leaf], right[leaf] = len(left), len(left) + 1
        left += [-1, -1]
        right += [-1, -1]
    n = len(left)
    pool = [0.0, -0.0, 1.0, -1.0, 0.1, 2.0, ZERO, -ZERO, np.inf, -np.inf, 1e300, 1 + 1e-12]
    categories = {
        node: rng.integers(0, 2**32, rng.integers(1, 3), dtype=np.uint32)
        for node in range(n)
        if left[node] >= 0 and rng.random() < 0.2
    }
    return one_tree(
        left=np.array(left),
        right=np.array(right),
        feature=rng.integers(0, N_FEATURES, n),
        threshold=rng.choice(pool, n),
        default_left=rng.random(n) < 0.5,
        value=rng.normal(size=(n, n_values)),
        cover=np.ones(n),
        categories=categories,
        unseen_left=rng.random(n) < 0.5,
        zero_missing=[rng.random() < 0.2 and node not in categories for node in range(n)],
        output=output,
        weight=float(rng.random()),
    )


def random_forest(seed, *, precision, accumulate, shared, aggregation="sum"):
    rng = np.random.default_rng(seed)
    n_outputs = int(rng.integers(1, 4))
    trees = [
        random_tree(
            rng,
            int(rng.choice([1, 2, 7, 31, 32, 33, 70])),
            n_values=n_outputs if shared else 1,
            output=-1 if shared else int(t % n_outputs),
        )
        for t in range(int(rng.integers(n_outputs, 6)))
    ]
    return assemble(
        trees,
        base=rng.normal(size=n_outputs),
        feature_names=tuple("abcd"),
        precision=precision,
        accumulate=accumulate,
        aggregation=aggregation,
    )


def random_rows(seed, n):
    rng = np.random.default_rng(seed)
    pool = [0.0, -0.0, 1.0, -1.0, 0.1, 2.0, ZERO, 1e-36, -1e-36, 1e-34, np.nan, np.inf, -np.inf]
    pool += [1e300, 1 + 1e-12, 1 - 1e-12, 5.0, 31.0, 32.0, 40.5, 63.0, 64.0, 1e9, -3.0]
    return rng.choice(pool, (n, N_FEATURES))


def walk(forest, x):
    """Follow one row through every tree, question by question."""
    leaves = []
    for root in forest.roots.tolist():
        node = root
        while forest.left[node] >= 0:
            value = float(x[forest.feature[node]])
            if forest.precision == "float32":
                with np.errstate(over="ignore"):
                    value = float(np.float32(value))
            if math.isnan(value) or (forest.zero_missing[node] and abs(value) <= ZERO):
                left = forest.default_left[node]
            elif forest.category_start[node] >= 0:
                if 0 <= value < 32 * forest.category_size[node]:
                    left = int(value) in forest.category_set(node)
                else:
                    left = forest.unseen_left[node]
            else:
                left = value <= forest.threshold[node]
            node = int(forest.left[node] if left else forest.right[node])
        leaves.append(node)
    return leaves


def add_up(forest, leaves):
    number = np.float32 if forest.accumulate == "float32" else np.float64
    total = [number(base) for base in forest.base]
    for tree, leaf in enumerate(leaves):
        weight = number(forest.tree_weight[tree])
        for k in range(forest.n_outputs):
            if forest.tree_output[tree] in (-1, k):
                column = k if forest.tree_output[tree] < 0 else 0
                total[k] = total[k] + number(forest.value[leaf, column]) * weight
    return [float(t) / d for t, d in zip(total, forest.divisor, strict=True)]


PRECISION = st.sampled_from(["float32", "float64"])


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    precision=PRECISION,
    accumulate=PRECISION,
    shared=st.booleans(),
    aggregation=st.sampled_from(["sum", "mean"]),
)
def test_the_reference_follows_each_row_question_by_question(
    seed, precision, accumulate, shared, aggregation
):
    forest = random_forest(
        seed, precision=precision, accumulate=accumulate, shared=shared, aggregation=aggregation
    )
    X = random_rows(seed, 12)
    leaves = [walk(forest, x) for x in X]
    np.testing.assert_array_equal(reference_apply(forest, X), leaves)
    expected = np.array([add_up(forest, row) for row in leaves])
    raw = reference_raw(forest, X).reshape(expected.shape)
    np.testing.assert_array_equal(raw, expected)


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("accumulate", ["float32", "float64"])
@pytest.mark.parametrize("shared", [True, False])
def test_the_kernel_agrees_with_the_reference(level, precision, accumulate, shared):
    for seed in range(12):
        forest = random_forest(seed, precision=precision, accumulate=accumulate, shared=shared)
        X = random_rows(seed, int(np.random.default_rng(seed).choice([1, 63, 64, 65, 700])))
        np.testing.assert_array_equal(forest.apply(X), reference_apply(forest, X))
        np.testing.assert_array_equal(forest.predict_raw(X), reference_raw(forest, X))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_memory_order_and_input_precision_do_not_matter(order, dtype):
    forest = random_forest(5, precision="float32", accumulate="float64", shared=True)
    X = np.where(np.isin(np.abs(random_rows(5, 300)), 1e300), 0.0, random_rows(5, 300))
    expected = reference_raw(forest, X.astype(dtype).astype(np.float64))
    given = np.asarray(X.astype(dtype), order=order)
    np.testing.assert_array_equal(forest.predict_raw(given), expected)
    np.testing.assert_array_equal(forest.predict_raw(given[::3]), expected[::3])


def test_threads_do_not_change_a_bit():
    forest = random_forest(7, precision="float64", accumulate="float32", shared=False)
    X = random_rows(7, 30_000)
    np.testing.assert_array_equal(forest.predict_raw(X, n_jobs=3), forest.predict_raw(X))
    np.testing.assert_array_equal(forest.apply(X, n_jobs=3), forest.apply(X))


def test_no_rows_give_no_predictions():
    forest = random_forest(3, precision="float64", accumulate="float64", shared=True)
    assert forest.predict_raw(np.empty((0, N_FEATURES))).shape[0] == 0
    assert forest.apply(np.empty((0, N_FEATURES))).shape == (0, forest.n_trees)


def test_leaf_values_add_up_to_the_raw_prediction():
    for aggregation in ("sum", "mean"):
        forest = random_forest(
            11, precision="float64", accumulate="float64", shared=False, aggregation=aggregation
        )
        X = random_rows(11, 50)
        total = forest.base / forest.divisor + forest.leaf_value[forest.apply(X)].sum(axis=1)
        raw = forest.predict_raw(X).reshape(total.shape)
        np.testing.assert_allclose(raw, total, rtol=1e-12)
