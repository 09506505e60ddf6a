"""Small tables and quick learners for benchmarks."""

import numpy as np
import pytest

import clearwood as cw


@pytest.fixture(scope="session")
def numbers():
    """120 rows, a linear target with noise, a category and missing values."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(120, 3))
    town = rng.choice(["Bern", "Chur", "Thun"], 120)
    y = x[:, 0] - 0.5 * x[:, 1] + (town == "Chur") + rng.normal(size=120)
    x[::17, 2] = np.nan
    columns = {"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "town": town, "y": y}
    return cw.read(columns, target="y", task="regression")


@pytest.fixture(scope="session")
def classes():
    """90 rows of three classes."""
    rng = np.random.default_rng(1)
    kind = np.repeat(["iris", "rose", "tulip"], 30)
    x = rng.normal(size=(90, 2)) + np.repeat([0.0, 1.0, 2.0], 30)[:, None]
    return cw.read({"a": x[:, 0], "b": x[:, 1], "kind": kind}, target="kind")
