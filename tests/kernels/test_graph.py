"""Walks and cuts in graphs as arrays."""

import numpy as np
import pytest

from clearwood.kernels import Neighbours, closure, minimum_cut, reach


def chain(n):
    """0 → 1 → … → n - 1, downwards and upwards."""
    ends = np.arange(1, n, dtype=np.int32)
    down = np.append(np.arange(n, dtype=np.int32), np.int32(n - 1))
    up = np.append(np.int32(0), np.arange(n, dtype=np.int32))
    return Neighbours(down, ends), Neighbours(up, ends - np.int32(1))


def test_closure_follows_arrows_only_forwards():
    effects, causes = chain(5)
    start = np.array([0, 0, 1, 0, 0], np.uint8)
    assert closure(effects, start).tolist() == [0, 0, 1, 1, 1]
    assert closure(causes, start).tolist() == [1, 1, 1, 0, 0]


def test_walks_of_a_hundred_thousand_nodes_do_not_exhaust_the_stack():
    effects, causes = chain(100_000)
    start = np.zeros(100_000, np.uint8)
    start[0] = 1
    none, everywhere = np.zeros(100_000, np.uint8), np.ones(100_000, np.uint8)
    found = reach(effects, causes, start, blocked=none, opened=none, inside=everywhere)
    assert np.all(found > 0)


@pytest.mark.parametrize(
    ("offsets", "targets", "match"),
    [
        ([0, 2], [0], "disagree"),
        ([0, 1], [1], "no node"),
        ([0, 1], [-1], "no node"),
        ([0, 2, 1, 2], [0, 1], "must not fall"),
        ([1, 1], [0], "disagree"),
        ([], [], "no offsets"),
    ],
)
def test_arrays_that_lead_outside_are_refused(offsets, targets, match):
    wrong = Neighbours(np.array(offsets, np.int32), np.array(targets, np.int32))
    with pytest.raises(ValueError, match=match):
        closure(wrong, np.zeros(max(0, len(offsets) - 1), np.uint8))


def test_masks_of_another_length_are_refused():
    effects, causes = chain(3)
    mask, short = np.zeros(3, np.uint8), np.zeros(2, np.uint8)
    with pytest.raises(ValueError, match="length"):
        closure(effects, short)
    with pytest.raises(ValueError, match="length"):
        reach(effects, causes, mask, blocked=short, opened=mask, inside=mask)


def test_cuts_cost_as_much_as_the_largest_flow_of_another_library():
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import maximum_flow

    random = np.random.default_rng(0)
    for _ in range(40):
        n = int(random.integers(3, 12))
        dense = random.integers(0, 20, (n, n)) * (random.random((n, n)) < 0.4)
        np.fill_diagonal(dense, 0)
        starts, ends = np.nonzero(dense)
        capacities = dense[starts, ends].astype(float)
        side = minimum_cut(
            n, starts.astype(np.int32), ends.astype(np.int32), capacities, source=0, sink=n - 1
        )
        cost = capacities[(side[starts] > 0) & (side[ends] == 0)].sum()
        assert side[0] == 1
        assert side[n - 1] == 0
        assert cost == maximum_flow(csr_matrix(dense.astype(np.int32)), 0, n - 1).flow_value


def test_cuts_refuse_ends_and_capacities_that_cannot_be():
    one = np.array([0], np.int32)
    for starts, ends, capacity in (
        (one, one + 5, 1.0),
        (one, one + 1, np.nan),
        (one - 1, one, 1.0),
    ):
        with pytest.raises(ValueError, match="graph_cut"):
            minimum_cut(
                2,
                starts.astype(np.int32),
                ends.astype(np.int32),
                np.array([capacity]),
                source=0,
                sink=1,
            )
