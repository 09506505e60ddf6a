"""
# Is the average hiding something?

A curve for each of a few rows. Where they cross or fan out, the effect differs between rows.
"""

import clearwood as cw

policies = cw.datasets.insurance(3_000, seed=1)
model = cw.learner("glass").fit(policies)
curves = cw.effect(model, policies, "power", kind="ice", sample=80, seed=1)
curves.plot()

# %%
# Some curves rise steeply: those of young drivers, whom power endangers most.

print(cw.explain(model, policies).interactions())
