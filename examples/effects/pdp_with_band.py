"""
# Partial dependence with a band

How the average prediction changes with one column, and how sure that is.
"""

import clearwood as cw

data = cw.datasets.insurance(4_000, seed=1)
model = cw.learner("gbm").fit(data)
effect = cw.effect(model, data, "age")
effect.plot()

# %%
# The effect of a pair is a surface.

print(cw.importance(model, data))
