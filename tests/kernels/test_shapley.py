"""Shapley kernels against brute force over all coalitions."""

import gc
import itertools
import math
import pickle
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from clearwood import InputError
from clearwood.kernels import (
    Background,
    Trees,
    _core,
    component_sets,
    components,
    interventional,
    path_dependent,
)

LEVELS = 6  # values and thresholds lie on a coarse grid, so that rows meet thresholds


@dataclass(frozen=True)
class Arrays:
    """Trees in plain arrays, with the decision rule spelled out once more."""

    roots: np.ndarray
    left: np.ndarray
    right: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    default_left: np.ndarray
    category_start: np.ndarray
    category_size: np.ndarray
    category_words: np.ndarray
    unseen_left: np.ndarray
    cover: np.ndarray
    leaf_value: np.ndarray
    base: np.ndarray
    tree_output: np.ndarray
    groups: np.ndarray
    precision: str = "float64"

    @property
    def zero_missing(self):
        return np.zeros(len(self.left), bool)

    def goes_left(self, node, x):
        if self.category_start[node] >= 0:
            word = int(self.category_words[self.category_start[node]])
            known = (x >= 0) & (x < 32)
            member = (word >> np.where(known, x, 0).astype(int)) & 1
            left = np.where(known, member, self.unseen_left[node]).astype(bool)
        else:
            left = x <= self.threshold[node]
        return np.where(np.isnan(x), self.default_left[node], left)

    def predict(self, X):
        """Raw prediction, shape (rows, outputs)."""
        total = np.tile(self.base, (len(X), 1))
        for root in self.roots:
            todo = [(root, np.arange(len(X)))]
            while todo:
                node, rows = todo.pop()
                if self.left[node] < 0:
                    total[rows] += self.leaf_value[node]
                    continue
                left = self.goes_left(node, X[rows, self.feature[node]])
                todo += [(self.left[node], rows[left]), (self.right[node], rows[~left])]
        return total


class Grower:
    """Random trees; `stop` is the chance that a path ends before its depth is reached."""

    def __init__(self, seed, *, features, outputs=1, own_output=False, categorical=(), stop=0.15):
        self.rng = np.random.default_rng(seed)
        self.features, self.outputs, self.own_output = features, outputs, own_output
        self.categorical, self.stop = categorical, stop
        self.nodes, self.words = [], []

    def forest(self, depth, *, trees=3, groups=None, chain=False):
        grow = self.grow_chain if chain else self.grow
        roots = [grow(depth, 100.0) for _ in range(trees)]
        columns = {name: np.array([n[name] for n in self.nodes]) for name in self.nodes[0]}
        output = np.arange(trees) % self.outputs if self.own_output else np.full(trees, -1)
        value = columns.pop("value")
        if self.own_output:
            sizes = np.diff([*roots, len(self.nodes)])
            keep = np.repeat(output, sizes)[:, None] == np.arange(self.outputs)
            value = np.where(keep, value, 0.0)
        return Arrays(
            **columns,
            roots=np.array(roots, np.int32),
            category_words=np.array(self.words, np.uint32),
            leaf_value=value,
            base=self.rng.normal(size=self.outputs),
            tree_output=output.astype(np.int32),
            groups=np.array(range(self.features) if groups is None else groups, np.int32),
        )

    def grow(self, depth, cover, *, first=True):
        if depth == 0 or (not first and self.rng.random() < self.stop):
            return self.leaf(cover)
        node, shares = self.split(int(self.rng.integers(self.features)), cover)
        self.nodes[node]["left"] = self.grow(depth - 1, shares[0], first=False)
        self.nodes[node]["right"] = self.grow(depth - 1, shares[1], first=False)
        return node

    def grow_chain(self, depth, cover):
        """One long path that asks for a new feature at every step."""
        if depth == 0:
            return self.leaf(cover)
        node, shares = self.split(depth - 1, cover)
        self.nodes[node]["left"] = self.grow_chain(depth - 1, shares[0])
        self.nodes[node]["right"] = self.leaf(shares[1])
        return node

    def leaf(self, cover):
        return self.add(cover=cover, value=self.rng.normal(size=self.outputs))

    def split(self, feature, cover):
        share = self.rng.uniform(0.1, 0.9)
        chosen = {"feature": np.int32(feature), "default_left": self.rng.random() < 0.5}
        if feature in self.categorical:
            chosen |= {"category_start": np.int32(len(self.words)), "category_size": np.int32(1)}
            chosen["unseen_left"] = self.rng.random() < 0.5
            self.words.append(int(self.rng.integers(1, 2**LEVELS - 1)))
        else:
            chosen["threshold"] = float(self.rng.integers(1, LEVELS))
        return self.add(cover=cover, **chosen), (cover * share, cover * (1 - share))

    def add(self, **given):
        empty = {
            "left": np.int32(-1),
            "right": np.int32(-1),
            "feature": np.int32(-1),
            "threshold": np.nan,
            "default_left": False,
            "category_start": np.int32(-1),
            "category_size": np.int32(0),
            "unseen_left": False,
            "cover": 0.0,
            "value": np.zeros(self.outputs),
        }
        self.nodes.append(empty | given)
        return len(self.nodes) - 1

    def rows(self, n, *, missing=0.0):
        X = self.rng.integers(0, LEVELS + 2, size=(n, self.features)).astype(float)
        X[self.rng.random(X.shape) < missing] = np.nan
        return X


