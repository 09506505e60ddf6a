import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clearwood as cw
from clearwood.forest.build import CategorySets, Trees, assemble, levels


def grown(rng, n_leaves):
    """Grow a tree at random: left and right children, root first."""
    left, right = [-1], [-1]
    while (len(left) + 1) // 2 < n_leaves:
        leaf = int(rng.choice([node for node, child in enumerate(left) if child < 0]))
        left[leaf], right[leaf] = len(left), len(left) + 1
        left += [-1, -1]
        right += [-1, -1]
    return np.array(left), np.array(right)


def one_tree(*, categories=None, **fields):
    """Make one tree; categories are the words of the sets of its nodes."""
    sets = None
    if categories:
        words = list(categories.values())
        sizes = np.array([len(own) for own in words])
        sets = CategorySets(np.array(list(categories)), sizes, np.concatenate(words))
    return Trees(sizes=[len(fields["left"])], sets=sets, **fields)


def tree(rng, n_leaves):
    left, right = grown(rng, n_leaves)
    n = len(left)
    inner = np.flatnonzero(left >= 0)
    return one_tree(
        left=left,
        right=right,
        feature=rng.integers(0, 3, n),
        threshold=rng.normal(size=n),
        default_left=rng.random(n) < 0.5,
        value=rng.normal(size=(n, 1)),
        cover=rng.random(n),
        categories={int(node): np.array([rng.integers(64)], np.uint32) for node in inner[::3]},
        output=0,
    )


def shuffled(rng, tree, n_unreachable):
    """Number the nodes anew, root first, and put some between them that no path reaches."""
    n = len(tree.left)
    place = np.concatenate([[0], 1 + rng.permutation(n - 1 + n_unreachable)])[:n]
    children = np.append(place, -1)

    def spread(values, fill):
        values = np.asarray(values)
        wide = np.full((n + n_unreachable, *values.shape[1:]), fill, values.dtype)
        wide[place] = values
        return wide

    return one_tree(
        left=spread(children[tree.left], -1),
        right=spread(children[tree.right], -1),
        feature=spread(tree.feature, 0),
        threshold=spread(tree.threshold, 0),
        default_left=spread(tree.default_left, False),
        value=spread(tree.value, np.nan),
        cover=spread(tree.cover, 0),
        categories=dict(zip(place[tree.sets.node], tree.sets.words[:, None], strict=True))
        if tree.sets
        else None,
        output=0,
    )


def forest(trees):
    return assemble(trees, base=np.zeros(1), feature_names=("a", "b", "c"))


@given(st.integers(0, 2**32), st.integers(0, 5))
def test_the_order_of_nodes_and_unreachable_ones_do_not_matter(seed, n_unreachable):
    rng = np.random.default_rng(seed)
    trees = [tree(rng, int(rng.integers(1, 20))) for _ in range(4)]
    # a tree in order keeps it, so the one out of order is compared in depth-first order
    moved = [shuffled(rng, one, n_unreachable) if k % 2 else one for k, one in enumerate(trees)]
    plain, other = forest(trees), forest(moved)
    X = np.column_stack([rng.normal(size=(50, 2)), rng.integers(0, 9, 50)])
    np.testing.assert_array_equal(plain.predict_raw(X), other.predict_raw(X))
    assert (plain.n_nodes, plain.depth) == (other.n_nodes, other.depth)
    np.testing.assert_array_equal(np.sort(plain.cover), np.sort(other.cover))
    sets = (plain.category_words, other.category_words)
    np.testing.assert_array_equal(*map(np.sort, sets))


def test_trees_out_of_order_are_put_into_depth_first_order():
    one = one_tree(
        left=np.array([3, -1, -1, 2, -1]),
        right=np.array([1, -1, -1, 4, -1]),
        feature=np.zeros(5, int),
        threshold=np.arange(5.0),
        default_left=np.zeros(5, bool),
        value=np.arange(5.0),
        cover=np.arange(5.0),
        output=0,
    )
    made = forest([one])
    assert made.cover.tolist() == [0, 3, 2, 4, 1]
    assert (made.left.tolist(), made.right.tolist()) == ([1, 2, -1, -1, -1], [4, 3, -1, -1, -1])


@pytest.mark.parametrize(
    ("left", "right", "words"),
    [
        ([2, 0, 1], [1, 0, 1], "several parents"),  # a cycle
        ([1, 2, -1, -1], [1, 3, -1, -1], "several parents|exactly one"),
        ([5, -1, -1], [1, -1, -1], "children come after|not in the tree"),
        ([2, 5, -1, -1], [1, 3, -1, -1], "children come after|not in the tree"),
        ([], [], "has no nodes"),
    ],
)
def test_arrays_that_are_no_tree_are_refused(left, right, words):
    n = len(left)
    one = one_tree(
        left=np.array(left, int),
        right=np.array(right, int),
        feature=np.zeros(n, int),
        threshold=np.zeros(n),
        default_left=np.zeros(n, bool),
        value=np.zeros((n, 1)),
        cover=np.ones(n),
        output=0,
    )
    for trees in ([one], [tree(np.random.default_rng(0), 3), one]):
        with pytest.raises(cw.InputError, match=words):
            forest(trees)


def test_no_trees_are_refused():
    with pytest.raises(cw.InputError, match="the model has no trees"):
        forest([])


def test_the_first_trees_keep_their_sets():
    rng = np.random.default_rng(0)
    trees = [tree(rng, 8) for _ in range(4)]
    assert forest(Trees.of(trees).first(2)).equals(forest(trees[:2]))
    assert forest(Trees.of(trees).first(None)).equals(forest(trees))


def test_sets_of_categories_hold_their_categories():
    sets = CategorySets.of_categories(
        np.array([0, 1, 2]), np.array([2, 0, 1]), np.array([31, 32, 0])
    )
    assert sets.size.tolist() == [2, 0, 1]
    assert sets.words.tolist() == [1 << 31, 1, 1]


def test_levels_run_from_left_to_right():
    left, right = np.array([2, -1, 4, -1, -1]), np.array([1, -1, 3, -1, -1])
    assert [level.tolist() for level in levels(left, right, np.array([0]))] == [[0], [2, 1], [4, 3]]
