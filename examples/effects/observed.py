"""
# Effect and data in one chart

What was observed at each value, what the model predicts there, and the effect of the column alone.
"""

import clearwood as cw

policies = cw.datasets.insurance(6_000, seed=1)
model = cw.learner("glm").fit(policies)
evaluation = cw.evaluate(model, cw.datasets.insurance(4_000, seed=2))
cw.effect(model, policies, "age").plot(observed=evaluation.by("age"))

# %%
# A straight line on the log scale cannot follow young drivers. Additive curves can.

curves = cw.learner("gam").fit(policies)
evaluation = cw.evaluate(curves, cw.datasets.insurance(4_000, seed=2))
cw.effect(curves, policies, "age").plot(observed=evaluation.by("age"))
