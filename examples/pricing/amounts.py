"""
# Claim amounts

Amounts of zero or more have a log link and the Tweedie or gamma deviance, in fits and in
benchmarks.
"""

import clearwood as cw

policies = cw.datasets.insurance(3_000, seed=1, target="claim_amount")
print(policies.task, "of", policies.outcome)

# %%

bench = cw.benchmark(policies, ["baseline", "glm", "gam"], tune=0, repeats=1, seed=1)
print(bench)

# %%

model = cw.learner("gam").fit(policies)
cw.effect(model, policies, "power").plot()
