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
