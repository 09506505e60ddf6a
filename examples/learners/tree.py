"""
# A single tree with substitutes for gaps

Where the column of a split is missing, a tree uses the column that agrees best with it.
"""

import numpy as np

import clearwood as cw

policies = cw.datasets.insurance(5_000, seed=1, missing=0.1)
model = cw.learner("tree", max_depth=3, min_samples_leaf=100).fit(policies)
cw.condense(model).plot()

# %%
# Costs of classes: missing a default is eight times as bad as refusing a good loan.

loans = cw.datasets.credit(4_000, seed=1)
for costs in (None, [[0, 1], [8, 0]]):
    tree = cw.learner("tree", max_depth=3, min_samples_leaf=50, costs=costs).fit(loans)
    print(f"costs {costs}: {np.mean(tree.predict(loans) == 'yes'):.1%} of the loans refused")
