"""Columns as blocks of numbers."""

from dataclasses import replace

import numpy as np


def test_whitened_blocks_have_mean_0_and_variance_1_and_span_what_they_spanned(candidates_of):
    rng = np.random.default_rng(0)
    weight = rng.uniform(0.5, 2, 90)
    columns = {
        "town": rng.choice(list("abcd"), 90),
        "x": 1e6 + rng.normal(size=90),
        "gaps": np.where(rng.random(90) < 0.3, np.nan, rng.normal(size=90)),
    }
    these = candidates_of(columns, rng.normal(size=90), weight=weight)
    parts, owners = these.whitened
    assert owners.tolist() == [0, 0, 0, 1, 2, 2]
    np.testing.assert_allclose(these.weights @ parts, 0, atol=1e-7)
    for k, block in enumerate(these.blocks):
        own = parts[:, owners == k]
        np.testing.assert_allclose(
            own.T @ (own * these.weights[:, None]) / 90, np.eye(own.shape[1]), atol=1e-9
        )
        centred = block - np.average(block, axis=0, weights=these.weights)
        assert np.linalg.matrix_rank(np.hstack([own, centred]), tol=1e-6) == own.shape[1]


def test_a_part_that_follows_from_the_others_of_its_block_is_left_out(candidates_of):
    rng = np.random.default_rng(1)
    x, z = rng.normal(size=(2, 40))
    these = candidates_of({"x": x, "z": z}, x)
    twice = replace(these, blocks=(np.column_stack([x, 2 * x]), z[:, None]))
    parts, owners = twice.whitened
    assert owners.tolist() == [0, 1]
    np.testing.assert_allclose(np.abs(np.corrcoef(parts.T, [x, z])[[0, 1], [2, 3]]), 1)