class Game:
    """All coalition values of one row, as an array over bit masks of players."""

    def __init__(self, values, n_players):
        self.values, self.n = values, n_players

    @classmethod
    def interventional(cls, forest, x, background, weights):
        n = int(forest.groups.max()) + 1
        held = np.arange(2**n)[:, None] >> forest.groups & 1 == 1
        mixed = np.where(held[:, None, :], x, background[None])
        raw = forest.predict(mixed.reshape(-1, len(x))).reshape(2**n, len(background), -1)
        return cls(np.average(raw, axis=1, weights=weights), n)

    @classmethod
    def path_dependent(cls, forest, x):
        n = int(forest.groups.max()) + 1
        held = np.arange(2**n)[:, None] >> np.arange(n) & 1 == 1

        def value(node, coalitions):
            if forest.left[node] < 0:
                return np.tile(forest.leaf_value[node], (len(coalitions), 1))
            children = forest.left[node], forest.right[node]
            below = [value(child, coalitions) for child in children]
            share = [forest.cover[child] / forest.cover[node] for child in children]
            feature = forest.feature[node]
            taken = below[0 if forest.goes_left(node, x[feature : feature + 1])[0] else 1]
            known = coalitions[:, forest.groups[feature]][:, None]
            return np.where(known, taken, share[0] * below[0] + share[1] * below[1])

        return cls(forest.base + sum(value(root, held) for root in forest.roots), n)

    def derivative(self, players):
        """Weighted sum of discrete derivatives: the Shapley interaction index of the players."""
        size = len(players)
        inside = sum(1 << p for p in players)
        total = 0.0
        for mask in range(2**self.n):
            if mask & inside:
                continue
            rest = mask.bit_count()
            weight = math.factorial(rest) * math.factorial(self.n - rest - size)
            weight /= math.factorial(self.n - size + 1)
            total = total + weight * self.difference(players, mask)
        return total

    def difference(self, players, mask=0):
        total = 0.0
        for k in range(len(players) + 1):
            for chosen in itertools.combinations(players, k):
                with_chosen = mask | sum(1 << p for p in chosen)
                total = total + (-1) ** (len(players) - k) * self.values[with_chosen]
        return total


def check(explained, rows, games):
    """Compare values and interactions with the games of some rows."""
    for row, game in zip(rows, games, strict=True):
        assert_allclose(explained.baseline, game.values[0], atol=1e-10)
        for i in range(game.n):
            expected = game.derivative([i])
            assert_allclose(explained.values[row, i], expected, atol=1e-9)
            assert_allclose(explained.interactions[row, i].sum(axis=0), expected, atol=1e-9)
            for j in range(i):
                pair = explained.interactions[row, i, j] + explained.interactions[row, j, i]
                assert_allclose(pair, game.derivative([i, j]), atol=1e-9)


CASES = {
    "one stump": ({"features": 1}, {"depth": 1, "trees": 1}),
    "depth 2": ({"features": 4}, {"depth": 2}),
    "depth 5, features repeat": ({"features": 3}, {"depth": 5}),
    "depth 8": ({"features": 6}, {"depth": 8, "trees": 2}),
    "depth 16, features repeat": ({"features": 4, "stop": 0.4}, {"depth": 16, "trees": 2}),
    "categories": ({"features": 4, "categorical": (0, 2)}, {"depth": 5}),
    "many outputs": ({"features": 4, "outputs": 3}, {"depth": 4}),
    "a tree per output": (
        {"features": 4, "outputs": 2, "own_output": True},
        {"depth": 4, "trees": 4},
    ),
    "grouped players": (
        {"features": 7, "categorical": (3,)},
        {"depth": 6, "groups": [0, 0, 1, 2, 1, 3, 0]},
    ),
    "leaves of 3 to 8 players": ({"features": 9, "stop": 0.1}, {"depth": 10, "trees": 1}),
    "11 players on a path": ({"features": 11}, {"depth": 11, "trees": 2, "chain": True}),
}


