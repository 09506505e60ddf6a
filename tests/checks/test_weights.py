"""Whole weights are repeated rows that stay together: a law of every check."""

import numpy as np
import pytest

import clearwood as cw
from clearwood.checks import association, drift, leakage

N_ROWS = 500


def tables(seed, target="y"):
    """Make one table with weights, some of them zero, and the same with its rows repeated."""
    rng = np.random.default_rng(seed)
    town = rng.choice(["Bern", "Chur", "Thun", "Visp"], N_ROWS)
    x = rng.normal(size=N_ROWS)
    late = np.where(rng.uniform(size=N_ROWS) < 0.3, np.nan, x)
    score = x + (town == "Visp")
    columns = {
        "town": town,
        "x": x,
        "late": late,
        "y": np.where(score + rng.normal(size=N_ROWS) > 0.5, "yes", "no"),
        "amount": score + rng.normal(size=N_ROWS),
        "id": np.arange(N_ROWS),
    }
    weights = rng.integers(0, 4, N_ROWS)
    rows = np.repeat(np.arange(N_ROWS), weights)
    repeated = {name: values[rows] for name, values in columns.items()}
    return (
        cw.read({**columns, "w": weights}, target=target, weight="w", group="id"),
        cw.read(repeated, target=target, group="id"),
        int((weights == 0).sum()),
    )


@pytest.mark.parametrize("target", ["y", "amount"])
def test_leakage(target):
    weighted, repeated, zero = tables(0, target)
    one, two = (leakage(table, columns=["town", "x", "late"]) for table in (weighted, repeated))
    assert one["town"] == pytest.approx(two["town"])
    assert one.skill[0] == pytest.approx(two.skill[0])
    assert one.auc[0] == pytest.approx(two.auc[0], nan_ok=True)
    # a leaf of a tree has two rows, which may be one that is repeated
    np.testing.assert_allclose(one.explained, two.explained, atol=0.06)
    assert (one.is_weighted, one.n_zero_weight) == (True, zero)
    assert "weighted" in repr(one)


def test_pure_levels():
    rng = np.random.default_rng(1)
    code = np.where(rng.uniform(size=N_ROWS) < 0.1, "paid", "open")
    labels = np.where(
        code == "paid", rng.uniform(size=N_ROWS) < 0.97, rng.uniform(size=N_ROWS) < 0.08
    )
    weights = rng.integers(1, 4, N_ROWS)
    rows = np.repeat(np.arange(N_ROWS), weights)
    columns = {"code": code, "y": np.where(labels, "yes", "no"), "id": np.arange(N_ROWS)}
    weighted = leakage(cw.read({**columns, "w": weights}, target="y", weight="w", group="id"))
    repeated = leakage(
        cw.read({name: values[rows] for name, values in columns.items()}, target="y", group="id")
    )
    (one,), (two,) = weighted.leaks, repeated.leaks
    assert "weighted" in one.text
    assert (one.level, one.outcome) == (two.level, two.outcome) == ("paid", "yes")
    assert [one.share, one.low, one.high, one.base] == pytest.approx(
        [two.share, two.low, two.high, two.base]
    )


def test_association():
    weighted, repeated, _ = tables(2)
    one, two = (
        association(table, columns=["town", "x", "amount"]) for table in (weighted, repeated)
    )
    np.testing.assert_allclose(one.strength, two.strength)
    assert one.is_weighted
    assert "weighted" in repr(one)
    assert any("weighted" in line for line in one.plot().to_dict()["title"]["subtitle"])


def test_drift():
    first, first_repeated, _ = tables(3)
    second, second_repeated, _ = tables(4)
    columns = ["town", "x", "late", "y"]
    one = drift(first, second, columns=columns)
    two = drift(first_repeated, second_repeated, columns=columns)
    for entry in one.columns:
        same = two[entry.column]
        assert entry.distance == pytest.approx(same.distance)
        assert entry.p_value == pytest.approx(same.p_value)
        assert (entry.first, entry.second) == (same.first, same.second)
    assert one.is_weighted
    assert "weighted" in repr(one)
