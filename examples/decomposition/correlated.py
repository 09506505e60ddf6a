"""
# What correlation does to a main effect

A product of two correlated columns has main effects, even though neither acts alone.
"""

import numpy as np

import clearwood as cw

rng = np.random.default_rng(1)
X = rng.multivariate_normal([0, 0], [[1, 0.3], [0.3, 1]], 2_000)


def product(rows):
    """Multiply the two columns, twice over, and add the first."""
    return rows[:, 0] + 2 * rows[:, 0] * rows[:, 1]


why = cw.explain(product, X, seed=1)
print(f"constant {why.baseline:.2f}: twice the correlation")

# %%
# The main effect is centred over the rows: x - 0.6 in theory, and what is left belongs to the pair.

why.effect("x0", kind="component").plot()
