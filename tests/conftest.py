"""Settings of all tests, and a portfolio that several of them use."""

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

import clearwood as cw

# No test depends on the clock: a busy machine must not fail one.
settings.register_profile(
    "clearwood",
    deadline=None,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
settings.load_profile("clearwood")


def _portfolio(seed=0, n_rows=600):
    """Simulate policies whose rate of claims is known."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, n_rows).astype(float)
    region = rng.choice(["north", "south", "west"], n_rows)
    years = rng.uniform(0.05, 1.5, n_rows)
    rate = np.exp(-0.8 - 0.02 * (age - 45) + 0.5 * (region == "south"))
    rows = {
        "age": age,
        "region": region,
        "years": years,
        "claims": rng.poisson(rate * years),
        "weight": rng.integers(1, 4, n_rows).astype(float),
        "policy": np.arange(n_rows),
    }
    return rows, rate


def _in_parts(rows, seed=1):
    """Cut each policy into one to three parts that share its exposure and its claims."""
    rng = np.random.default_rng(seed)
    parts = rng.integers(1, 4, len(rows["years"]))
    owner = np.repeat(np.arange(len(parts)), parts)
    cut = rng.uniform(0.2, 1.0, len(owner))
    cut /= np.bincount(owner, cut)[owner]
    taken = {name: np.asarray(values)[owner] for name, values in rows.items()}
    first = np.append(True, owner[1:] != owner[:-1])
    return taken | {
        "years": taken["years"] * cut,
        # all claims in the first part: any split will do
        "claims": np.where(first, taken["claims"], 0),
    }


@pytest.fixture(scope="session")
def portfolio():
    """Give policies, by seed and number of rows, and the true rate of each."""
    return _portfolio


@pytest.fixture(scope="session")
def policies():
    """Give a table of policies with exposures and weights, and the same policies cut into parts."""
    rows, _ = _portfolio()
    roles = {"target": "claims", "exposure": "years", "weight": "weight", "group": "policy"}
    both = (rows, _in_parts(rows))
    return tuple(cw.read(columns, task="count", **roles) for columns in both)