@pytest.fixture(params=CASES, ids=str)
def case(request):
    grower_options, forest_options = CASES[request.param]
    grower = Grower(len(request.param), **grower_options)
    return grower, grower.forest(**forest_options)


def test_path_dependent_values_equal_the_sum_over_all_coalitions(case, each_level):
    grower, forest = case
    X = grower.rows(17, missing=0.15)
    explained = path_dependent(Trees.of(forest), X, interactions=True)
    rows = [0, 16]
    check(explained, rows, [Game.path_dependent(forest, X[row]) for row in rows])


def test_interventional_values_equal_the_sum_over_all_coalitions(case, each_level):
    grower, forest = case
    X, B = grower.rows(17, missing=0.15), grower.rows(9, missing=0.15)
    weights = grower.rng.uniform(0.1, 3.0, size=len(B))
    trees = Trees.of(forest)
    explained = interventional(
        trees, X, Background.of(trees, B, weights=weights), interactions=True
    )
    rows = [0, 16]
    games = [Game.interventional(forest, X[row], B, weights) for row in rows]
    check(explained, rows, games)


def test_components_of_every_order_equal_the_inclusion_exclusion_over_coalitions(case, each_level):
    grower, forest = case
    X, B = grower.rows(17, missing=0.15), grower.rows(9, missing=0.15)
    weights = grower.rng.uniform(0.1, 3.0, size=len(B))
    trees = Trees.of(forest)
    sets = component_sets(trees, max_order=4)
    found = components(trees, X, Background.of(trees, B, weights=weights), sets)
    for row in (0, 16):
        game = Game.interventional(forest, X[row], B, weights)
        assert_allclose(found.baseline, game.values[0], atol=1e-10)
        for k, players in enumerate(sets):
            assert_allclose(found.values[row, k], game.difference(players), atol=1e-9)


@pytest.mark.parametrize("shuffled", [False, True])
def test_components_of_many_rows_are_those_of_each_row(case, shuffled):
    grower, forest = case
    trees = Trees.of(forest)
    X = grower.rows(80, missing=0.15)
    background = Background.of(trees, grower.rows(9, missing=0.15))
    sets = component_sets(trees, max_order=3)
    if shuffled:
        sets = [sets[k] for k in grower.rng.permutation(len(sets))]
    together = components(trees, X, background, sets)
    for k, row in enumerate(X):
        alone = components(trees, row[None], background, sets)
        assert alone.values.tobytes() == together.values[k : k + 1].tobytes()
        assert alone.baseline.tobytes() == together.baseline.tobytes()


def test_components_add_up_to_the_prediction_and_share_out_to_shapley_values():
    grower = Grower(3, features=5, outputs=2)
    forest = grower.forest(6)
    trees = Trees.of(forest)
    X, background = grower.rows(20), Background.of(trees, grower.rows(30))
    sets = component_sets(trees)
    found = components(trees, X, background, sets)
    total = found.baseline + found.values.sum(axis=1)
    assert_allclose(total, forest.predict(X), atol=1e-10)
    shapley = interventional(trees, X, background).values
    for player in range(5):
        shares = [k for k, players in enumerate(sets) if player in players]
        size = np.array([len(sets[k]) for k in shares])
        expected = (found.values[:, shares] / size[:, None]).sum(axis=1)
        assert_allclose(shapley[:, player], expected, atol=1e-10)


def test_sets_that_meet_on_no_path_have_no_component():
    grower = Grower(4, features=6)
    forest = grower.forest(3)
    trees = Trees.of(forest)
    known = component_sets(trees, max_order=2)
    absent = [s for s in itertools.combinations(range(6), 2) if s not in known]
    assert absent
    B = grower.rows(12)
    game = Game.interventional(forest, grower.rows(1)[0], B, None)
    for players in absent:
        assert_allclose(game.difference(players), 0.0, atol=1e-12)


