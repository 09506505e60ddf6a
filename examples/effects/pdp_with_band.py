"""
# How predictions change with a column

Partial dependence: the average prediction if every row were given a value of the column.
"""

import clearwood as cw

policies = cw.datasets.insurance(4_000, seed=1)
model = cw.learner("gbm").fit(policies)
effect = cw.effect(model, policies, "age")
effect.plot()

# %%
# The picture as a sentence, for a report or a screen reader.

print(effect.sentence)
