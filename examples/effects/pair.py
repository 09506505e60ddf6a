"""
# Two columns at once

The joint effect of two columns as a surface: what a pair adds to the two single effects.
"""

import clearwood as cw

policies = cw.datasets.insurance(2_000, seed=1)
model = cw.learner("glass").fit(policies)
both = cw.effect(model, policies, "age", "power")
both.plot()

# %%
# A number and a category: a band of the picture for each level.

cw.effect(model, policies, "mileage", "region").plot()