@pytest.mark.parametrize("players", [13, 20])
def test_components_on_long_paths_equal_their_definition(players):
    grower = Grower(players, features=players)
    forest = grower.forest(players, trees=2, chain=True)
    trees = Trees.of(forest)
    X, B = np.minimum(grower.rows(4), 2.0), np.minimum(grower.rows(7), 2.0)
    sets = [(0,), (players - 1,), (0, players - 1), (3, 4), (1, 2, players - 1)]
    found = components(trees, X, Background.of(trees, B), sets)

    def mean(x, held):
        mixed = B.copy()
        mixed[:, list(held)] = x[list(held)]
        return forest.predict(mixed).mean(axis=0)

    for row, x in enumerate(X):
        for k, one in enumerate(sets):
            parts = [c for size in range(len(one) + 1) for c in itertools.combinations(one, size)]
            expected = sum((-1) ** (len(one) - len(part)) * mean(x, part) for part in parts)
            assert_allclose(found.values[row, k], expected, atol=1e-9)


def test_too_many_components_are_refused_with_advice(monkeypatch):
    monkeypatch.setattr("clearwood.kernels.shapley._MOST_SETS", 100)
    trees = Trees.of(Grower(0, features=12).forest(12, trees=1, chain=True))
    with pytest.raises(InputError, match=r"more than 100 components.*Hint: lower max_order"):
        component_sets(trees)
    assert len(component_sets(trees, max_order=2)) == 12 + 66


def test_sets_of_players_are_checked():
    grower = Grower(0, features=3)
    trees = Trees.of(grower.forest(2))
    X = grower.rows(2)
    background = Background.of(trees, X)
    with pytest.raises(InputError, match=r"\(0, 0\) is not a set"):
        components(trees, X, background, [(0, 0)])
    with pytest.raises(InputError, match="outside 0 to 2"):
        components(trees, X, background, [(3,)])
    with pytest.raises(InputError, match="listed twice"):
        components(trees, X, background, [(0, 1), (1, 0)])


def pair_formula(forest, x, b):
    """Shapley values of one row against one background row, leaf by leaf, at any depth."""
    values = np.zeros((int(forest.groups.max()) + 1, len(forest.base)))

    def visit(node, state):
        if forest.left[node] < 0:
            ours = {p for p, (by_x, by_b) in state.items() if by_x and not by_b}
            theirs = {p for p, (by_x, by_b) in state.items() if by_b and not by_x}
            if any(not by_x and not by_b for by_x, by_b in state.values()):
                return
            a, b_ = len(ours), len(theirs)
            for p in ours:
                share = math.factorial(a - 1) * math.factorial(b_) / math.factorial(a + b_)
                values[p] += share * forest.leaf_value[node]
            for p in theirs:
                share = math.factorial(a) * math.factorial(b_ - 1) / math.factorial(a + b_)
                values[p] -= share * forest.leaf_value[node]
            return
        feature = forest.feature[node]
        player = int(forest.groups[feature])
        left = [forest.goes_left(node, row[feature : feature + 1])[0] for row in (x, b)]
        for child, side in ((forest.left[node], True), (forest.right[node], False)):
            before = state.get(player, (True, True))
            after = tuple(was and went == side for was, went in zip(before, left, strict=True))
            visit(child, state | {player: after})

    for root in forest.roots:
        visit(root, {})
    return values


@pytest.mark.parametrize("players", [13, 16, 40, 200])
def test_long_paths_agree_with_the_formula_for_pairs_of_rows(players, each_level):
    grower = Grower(players, features=players)
    forest = grower.forest(players, trees=2, chain=True)
    X, B = grower.rows(6), grower.rows(5)
    X[3:], B[2:] = np.minimum(X[3:], 2.0), np.minimum(B[2:], 2.0)  # these go far down
    trees = Trees.of(forest)
    explained = interventional(trees, X, Background.of(trees, B))
    for x, values in zip(X, explained.values, strict=True):
        expected = np.mean([pair_formula(forest, x, b) for b in B], axis=0)
        assert_allclose(values, expected, atol=1e-9)
    total = explained.values.sum(axis=1) + explained.baseline
    assert_allclose(total, forest.predict(X), atol=1e-9)
    by_path = path_dependent(trees, X)
    assert_allclose(by_path.values.sum(axis=1) + by_path.baseline, forest.predict(X), atol=1e-9)


@pytest.mark.parametrize("players", [13, 16])
def test_interactions_on_long_paths_add_up_to_the_values(players):
    grower = Grower(players, features=players)
    forest = grower.forest(players, trees=2, chain=True)
    trees = Trees.of(forest)
    X = np.minimum(grower.rows(8), 3.0)
    background = Background.of(trees, np.minimum(grower.rows(20), 3.0))
    alone = interventional(trees, X, background)
    both = interventional(trees, X, background, interactions=True)
    assert_allclose(both.values, alone.values, atol=1e-12)
    assert_allclose(both.interactions.sum(axis=2), alone.values, atol=1e-10)
    assert_allclose(both.interactions, np.swapaxes(both.interactions, 1, 2), atol=0)


