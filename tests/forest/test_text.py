import itertools
from pathlib import Path

import numpy as np
import pytest

import clearwood as cw

PUBLISHED = Path(__file__).parents[3] / "shared" / "data" / "born_again" / "forests"

TEXT = """DATASET_NAME: toy.csv
ENSEMBLE: RF
NB_TREES: 3
NB_FEATURES: 2
NB_CLASSES: 3
MAX_TREE_DEPTH: 2
Format: node / node type ...

[TREE 0]
NB_NODES: 5
0 IN 1 4 1 5.5 0 -1
1 IN 2 3 0 0.5 1 -1
2 LN -1 -1 -1 -1 2 0
3 LN -1 -1 -1 -1 2 2
4 LN -1 -1 -1 -1 1 1

[TREE 1]
NB_NODES: 3
0 IN 1 2 0 1.5 0 -1
1 LN -1 -1 -1 -1 1 2
2 LN -1 -1 -1 -1 1 0

[TREE 2]
NB_NODES: 1
0 LN -1 -1 -1 -1 0 1
"""


def written(tmp_path, text):
    path = tmp_path / "forest.txt"
    path.write_text(text)
    return path


def test_most_votes_win_and_ties_go_to_the_smaller_class(tmp_path):
    forest = cw.forest.read_text(written(tmp_path, TEXT))
    X = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 5.5], [2.0, 6.0]])
    np.testing.assert_allclose(
        forest.predict_raw(X) * 3, [[1, 1, 1], [0, 1, 2], [1, 1, 1], [1, 2, 0]]
    )
    assert forest.predict(X).tolist() == [0, 2, 0, 1]
    assert forest.aggregation == "hard vote"
    assert not forest.has_cover


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("NB_TREES: 3", "NB_TREES: 4", "announces 4 trees but has 3"),
        ("NB_CLASSES: 3", "", "no line 'NB_CLASSES: <number>'"),
        ("0 IN 1 2 0 1.5 0 -1", "0 IN 1 2 0", "line 19 .* is not a node"),
        ("1 LN -1 -1 -1 -1 1 2", "1 LN -1 -1 -1 -1 1 3", "votes for class 3 of 3"),
        ("0 IN 1 4 1 5.5 0 -1", "0 IN 1 9 1 5.5 0 -1", r"children \(1, 9\) of 5"),
        ("0 IN 1 4 1 5.5 0 -1", "0 IN 1 4 2 5.5 0 -1", "column 2; the model has 2"),
    ],
)
def test_files_that_are_wrong_say_where(old, new, words, tmp_path):
    with pytest.raises(cw.InputError, match=words):
        cw.forest.read_text(written(tmp_path, TEXT.replace(old, new)))


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(cw.InputError, match="cannot read"):
        cw.forest.read_text(tmp_path / "none.txt")


def walk_lines(lines, x):
    node = 0
    while lines[node][1] == "IN":
        left, right, feature, threshold = lines[node][2:6]
        node = int(left if x[int(feature)] <= float(threshold) else right)
    return int(lines[node][7])


def random_text(seed, n_trees=10, n_features=5, n_classes=3, depth=3):
    """Write a forest of random trees in the form of the published ones."""
    rng = np.random.default_rng(seed)
    lines = ["DATASET_NAME: random.csv", "ENSEMBLE: RF", f"NB_TREES: {n_trees}"]
    lines += [f"NB_FEATURES: {n_features}", f"NB_CLASSES: {n_classes}", f"MAX_TREE_DEPTH: {depth}"]
    lines.append("Format: node / node type ...")
    for k in range(n_trees):
        nodes = []
        waiting = [0]
        for node in itertools.count():
            if node == len(waiting):
                break
            level = waiting[node]
            if level < depth and rng.random() < 0.8:
                left = len(waiting)
                waiting += [level + 1] * 2
                cut = rng.integers(0, 10) + 0.5
                feature = rng.integers(n_features)
                nodes.append(f"{node} IN {left} {left + 1} {feature} {cut} {level} -1")
            else:
                nodes.append(f"{node} LN -1 -1 -1 -1 {level} {rng.integers(n_classes)}")
        lines += ["", f"[TREE {k}]", f"NB_NODES: {len(nodes)}", *nodes]
    return "\n".join(lines) + "\n"


def assert_votes_as_its_lines_say(path):
    forest = cw.forest.read_text(path)
    assert (forest.n_trees, forest.depth) == (10, 3)
    blocks = path.read_text().split("[TREE")[1:]
    trees = [[line.split() for line in block.splitlines()[2:] if line] for block in blocks]
    X = np.random.default_rng(0).integers(-1, 10, (200, forest.n_features)).astype(float)
    for x, raw, label in zip(X, forest.predict_raw(X), forest.predict(X), strict=True):
        votes = [walk_lines(tree, x) for tree in trees]
        count = [votes.count(c) for c in range(forest.n_outputs)]
        np.testing.assert_allclose(raw * 10, count)
        assert label == count.index(max(count))
    assert not list(itertools.filterfalse(np.isfinite, forest.threshold))


@pytest.mark.parametrize("seed", range(3))
def test_random_forests_vote_as_their_lines_say(seed, tmp_path):
    assert_votes_as_its_lines_say(written(tmp_path, random_text(seed)))


@pytest.mark.skipif(not PUBLISHED.exists(), reason="the published forests are not here")
@pytest.mark.parametrize("name", ["Seeds.RF1", "FICO.RF2", "HTRU2.RF3"])
def test_published_forests_vote_as_their_lines_say(name):
    assert_votes_as_its_lines_say(PUBLISHED / f"{name}.txt")
