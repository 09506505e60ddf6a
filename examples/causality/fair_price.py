"""
# What happens to the price without gender

Three models: one that uses gender, one that was fitted without it, and one that averages it out.
"""

import clearwood as cw
from clearwood.fairness import alternatives

policies = cw.datasets.insurance(10_000, seed=1)
model = cw.learner("glm", alpha=0).fit(policies)
fair = cw.fair(model, policies)

tall, short = {"height": [190]}, {"height": [155]}
person = {"age": [35], "region": ["city"], "mileage": [12], "power": [85]}
unaware = cw.fair(model, policies, kind="unaware")
for name, priced in {"fair": fair, "unaware": unaware}.items():
    prices = [priced.predict(person | size)[0] for size in (short, tall)]
    print(f"{name}: {prices[0]:.3f} at 155 cm, {prices[1]:.3f} at 190 cm")

# %%
# Height has no effect on accidents. The unaware model uses it in place of gender; the fair one does
# not need to.

print(alternatives(model, policies, risks=False))

# %%

cw.effect(unaware, policies, "height").plot()
