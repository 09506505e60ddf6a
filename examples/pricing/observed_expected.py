"""
# Observed against expected, by factor

The table every pricing review starts with: where is the model off, and is it more than chance?
"""

import clearwood as cw

policies = cw.datasets.insurance(6_000, seed=1)
model = cw.learner("glm", alpha=0).fit(policies)
result = cw.evaluate(model, cw.datasets.insurance(6_000, seed=2), training=policies)
ages = result.by("age")
ages.plot()

# %%
# The bands whose interval misses one:

for (band,), off in zip(ages.bands, ages.misses, strict=True):
    if off:
        print(band)
