"""
# What is in a column

The distribution of a column with its gaps, weighted where rows have weights.
"""

import clearwood as cw
from clearwood.table import profile

policies = cw.datasets.insurance(3_000, seed=1, missing=0.05)
mileage = profile(policies["mileage"])
mileage.plot(width=400, height=160)

# %%
# A category is a bar for each level.

profile(policies["region"]).plot(width=400)