def test_background_counted_in_chunks_is_the_same(monkeypatch):
    grower = Grower(0, features=12)
    forest = grower.forest(12, trees=3, chain=True)
    mixed = Grower(1, features=12).forest(4, trees=2)
    for one in (forest, mixed):
        trees = Trees.of(one)
        X, B = grower.rows(5), grower.rows(30)
        weights = grower.rng.uniform(size=30)
        whole = Background.of(trees, B, weights=weights)
        with monkeypatch.context() as patch:
            patch.setattr("clearwood.kernels.shapley._ROWS_PER_CHUNK", 7)
            parts = Background.of(trees, B, weights=weights)
        assert parts.n_rows == 30
        assert_allclose(
            interventional(trees, X, parts).values,
            interventional(trees, X, whole).values,
            atol=1e-13,
        )


@pytest.mark.parametrize("n", [0, 1, 15, 16, 33, 1030])
def test_rows_are_explained_one_by_one_or_together_on_any_number_of_threads(n):
    grower = Grower(2, features=5)
    forest = grower.forest(6)
    trees = Trees.of(forest)
    X = grower.rows(n, missing=0.1)
    background = Background.of(trees, grower.rows(11), n_jobs=2)
    for explain in (
        lambda X, n_jobs: path_dependent(trees, X, interactions=True, n_jobs=n_jobs),
        lambda X, n_jobs: interventional(trees, X, background, interactions=True, n_jobs=n_jobs),
    ):
        together, threaded = explain(X, 1), explain(X, 3)
        np.testing.assert_array_equal(together.values, threaded.values)
        np.testing.assert_array_equal(together.interactions, threaded.interactions)
        for row in range(0, n, 500):
            alone = explain(X[row : row + 1], 1)
            np.testing.assert_array_equal(alone.values[0], together.values[row])


@pytest.mark.parametrize("interactions", [False, True])
@pytest.mark.parametrize("depth", [6, 12])
def test_every_instruction_set_gives_the_same_bits(depth, interactions):
    grower = Grower(11, features=14, outputs=2, stop=0.05)
    trees = Trees.of(with_long_path(grower.forest(depth, trees=1), 14))
    X, background = grower.rows(70, missing=0.1), Background.of(trees, grower.rows(90))
    before = _core.level()
    answers = []
    for level in _core.supported_levels():
        _core.use_level(level)
        by_path = path_dependent(trees, X, interactions=interactions)
        by_background = interventional(trees, X, background, interactions=interactions)
        answers.append((by_path, by_background))
    _core.use_level(before)
    for answer in answers[1:]:
        for explained, first in zip(answer, answers[0], strict=True):
            np.testing.assert_array_equal(explained.values, first.values)
            np.testing.assert_array_equal(explained.interactions, first.interactions)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 9), st.integers(2, 7))
def test_values_add_up_and_unused_players_get_nothing(seed, depth, features):
    grower = Grower(seed, features=features, categorical=(1,))
    forest = replace(grower.forest(depth), groups=np.arange(1, features + 1, dtype=np.int32))
    trees = Trees.of(forest)
    X, B = grower.rows(6, missing=0.2), grower.rows(8, missing=0.2)
    for explained in (path_dependent(trees, X), interventional(trees, X, Background.of(trees, B))):
        total = explained.values.sum(axis=1) + explained.baseline
        assert_allclose(total, forest.predict(X), atol=1e-10)
        assert not explained.values[:, 0].any()
    assert_allclose(
        interventional(trees, X, Background.of(trees, B)).baseline, forest.predict(B).mean(axis=0)
    )


def test_an_ensemble_of_single_leaves_is_all_baseline():
    grower = Grower(0, features=3)
    forest = grower.forest(0)
    trees = Trees.of(forest)
    X = grower.rows(4)
    background = Background.of(trees, X)
    for explained in (path_dependent(trees, X), interventional(trees, X, background)):
        assert not explained.values.any()
        assert_allclose(np.tile(explained.baseline, (4, 1)), forest.predict(X))
    assert component_sets(trees) == ()


