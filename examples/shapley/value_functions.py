"""
# One name, three Shapley values

The model uses only the first of two equal columns. Does the second get any credit? It depends on
the value function, and the result says which one it is.
"""

import numpy as np

import clearwood as cw

X = np.repeat([[0.0, 0.0], [1.0, 1.0]], 50, axis=0)
row = [[1.0, 1.0]]


def model(rows):
    """Use the first column alone."""
    return rows[:, 0]


# what the model does with the columns: set one, leave the other as it is
print(cw.shapley(model, X, row))

# %%
# What the columns say about one another counts, too:

print(cw.shapley(model, X, row, value="observational"))

# %%
# The first explains the model, the second the data. Neither is wrong; mixing them up is.

cw.shapley(model, X, row).plot()
