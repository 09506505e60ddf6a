"""
# The model without a column

Average a column out of the model instead of fitting again: what is left is exact, and nothing takes
the column's place.
"""

import numpy as np

import clearwood as cw

policies = cw.datasets.insurance(4_000, seed=1)
model = cw.learner("gbm").fit(policies)
why = cw.explain(model, policies)
left = why.without("gender")

names = [name for name in policies.names if name != "gender"]
rest = policies.select(names)
refitted = cw.learner("gbm").fit(rest)
other = cw.explain(refitted, rest).decomposition

# %%
# A refit without gender leans on height, which stands for it; averaging gender out leaves the
# effect of height as it was.

for name, shown in {"averaged out": left, "refitted": other}.items():
    height = shown.effect("height").values
    print(f"{name}: effect of height spans {np.ptp(height):.3f}")

# %%

cw.effect(refitted, rest, "height").plot()