def fitted(kind, X, y):
    if kind == "scikit-learn, missing values and categories":
        from sklearn.ensemble import HistGradientBoostingRegressor

        return HistGradientBoostingRegressor(
            max_iter=8, max_leaf_nodes=12, categorical_features=[3], min_samples_leaf=5
        ).fit(X, y)
    if kind == "scikit-learn, three classes":
        from sklearn.ensemble import RandomForestClassifier

        filled = np.nan_to_num(X)
        return RandomForestClassifier(7, max_depth=5, random_state=0).fit(filled, y.round() % 3)
    if kind == "XGBoost, three classes":
        xgboost = pytest.importorskip("xgboost")
        return xgboost.XGBClassifier(n_estimators=4, max_depth=4).fit(X, y.round() % 3)
    lightgbm = pytest.importorskip("lightgbm")
    options = {"n_estimators": 8, "num_leaves": 12, "min_child_samples": 5, "verbose": -1}
    return lightgbm.LGBMRegressor(zero_as_missing=True, **options).fit(X, y)


@pytest.mark.parametrize(
    "kind",
    [
        "scikit-learn, missing values and categories",
        "scikit-learn, three classes",
        "XGBoost, three classes",
        "LightGBM, zero is missing",
    ],
)
def test_models_of_other_libraries_are_explained_exactly(kind):
    from clearwood.forest import from_model

    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, size=(300, 4)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = np.nansum(X[:, :2], axis=1) + 3 * np.isnan(X[:, 2]) + np.nan_to_num(X[:, 3]) % 2
    forest = from_model(fitted(kind, X, y))
    if "three classes" in kind and "scikit" in kind:
        X = np.nan_to_num(X)
    trees = Trees.of(forest)
    B = forest.matrix(X[:15])
    explained = interventional(trees, forest.matrix(X), Background.of(trees, B), interactions=True)
    held = np.arange(16)[:, None] >> np.arange(4) & 1 == 1
    for row in (0, 1, 299):
        mixed = np.where(held[:, None, :], X[row], X[None, :15])
        raw = forest.predict_raw(mixed.reshape(-1, 4)).reshape(16, 15, -1).astype(float)
        game = Game(raw.mean(axis=1), 4)
        for i in range(4):
            # the libraries add up in float32
            assert_allclose(explained.values[row, i], game.derivative([i]), atol=3e-6)
    raw = forest.predict_raw(X).reshape(len(X), -1)
    by_path = path_dependent(trees, forest.matrix(X))
    for one in (explained, by_path):
        assert_allclose(one.values.sum(axis=1) + one.baseline, raw, atol=1e-5)


def test_a_row_that_is_the_whole_background_explains_nothing():
    grower = Grower(5, features=4)
    trees = Trees.of(grower.forest(5))
    x = grower.rows(1)
    assert_allclose(interventional(trees, x, Background.of(trees, x)).values, 0.0, atol=1e-14)


def test_nodes_that_no_training_row_reached_are_shared_evenly():
    grower = Grower(6, features=3, stop=0.0)
    forest = grower.forest(2)
    cover = forest.cover.copy()
    emptied = forest.left[forest.roots[0]]
    cover[emptied] = 0.0
    cover[[forest.left[emptied], forest.right[emptied]]] = 0.0
    even = cover.copy()
    even[emptied], even[[forest.left[emptied], forest.right[emptied]]] = 2e-200, 1e-200
    X = grower.rows(20)
    with_nothing = path_dependent(Trees.of(replace(forest, cover=cover)), X)
    with_next_to_nothing = path_dependent(Trees.of(replace(forest, cover=even)), X)
    assert_allclose(with_nothing.values, with_next_to_nothing.values, atol=1e-12)


def test_more_thresholds_than_codes_are_told_apart():
    n = 70_000
    shallow = Grower(0, features=1).forest(1, trees=1)
    # one tree of two leaves per threshold keeps paths short
    roots = np.arange(0, 3 * n, 3, dtype=np.int32)
    nodes = 3 * n
    arrays = {
        "left": np.full(nodes, -1, np.int32),
        "right": np.full(nodes, -1, np.int32),
        "feature": np.full(nodes, -1, np.int32),
        "threshold": np.full(nodes, np.nan),
        "category_start": np.full(nodes, -1, np.int32),
        "category_size": np.zeros(nodes, np.int32),
        "default_left": np.zeros(nodes, bool),
        "unseen_left": np.zeros(nodes, bool),
        "cover": np.tile([2.0, 1.0, 1.0], n),
        "leaf_value": np.tile([[0.0], [0.0], [1.0]], (n, 1)),
    }
    arrays["left"][roots], arrays["right"][roots] = roots + 1, roots + 2
    arrays["feature"][roots], arrays["threshold"][roots] = 0, np.arange(n, dtype=float)
    forest = replace(
        shallow, roots=roots, tree_output=np.full(n, -1, np.int32), base=np.zeros(1), **arrays
    )
    trees = Trees.of(forest)
    assert trees.n_codes == 2
    X = np.array([[-1.0], [0.0], [0.5], [64_999.0], [65_000.5], [69_999.0], [1e9]])
    explained = path_dependent(trees, X)
    above = [(X[i, 0] > np.arange(n)).sum() for i in range(len(X))]
    assert_allclose(explained.values[:, 0, 0], np.array(above) - n / 2)


