"""The best tree of two or three levels, against every tree there is."""

from functools import cache

import numpy as np
import pytest

import clearwood as cw
from clearwood import InputError
from clearwood.models.catalogue.trees import optimal
from clearwood.models.catalogue.trees.estimators import CartClassifier, CartRegressor
from clearwood.models.catalogue.trees.tree import Growth, Presorted, TreeSample


def table(n=60, seed=0, n_classes=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (n, 3)).astype(float)
    y = (X[:, 0] > 1) * (X[:, 1] > 1) + 0.3 * (X[:, 2] == 2) + rng.normal(size=n) / 3
    X[rng.random(X.shape) < 0.1] = np.nan
    if n_classes:
        y = np.digitize(y, [0.2, 0.7][: n_classes - 1]).astype(float)
    return X, y, rng.uniform(0.5, 2.0, n)


def sample_of(X, y, weight, n_classes=0, least=4, criterion="squared"):
    growth = Growth("gini" if n_classes else criterion, n_classes, min_samples_leaf=least)
    return TreeSample(X, Presorted(X, categorical=(2,)), y, weight, weight, growth)


def least_risk(sample, depth):
    """Try every tree over the same questions."""
    rows = np.arange(len(sample.target))
    questions = optimal._useful_questions(sample, rows, 0)
    left = np.array([optimal._goes_left(sample, rows, question)[0] for question in questions])

    @cache
    def search(inside, levels):
        rows = np.array(inside)
        best = optimal._leaf(sample, rows)[1]
        if levels == 0:
            return best
        for side in left:
            parts = rows[side[rows]], rows[~side[rows]]
            if min(map(len, parts)) >= sample.growth.min_samples_leaf:
                best = min(best, sum(search(tuple(part.tolist()), levels - 1) for part in parts))
        return best

    return search(tuple(rows.tolist()), depth)


@pytest.mark.parametrize(
    ("n_classes", "criterion"),
    [(0, "squared"), (0, "poisson"), (0, "tweedie"), (0, "gamma"), (3, "gini")],
)
@pytest.mark.parametrize("depth", [2, 3])
def test_no_tree_of_its_questions_has_less_risk(n_classes, criterion, depth):
    X, y, weight = table(n_classes=n_classes)
    if criterion in ("poisson", "tweedie"):
        y = np.maximum(y, 0.0)
    elif criterion == "gamma":
        y = np.exp(y)
    sample = sample_of(X, y, weight, n_classes, criterion=criterion)
    rows = np.arange(len(y))
    tree = optimal.best_tree(sample, rows, depth, seed=0)
    assert tree.nodes["risk"][tree.is_leaf].sum() == pytest.approx(least_risk(sample, depth))
    # what the arrays claim is what rows that walk down give
    leaves = tree.leaves(X)
    risk = sum(optimal._leaf(sample, rows[leaves == leaf])[1] for leaf in np.unique(leaves))
    assert risk == pytest.approx(tree.nodes["risk"][tree.is_leaf].sum())
    assert np.unique(leaves, return_counts=True)[1].min() >= 4
    greedy = Presorted(X, categorical=(2,)).grow(
        Growth(
            sample.growth.criterion, n_classes, max_depth=depth, min_samples_leaf=4, surrogates=0
        ),
        y,
        weight,
        weight,
    )
    assert risk <= greedy.nodes["risk"][greedy.is_leaf].sum() * (1 + 1e-9)


def test_columns_that_matter_only_together_are_split():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (400, 5))
    y = (X[:, 0] * X[:, 1] > 0) + rng.normal(size=400) / 5
    greedy = CartRegressor(min_samples_leaf=20).fit(X[:200], y[:200])
    best = CartRegressor(min_samples_leaf=20, optimal=True).fit(X[:200], y[:200])
    errors = [np.mean((model.predict(X[200:]) - y[200:]) ** 2) for model in (greedy, best)]
    assert errors[1] < 0.5 * errors[0]
    assert best.optimal_risks_[best.optimal_depth_] == min(best.optimal_risks_.values())


def test_the_pruned_tree_is_kept_where_cross_validation_prefers_it():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 10, 400)
    X, y = x[:, None], np.floor(x)  # ten steps need ten leaves
    model = CartRegressor(min_samples_leaf=5, optimal=True).fit(X, y)
    assert model.optimal_depth_ == 0
    np.testing.assert_array_equal(
        model.predict(X), CartRegressor(min_samples_leaf=5).fit(X, y).predict(X)
    )
    noise = CartRegressor(optimal=True).fit(X, np.zeros(400))
    assert noise.get_n_leaves() == 1


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_learner_is_saved_and_read_exactly(n_classes, tmp_path):
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (300, 4))
    labels = np.digitize((X[:, 0] * X[:, 1] > 0) + X[:, 2] / 4, [0.5, 1.0][: n_classes - 1])
    X[rng.random(X.shape) < 0.05] = np.nan
    model = cw.learner("tree", optimal=True, min_samples_leaf=10).fit(X, labels)
    assert model.estimator_.optimal_depth_ > 0
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    np.testing.assert_array_equal(cw.forest.from_model(model).predict(X), model.predict(X))
    cw.save(model, path := tmp_path / "tree.cw")
    np.testing.assert_array_equal(cw.load(path).predict(X), model.predict(X))


def test_settings_that_the_search_does_not_know_are_named():
    X, y, _ = table()
    X, counts = np.nan_to_num(X), np.abs(y).round()
    for settings in ({"prune": False}, {"samples": 3}):
        with pytest.raises(InputError, match=rf"{next(iter(settings))}=.* exclude each other"):
            CartRegressor(optimal=True, **settings).fit(X, counts)
    with pytest.raises(InputError, match="criterion='entropy' exclude"):
        CartClassifier(optimal=True, criterion="entropy").fit(X, counts)
    with pytest.raises(InputError, match="cannot keep monotone"):
        CartRegressor(optimal=True, monotone=(1, 0, 0)).fit(X, y)
