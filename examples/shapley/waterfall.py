"""
# Why this prediction?

Shapley values share the difference between a prediction and the average among the columns, exactly.
"""

import clearwood as cw

policies = cw.datasets.insurance(4_000, seed=1)
model = cw.learner("gbm").fit(policies)
why = cw.explain(model, policies)
shapley = why.shapley(policies.head(1))
shapley.plot()

# %%
# Averages are over all 4,000 policies, not over a sample, and the parts add up to the prediction.

print(shapley)
