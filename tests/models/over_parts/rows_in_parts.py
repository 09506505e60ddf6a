"""A table with every kind of column, at once and in parts, for tests of fits over parts."""

import numpy as np
import pandas as pd

import clearwood as cw


def frame(n, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.random((n, 4))
    town = rng.choice(["Bern", "Chur", "Lund", None], n)
    mean = 3 * x[:, 0] + np.sin(6 * x[:, 1]) + (town == "Chur") * x[:, 2]
    noise = rng.normal(size=n)
    return pd.DataFrame(
        {
            "a": np.where(rng.random(n) < 0.1, np.nan, x[:, 0]),
            "b": x[:, 1],
            "c": x[:, 2],
            "town": town,
            "flag": x[:, 3] < 0.5,
            "day": np.datetime64("2024-01-01") + (x[:, 3] * 400).astype(int),
            "number": mean + 0.3 * noise,
            "yes": (mean + noise > 2).astype(int),
            "class": np.array(["u", "v", "w"])[np.clip(mean + noise, 0, 2).astype(int)],
            "count": rng.poisson(np.exp(mean / 4)),
            "weight": rng.integers(0, 3, n).astype(float),
        }
    )


def both(target, n=1500, pieces=2, **options):
    """Return the table, and the same in parts, the second of which is empty."""
    others = [name for name in ("number", "yes", "class", "count") if name != target]
    if "weight" not in options:
        others.append("weight")
    data = frame(n)
    options = {"target": target, "ignore": others, **options}
    edges = [400, 400, *np.linspace(400, n, pieces).astype(int)[1:]]
    cut = [data[a:b] for a, b in zip([0, *edges[:-1]], edges, strict=True)]
    return cw.read(data, **options), cw.scan(cut, **options)