def test_trees_that_share_nodes_are_refused():
    forest = Grower(0, features=2).forest(1, trees=2)
    right = forest.right.copy()
    right[0] = forest.roots[1] + 1
    with pytest.raises(ValueError, match="between its root and the next"):
        _ = Trees.of(replace(forest, right=right)).kernel


def test_a_second_call_gives_the_same_bits_from_what_the_first_prepared():
    grower = Grower(3, features=5, categorical=(1,))
    trees = Trees.of(grower.forest(6))
    X, background = grower.rows(50, missing=0.1), Background.of(trees, grower.rows(30))
    for interactions in (False, True):
        first = interventional(trees, X, background, interactions=interactions)
        tables = background.tables(pairs=interactions)
        second = interventional(trees, X, background, interactions=interactions)
        assert background.tables(pairs=interactions) is tables
        np.testing.assert_array_equal(first.values, second.values)
        np.testing.assert_array_equal(first.baseline, second.baseline)
    np.testing.assert_array_equal(path_dependent(trees, X).values, path_dependent(trees, X).values)


def test_tables_of_a_large_forest_are_made_for_every_call():
    grower = Grower(4, features=13, stop=0.02)
    trees = Trees.of(grower.forest(13, trees=1))
    X, background = grower.rows(3), Background.of(trees, grower.rows(30))
    first, second = (interventional(trees, X, background).values for _ in range(2))
    assert not background.tables().are_kept
    assert background.tables() is not background.tables()
    np.testing.assert_array_equal(first, second)


def test_components_of_a_large_forest_write_nothing_but_their_own_results():
    grower = Grower(4, features=13, stop=0.02)
    trees = Trees.of(grower.forest(13, trees=12))
    X, background = grower.rows(3), Background.of(trees, grower.rows(30))
    tables = background.tables(sets=(np.array([0, 1]), np.array([0], np.int32)))
    assert not tables.are_kept
    # adding nothing to a negative zero makes it positive
    beyond = np.full((trees.n_players, trees.n_outputs, len(X)), -0.0)
    tables.explain(trees.encode(X), beyond[:1], np.zeros(trees.n_outputs), None, 1)
    assert np.signbit(beyond[1:]).all()


@pytest.mark.parametrize(
    ("features", "options"),
    [
        (13, {"outputs": 2}),
        (16, {"outputs": 2, "own_output": True, "categorical": (3,)}),
        (20, {}),
    ],
    ids=["two outputs", "a tree per output and categories", "a path of 20 players"],
)
def test_few_rows_of_a_large_forest_agree_with_the_formula_for_pairs(features, options):
    grower = Grower(features, features=features, stop=0.03, **options)
    forest = grower.forest(13, trees=2 if "own_output" in options else 1)
    if features == 20:
        forest = with_long_path(forest, features)
    trees = Trees.of(forest)
    X, B = grower.rows(2, missing=0.1), grower.rows(70, missing=0.1)
    weights = np.where(np.arange(70) < 3, grower.rng.uniform(0.5, 2.0, 70), 0.0)
    background = Background.of(trees, B, weights=weights)
    explained = interventional(trees, X, background)
    assert not background.tables().are_kept
    for x, values in zip(X, explained.values, strict=True):
        pairs = [pair_formula(forest, x, b) for b in B[:3]]
        assert_allclose(values, np.average(pairs, axis=0, weights=weights[:3]), atol=1e-10)
    assert_allclose(explained.baseline, np.average(forest.predict(B), axis=0, weights=weights))


