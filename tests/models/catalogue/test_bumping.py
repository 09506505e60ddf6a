"""Bumping: the best of trees grown on bootstrap samples."""

import numpy as np
import pytest

import clearwood as cw
from clearwood import InputError
from clearwood.models.catalogue.trees.estimators import CartClassifier, CartRegressor
from clearwood.models.catalogue.trees.pruning import bump
from clearwood.models.catalogue.trees.tree import Growth, Presorted, TreeSample
from clearwood.models.shared.folds import Folds


def checkerboard(n=300, seed=0):
    """Return rows whose columns matter only together."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 5))
    return X, (X[:, 0] * X[:, 1] > 0) + rng.normal(size=n) / 5


def test_columns_that_matter_only_together_are_split():
    X, y = checkerboard(400)
    plain = CartRegressor(min_samples_leaf=20).fit(X[:200], y[:200])
    bumped = CartRegressor(min_samples_leaf=20, samples=20).fit(X[:200], y[:200])
    errors = [np.mean((model.predict(X[200:]) - y[200:]) ** 2) for model in (plain, bumped)]
    assert errors[1] < 0.5 * errors[0]
    assert bumped.sample_ > 0
    assert set(bumped.tree_.nodes["column"].tolist()) == {-1, 0, 1}


@pytest.mark.parametrize("seed", range(4))
def test_the_tree_kept_fits_no_worse_than_the_tree_of_the_rows(seed):
    X, y = checkerboard(120, seed)
    options = {"min_samples_leaf": 5, "max_depth": 3, "prune": False}
    losses = [
        np.mean((CartRegressor(samples=samples, **options).fit(X, y).predict(X) - y) ** 2)
        for samples in (0, 5, 30)
    ]
    assert losses == sorted(losses, reverse=True)


def test_the_size_is_cross_validated_with_the_search_in_every_fold():
    X, y = checkerboard(90)
    growth, ones = Growth("squared", min_samples_leaf=5), np.ones(len(y))

    def searched(rows, n_leaves):
        """Search among the samples of some rows, tree by tree."""
        rng = np.random.default_rng(0)
        times = [np.bincount(rows, minlength=len(y))]
        times += [np.bincount(rng.choice(rows, len(rows)), minlength=len(y)) for _ in range(6)]
        best = None
        for drawn in times:
            tree = Presorted(X).grow(growth, y, ones * drawn, ones * drawn)
            levels = np.unique(np.append(tree.levels()[~tree.is_leaf], 0.0))
            pruned = (tree.pruned(level) for level in levels)
            small = next(one for one in pruned if one.is_leaf.sum() <= n_leaves)
            loss = ((small.value[small.leaves(X[rows]), 0] - y[rows]) ** 2).sum()
            if best is None or loss < best[0] - 1e-9:
                best = (loss, small)
        return best[1]

    model = CartRegressor(min_samples_leaf=5, samples=6, folds=3).fit(X, y)
    expected = np.zeros(len(model.risks_))
    for train, test in Folds(3).split(X, y):
        for at in range(len(expected)):
            tree = searched(train, at + 1)
            expected[at] += ((tree.value[tree.leaves(X[test]), 0] - y[test]) ** 2).sum()
    np.testing.assert_allclose(model.risks_, expected / len(y), rtol=1e-9)
    best = searched(np.arange(len(y)), int(np.argmin(expected)) + 1)
    np.testing.assert_allclose(model.predict(X), best.value[best.leaves(X), 0])


def test_without_pruning_no_fold_is_used():
    X, y = checkerboard(60)
    sample = TreeSample(X, Presorted(X), y, np.ones(60), np.ones(60), Growth("squared"))
    losses = CartRegressor().fit(X, y)._losses
    assert bump(sample, losses, iter(()), samples=2, prune=False, seed=0).risks.size == 0


@pytest.mark.parametrize("labels", [2, 3])
def test_classes_are_compared_by_their_brier_score(labels):
    X, y = checkerboard(200)
    y = np.digitize(y, [0.3, 0.7][: labels - 1])
    model = CartClassifier(samples=5, min_samples_leaf=5, prune="one-se").fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_the_learner_is_one_tree_that_is_read_exactly(tmp_path):
    X, y = checkerboard(200)
    X[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
    model = cw.learner("bumping", samples=5, seed=3).fit(X, y)
    assert cw.forest.from_model(model).n_trees == 1
    np.testing.assert_array_equal(cw.forest.from_model(model).predict(X), model.predict(X))
    assert cw.explain(model, X[:40]).is_exact
    cw.save(model, path := tmp_path / "bumping.cw")
    np.testing.assert_array_equal(cw.load(path).predict(X), model.predict(X))
    again = cw.learner("bumping", samples=5, seed=3).fit(X, y)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    with pytest.raises(InputError, match="samples=-1"):
        cw.learner("bumping", samples=-1).fit(X, y)
