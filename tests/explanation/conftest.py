"""Brute force over all coalitions, and hand-made models of products and trees."""

from dataclasses import dataclass
from itertools import combinations
from math import comb
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from clearwood.models import ProductTerm, ScoreParts, SumOfProducts, TreeArrays


class Brute:
    """The interventional game of any function of a matrix, by its definition."""

    def __init__(self, predict, background, groups=None, weights=None):
        self.predict = predict
        self.background = np.asarray(background, dtype=object if _is_object(background) else None)
        n_columns = self.background.shape[1]
        self.groups = np.arange(n_columns) if groups is None else np.asarray(groups)
        self.n_players = int(self.groups.max()) + 1
        self.weights = np.ones(len(self.background)) if weights is None else np.asarray(weights)

    def value(self, x, players):
        """Mean prediction with the players' columns held at x."""
        rows = self.background.copy()
        held = np.isin(self.groups, list(players))
        rows[:, held] = np.asarray(x)[held]
        predicted = np.asarray(self.predict(rows), float).reshape(len(rows), -1)
        return np.average(predicted, axis=0, weights=self.weights)

    def component(self, x, players):
        return sum(
            (-1) ** (len(players) - size) * self.value(x, inside)
            for size in range(len(players) + 1)
            for inside in combinations(players, size)
        )

    def shapley(self, x, player):
        others = [p for p in range(self.n_players) if p != player]
        total = 0.0
        for size in range(self.n_players):
            weight = 1 / (self.n_players * comb(self.n_players - 1, size))
            for inside in combinations(others, size):
                gain = self.value(x, (*inside, player)) - self.value(x, inside)
                total = total + weight * gain
        return total

    def interaction(self, x, i, j):
        """The Shapley interaction index of a pair (Grabisch and Roubens 1999)."""
        others = [p for p in range(self.n_players) if p not in (i, j)]
        total = 0.0
        for size in range(len(others) + 1):
            weight = 1 / ((self.n_players - 1) * comb(self.n_players - 2, size))
            for inside in combinations(others, size):
                both = self.value(x, (*inside, i, j)) - self.value(x, (*inside, i))
                alone = self.value(x, (*inside, j)) - self.value(x, inside)
                total = total + weight * (both - alone)
        return total


def _is_object(background):
    return np.asarray(background).dtype == object


@pytest.fixture
def brute():
    return Brute


# Models whose score is a sum of products and trees


@dataclass(frozen=True)
class Powers:
    """x, x², …; a missing value is a level of its own."""

    degree: int

    def __call__(self, values):
        missing = np.isnan(values)
        filled = np.where(missing, 0.0, values)
        powers = [filled ** (k + 1) for k in range(self.degree)]
        return np.column_stack([*powers, missing.astype(float)])


@dataclass(frozen=True)
class Levels:
    """An indicator of each code."""

    n_levels: int

    def __call__(self, values):
        return (values[:, None] == np.arange(self.n_levels)).astype(float)


def products(n_outputs=1, seed=0):
    """Lines, a pair, and a term of three of four columns; the last is a category of 3 codes."""
    generator = np.random.default_rng(seed)

    def term(columns, bases):
        sizes = [b.n_levels if isinstance(b, Levels) else b.degree + 1 for b in bases]
        return ProductTerm(columns, bases, generator.normal(size=(*sizes, n_outputs)))

    curve = Powers(2)
    return SumOfProducts(
        generator.normal(size=n_outputs),
        (
            term((0,), (Powers(3),)),
            term((3,), (Levels(3),)),
            term((2, 0), (curve, curve)),
            term((1, 3), (curve, Levels(3))),
            term((0, 3, 1), (curve, Levels(3), Powers(1))),
        ),
    )


def stumps(n_outputs=1):
    """Two trees: one of columns 0 and 1, one of the categories 0 and 2 of column 3."""
    values = np.linspace(-1.0, 1.0, 8 * n_outputs).reshape(8, n_outputs)
    leaf = np.array([0, 0, 1, 1, 1, 0, 1, 1], bool)
    return TreeArrays(
        roots=np.array([0, 5], np.int32),
        left=np.array([1, 3, -1, -1, -1, 6, -1, -1], np.int32),
        right=np.array([2, 4, -1, -1, -1, 7, -1, -1], np.int32),
        feature=np.array([0, 1, -1, -1, -1, 3, -1, -1], np.int32),
        threshold=np.array([0.2, -0.1, 0, 0, 0, 0, 0, 0], np.float64),
        default_left=np.array([1, 0, 0, 0, 0, 0, 0, 0], bool),
        value=np.where(leaf[:, None], values, 0.0),
        cover=np.ones(8),
        tree_output=np.array([-1, -1] if n_outputs > 1 else [0, 0], np.int32),
        n_features=4,
        n_outputs=n_outputs,
        category_start=np.array([-1, -1, -1, -1, -1, 0, -1, -1], np.int32),
        category_size=np.array([0, 0, 0, 0, 0, 1, 0, 0], np.int32),
        category_words=np.array([0b101], np.uint32),
        unseen_left=np.zeros(8, bool),
    )


def score_parts(n_outputs=1, *, trees=True, link="identity", spread=None):
    own = stumps(n_outputs) if trees else None
    return ScoreParts(products(n_outputs), own, link, spread)


def matrix(n_rows=60, seed=1, *, missing=True):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_rows, 4))
    X[:, 1] += 0.7 * X[:, 0]
    X[:, 3] = generator.integers(0, 3, n_rows)
    if missing:
        X[generator.random(n_rows) < 0.1, 0] = np.nan
    return X


class Score(RegressorMixin, BaseEstimator):
    """A fitted regressor with parts."""

    def __init__(self, parts_=None, n_features=4):
        self.parts_ = parts_
        self.n_features = n_features
        self.n_features_in_ = n_features

    def __sklearn_is_fitted__(self):
        return True

    def fit(self, X, y):
        return self

    def predict(self, X):
        score = self.parts_(np.asarray(X, float))[:, 0]
        return np.exp(score) if self.parts_.link == "log" else score


class Classes(ClassifierMixin, Score):
    """A fitted classifier with parts."""

    def __init__(self, parts_=None, n_features=4, labels=("no", "yes")):
        super().__init__(parts_, n_features)
        self.labels = labels
        self.classes_ = np.array(labels)

    def predict_proba(self, X):
        score = self.parts_(np.asarray(X, float))
        if score.shape[1] == 1:
            score = np.column_stack([np.zeros(len(score)), score])
        share = np.exp(score - score.max(axis=1, keepdims=True))
        return share / share.sum(axis=1, keepdims=True)

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


@pytest.fixture(scope="session")
def hand_made():
    """The hand-made models and what they are made of."""
    return SimpleNamespace(
        Classes=Classes,
        Levels=Levels,
        Powers=Powers,
        Score=Score,
        matrix=matrix,
        parts=score_parts,
        products=products,
        stumps=stumps,
    )
