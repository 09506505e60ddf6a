"""Rows mixed from near ones, which get work under a limit."""

import numpy as np

from clearwood.condensing.compose.likely_rows import with_likely_rows


def test_mixed_rows_lie_between_rows_and_keep_codes_and_gaps():
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.normal(size=300), rng.integers(0, 3, 300), rng.normal(size=300)])
    rows[rng.random(300) < 0.2, 2] = np.nan
    found = with_likely_rows(rows)
    assert len(found) == 21 * len(rows)
    np.testing.assert_array_equal(found[:300], rows)
    assert set(found[:, 1]) == {0.0, 1.0, 2.0}
    assert rows[:, 0].min() <= found[:, 0].min()
    assert found[:, 0].max() <= rows[:, 0].max()
    assert np.isnan(found[300:, 2]).any()
    assert len(np.unique(found[300:, 0])) > 300


def test_one_row_has_nothing_to_mix_with():
    row = np.array([[1.0, 2.0]])
    np.testing.assert_array_equal(with_likely_rows(row), row)


def test_large_values_do_not_overflow():
    rows = np.array([[1e308], [-1e308], [np.inf]])
    assert not np.isnan(with_likely_rows(rows)).any()
