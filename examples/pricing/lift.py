"""
# Lift and double lift

Does the new model see risks that the current premium does not?
"""

import clearwood as cw

policies = cw.datasets.insurance(6_000, seed=1)
model = cw.learner("gam").fit(policies)
next_year = cw.datasets.insurance(5_000, seed=2).to_frame()
next_year["premium"] = 0.2 + 0.004 * abs(next_year["age"] - 45)

result = cw.evaluate(model, next_year, training=policies, against="premium")
result.lift(bins=10).plot()

# %%
# Policies in order of model / premium. Where the two disagree most, observed accidents follow the
# model.

result.lift(against="premium").plot()
