"""Associations of columns: weights count rows."""

import numpy as np
import pytest

from clearwood.checks import bins_of, comparable, coordinates, ranks, strength
from clearwood.table import Column, Kind


def columns(seed):
    """Make a number, a number that depends on it and a category."""
    rng = np.random.default_rng(seed)
    x = np.round(rng.normal(size=120), 1)
    x[::17] = np.nan
    level = rng.integers(0, 4, 120).astype(np.int32)
    other = np.where(np.isnan(x), 0.0, x**2) + 0.2 * level
    return (
        Column("x", Kind.NUMBER, x),
        Column("other", Kind.NUMBER, other),
        Column("town", Kind.CATEGORY, level, levels=("a", "b", "c", "d")),
    )


@pytest.mark.parametrize("seed", range(3))
def test_whole_weights_are_repeated_rows(seed):
    weights = np.random.default_rng(seed).integers(1, 4, 120)
    repeated = np.repeat(np.arange(120), weights)
    made, weight = columns(seed), weights.astype(float)
    for column in made:
        longer = column.take(repeated)
        for of in (bins_of, coordinates):
            np.testing.assert_allclose(of(longer), of(column, weight)[repeated])
    np.testing.assert_allclose(
        ranks(made[0].take(repeated)), ranks(made[0], weight)[repeated], equal_nan=True
    )
    for one in made:
        for two in made:
            plain = strength(comparable(one.take(repeated)), comparable(two.take(repeated)))
            weighted = strength(comparable(one, weight), comparable(two, weight))
            assert weighted == pytest.approx(plain, abs=1e-12)


def brute_strength(one, other, weights):
    """Average the shares of indicators of all levels by hand; without correction for chance."""
    ratios = []
    for by, of in ((one, other), (other, one)):
        between = total = 0.0
        for level in np.unique(of):
            indicator = (of == level).astype(float)
            mean = np.average(indicator, weights=weights)
            total += float(weights @ (indicator - mean) ** 2)
            for place in np.unique(by):
                inside = by == place
                within = np.average(indicator[inside], weights=weights[inside])
                between += float(weights[inside].sum() * (within - mean) ** 2)
        n_rows, n_bins = float(weights.sum()), len(np.unique(by))
        ratios.append(np.sqrt(1 - (1 - between / total) * (n_rows - 1) / (n_rows - n_bins)))
    return max(ratios)


@pytest.mark.parametrize("n_levels", [5, 40, 400])
def test_levels_are_compared_as_indicators_however_many_there_are(n_levels):
    rng = np.random.default_rng(n_levels)
    codes = rng.integers(0, n_levels, 1500)
    other = np.where(rng.random(1500) < 0.8, codes % 30, rng.integers(0, 30, 1500))
    weights = rng.integers(1, 4, 1500).astype(float)
    pair = [
        Column("name", Kind.CATEGORY, values.astype(np.int32), tuple(map(str, range(n))))
        for values, n in ((codes, n_levels), (other, 30))
    ]
    found = strength(*(comparable(column, weights) for column in pair))
    assert found == pytest.approx(brute_strength(codes, other, weights), abs=1e-12)


@pytest.mark.parametrize("n_levels", [30, 300, 900])
def test_a_column_of_many_levels_that_determines_another_has_strength_one(n_levels):
    rng = np.random.default_rng(0)
    name = rng.integers(0, n_levels, 2000)
    race = rng.integers(0, 4, n_levels)[name]
    columns = [
        comparable(Column(n, Kind.CATEGORY, v.astype(np.int32), tuple(map(str, range(k)))))
        for n, v, k in (("name", name, n_levels), ("race", race, 4))
    ]
    assert strength(*columns) == pytest.approx(1, abs=1e-12)


def test_independent_columns_of_many_levels_are_seldom_associated():
    found = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        n_levels = (25, 100, 500, 900)[seed % 4]
        chances = rng.dirichlet(np.full(n_levels, 0.5))
        name = rng.choice(n_levels, 1000, p=chances).astype(np.int32)
        race = rng.choice(4, 1000, p=(0.6, 0.3, 0.07, 0.03)).astype(np.int32)
        pair = (
            comparable(Column("name", Kind.CATEGORY, name, tuple(map(str, range(n_levels))))),
            comparable(Column("race", Kind.CATEGORY, race, tuple("abcd"))),
        )
        found += strength(*pair) > 0
    assert found <= 10  # one in twenty
