"""
# Rates per year

Policies that ran for part of a year count by their exposure: the model is of accidents per year.
"""

import clearwood as cw

policies = cw.datasets.insurance(5_000, seed=1)  # cw.read(..., exposure="years")
model = cw.learner("glm", alpha=0).fit(policies)
print(policies.outcome, "by", policies.exposure)

# %%
# Cutting a policy in two changes nothing.

frame = policies.to_frame()
halves = frame.assign(years=frame["years"] / 2)
first, second = halves.copy(), halves.assign(accidents=0)
roles = {"target": "accidents", "exposure": "years", "ignore": "claim_amount"}
cut = cw.learner("glm", alpha=0).fit(
    cw.read({name: [*first[name], *second[name]] for name in frame}, task="count", **roles)
)
print(abs(cut.predict(policies) / model.predict(policies) - 1).max() < 1e-6)

# %%

cw.effect(model, policies, "mileage").plot()
