"""Random forests of every kind, and the means to look at all their cells."""

from itertools import product

import numpy as np
import pytest

from clearwood.condensing.compose.atoms import atoms_of
from clearwood.forest import Forest
from clearwood.forest.build import CategorySets, Trees, assemble

N_CATEGORIES = 5


def one_tree(*, categories=None, **fields):
    """Make one tree; categories are the words of the sets of its nodes."""
    sets = None
    if categories:
        words = list(categories.values())
        sizes = np.array([len(own) for own in words])
        sets = CategorySets(np.array(list(categories)), sizes, np.concatenate(words))
    return Trees(sizes=[len(fields["left"])], sets=sets, **fields)


def random_tree(rng, *, depth, n_features, thresholds, kinds, columns, whole, missing, output=-1):
    """Grow a tree at random; questions may repeat or contradict those above them."""
    left, right, feature, threshold, default, value, sets = [], [], [], [], [], [], {}
    zero, unseen = [], []

    def grow(level):
        node = len(left)
        for column in (left, right, feature):
            column.append(-1)
        threshold.append(0.0)
        default.append(False)
        zero.append(False)
        unseen.append(False)
        drawn = rng.integers(-3, 4, columns) if whole else rng.normal(size=columns)
        value.append(drawn.astype(float))
        if level == depth or rng.random() < 0.2:
            return node
        j = int(rng.integers(n_features))
        feature[node] = j
        default[node] = bool(rng.random() < 0.5) if missing else True
        if kinds[j] == "category":
            member = [c for c in range(N_CATEGORIES) if rng.random() < 0.5]
            sets[node] = np.zeros(-(-int(rng.integers(1, 40)) // 32), np.uint32)
            sets[node][0] = sum(1 << c for c in member)
            unseen[node] = bool(rng.random() < 0.5)
        else:
            threshold[node] = float(rng.choice(thresholds))
            zero[node] = kinds[j] == "zero" and bool(rng.random() < 0.7)
        left[node] = grow(level + 1)
        right[node] = grow(level + 1)
        return node

    grow(0)
    return one_tree(
        left=np.array(left),
        right=np.array(right),
        feature=np.array(feature),
        threshold=np.array(threshold),
        default_left=np.array(default),
        value=np.array(value),
        cover=np.full(len(left), np.nan),
        categories=sets,
        zero_missing=np.array(zero),
        unseen_left=np.array(unseen),
        output=output,
    )


def make_forest(seed, *, task, aggregation="sum", whole=False, missing=True, kinds=None, trees=5):
    """Make a forest: task is "binary", "scores" (two outputs), "classes" (three) or "number"."""
    rng = np.random.default_rng(seed)
    n_features = 3
    kinds = kinds or [str(rng.choice(["number", "number", "category", "zero"])) for _ in range(3)]
    thresholds = np.array([-1.0, -1e-40, 0.0, 0.1, 0.5, 1.0, 2.0])
    columns = {"binary": 1, "number": 1, "scores": 2, "classes": 3}[task]
    per_class = task == "classes" and aggregation == "sum" and bool(rng.random() < 0.5)
    made = [
        random_tree(
            rng,
            depth=int(rng.integers(1, 4)),
            n_features=n_features,
            thresholds=thresholds,
            kinds=kinds,
            columns=1 if per_class else columns,
            whole=whole,
            missing=missing,
            output=t % 3 if per_class else -1,
        )
        for t in range(trees)
    ]
    if aggregation in ("hard vote", "weighted vote") and columns > 1:
        for tree in made:
            tree.value[:] = np.eye(columns)[np.argmax(tree.value, axis=1)]
    classes = {"binary": 2, "number": 0, "scores": 2, "classes": 3}[task]
    return assemble(
        made,
        base=rng.normal(size=columns) * (not whole),
        feature_names=("a", "b", "c"),
        aggregation=aggregation,
        link=str(rng.choice(["logistic", "identity"])) if task == "binary" else "identity",
        precision=str(rng.choice(["float32", "float64"])),
        accumulate=str(rng.choice(["float32", "float64"])) if aggregation == "sum" else "float64",
        classes=np.array(["no", "yes", "maybe"])[:classes] if classes else None,
        zero_is_positive=bool(rng.random() < 0.5),
    )


def all_cells(forest: Forest, *, most=200_000):
    """Give one row for every cell of the whole space."""
    columns = [column.representatives for column in atoms_of(forest).columns]
    assert np.prod([len(values) for values in columns]) <= most
    return np.array(list(product(*columns)))


@pytest.fixture(scope="session")
def any_forest():
    return make_forest


@pytest.fixture(scope="session")
def cells():
    return all_cells