def with_long_path(forest, features):
    """The forest with one more tree, a single path that every feature splits."""
    grower = Grower(1, features=features, outputs=len(forest.base))
    chain = grower.forest(features, trees=1, chain=True)
    first = len(forest.left)
    joined = {
        name: np.concatenate([getattr(forest, name), getattr(chain, name)])
        for name in (
            "feature",
            "threshold",
            "default_left",
            "category_start",
            "category_size",
            "unseen_left",
            "cover",
            "leaf_value",
            "tree_output",
        )
    }
    for name in ("left", "right"):
        side = getattr(chain, name)
        moved = np.where(side >= 0, side + first, -1).astype(np.int32)
        joined[name] = np.concatenate([getattr(forest, name), moved])
    roots = np.append(forest.roots, np.int32(first)).astype(np.int32)
    return replace(forest, roots=roots, **joined)


def test_few_and_many_rows_of_a_large_forest_agree(each_level):
    grower = Grower(4, features=13, stop=0.02)
    trees = Trees.of(grower.forest(13, trees=1))
    X, background = grower.rows(6_000), Background.of(trees, grower.rows(700))
    many = interventional(trees, X, background, n_jobs=2)
    few = interventional(trees, X[:40], background)
    assert_allclose(few.values, many.values[:40], atol=1e-12)
    assert_allclose(few.baseline, many.baseline, atol=1e-12)
    np.testing.assert_array_equal(
        few.values, interventional(trees, X[:40], background, n_jobs=3).values
    )
    none = interventional(trees, X[:0], background)
    assert_allclose(none.baseline, many.baseline, atol=1e-12)


def test_tables_outlive_the_objects_they_were_made_from():
    grower = Grower(5, features=4)
    forest = grower.forest(4)
    X = grower.rows(20)
    trees = Trees.of(forest)
    expected = interventional(trees, X, Background.of(trees, X)).values
    codes = trees.encode(X)
    tables = Background.of(Trees.of(forest), X).tables()
    gc.collect()
    values, baseline = np.zeros((4, 1, 20)), np.zeros(1)
    tables.explain(codes, values, baseline, None, 1)
    np.testing.assert_array_equal(np.moveaxis(values, -1, 0), expected)


def test_trees_and_their_background_travel_to_other_processes():
    grower = Grower(6, features=4, categorical=(2,))
    trees = Trees.of(grower.forest(5))
    X, background = grower.rows(20), Background.of(trees, grower.rows(15))
    expected = interventional(trees, X, background)
    copied_trees, copy = pickle.loads(pickle.dumps((trees, background)))
    found = interventional(copied_trees, X, copy)
    np.testing.assert_array_equal(found.values, expected.values)
    np.testing.assert_array_equal(
        path_dependent(copied_trees, X).values, path_dependent(trees, X).values
    )


def test_background_of_no_weight_is_refused():
    grower = Grower(0, features=2)
    trees = Trees.of(grower.forest(2))
    X = grower.rows(3)
    for background in (
        Background.of(trees, X[:0]),
        Background.of(trees, X, weights=np.zeros(3)),
    ):
        with pytest.raises(InputError, match=r"total weight of 0.*Hint: give it at least one row"):
            interventional(trees, X, background)


def test_background_weights_must_be_numbers_and_match_the_rows():
    grower = Grower(0, features=2)
    trees = Trees.of(grower.forest(2))
    with pytest.raises(InputError, match=r"the weights have the shape \(2,\); there are 3 rows"):
        Background.of(trees, grower.rows(3), weights=np.ones(2))
    for bad in (np.nan, -1.0, np.inf):
        with pytest.raises(InputError, match="finite and not negative"):
            Background.of(trees, grower.rows(1), weights=np.array([bad]))


def test_backgrounds_of_different_trees_are_not_mixed():
    grower = Grower(0, features=2)
    forest = grower.forest(2)
    one, two = Trees.of(forest), Trees.of(replace(forest, base=forest.base + 1))
    X = grower.rows(3)
    with pytest.raises(InputError, match="counted for other trees"):
        interventional(one, X, Background.of(two, X))


def test_unknown_cover_is_refused_for_path_dependent_values():
    grower = Grower(0, features=2)
    forest = grower.forest(2)
    trees = Trees.of(replace(forest, cover=np.full_like(forest.cover, np.nan)))
    with pytest.raises(InputError, match=r"number of training rows.*Hint: .*interventional"):
        path_dependent(trees, grower.rows(2))


def test_progress_counts_every_row():
    grower = Grower(0, features=2)
    trees = Trees.of(grower.forest(2))
    X = grower.rows(70_000)
    seen = []
    path_dependent(trees, X, progress=seen.append)
    assert sum(seen) == len(X)
    assert len(seen) > 1
