"""Rows made to break an importer: on every threshold, a hair to either side, and missing."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True)
def _one_thread():
    """Idle OpenMP threads of the libraries would spin while others work."""
    with threadpool_limits(1):
        yield


def _around(threshold):
    """Neighbours of a threshold in both precisions, and the threshold itself."""
    single = np.float32(threshold)
    return [
        threshold,
        np.nextafter(threshold, np.inf),
        np.nextafter(threshold, -np.inf),
        float(single),
        float(np.nextafter(single, np.float32(np.inf))),
        float(np.nextafter(single, np.float32(-np.inf))),
    ]


def _adversarial(forest, X, *, seed=0, missing=0.05, rows=400):
    rng = np.random.default_rng(seed)
    X = np.array(X, dtype=np.float64)[rng.integers(0, len(X), rows)]
    numeric = np.flatnonzero(
        ~forest.is_leaf & ~forest.is_categorical & (np.abs(forest.threshold) < 1e30)
    )
    if len(numeric):
        for row in X:
            for node in rng.choice(numeric, 3):
                row[forest.feature[node]] = rng.choice(_around(forest.threshold[node]))
        for node in rng.choice(numeric, min(50, len(numeric)), replace=False):
            extra = np.repeat(X[rng.integers(0, len(X), 1)], 6, axis=0)
            extra[:, forest.feature[node]] = _around(forest.threshold[node])
            X = np.vstack([X, extra])
    X[rng.random(X.shape) < missing] = np.nan
    return X


@pytest.fixture
def adversarial():
    """Give rows around the thresholds of a forest, drawn from the rows of a table."""
    return _adversarial


@pytest.fixture(scope="session")
def numbers():
    """Rows with noise columns, ties and missing values, and a target that uses most of them."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 6))
    X[:, 2] = rng.integers(0, 5, 500)
    X[:, 3] = np.round(X[:, 3], 1)
    y = 2 * X[:, 0] + X[:, 1] * (X[:, 2] > 2) + np.sin(3 * X[:, 3]) + rng.normal(0, 0.2, 500)
    gaps = X.copy()
    gaps[rng.random(X.shape) < 0.1] = np.nan
    return {
        "X": X,
        "gaps": gaps,
        "number": y,
        "two": np.where(y > 0, "yes", "no"),
        "three": np.array(["low", "mid", "top"])[np.digitize(y, [-1.5, 1.5])],
        "count": rng.poisson(np.exp(np.clip(y, -2, 2))),
    }
