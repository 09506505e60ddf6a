"""Brute force over all coalitions, which every explanation is held against."""

from itertools import combinations
from math import comb

import numpy as np
import pytest


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
