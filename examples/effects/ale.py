"""
# Effects where columns go together

With correlated columns, partial dependence averages over rows that cannot exist. Accumulated local
effects compare neighbouring rows only.
"""

import numpy as np

import clearwood as cw

rng = np.random.default_rng(1)
height = rng.normal(172, 10, 800)
weight = 0.9 * (height - 100) + rng.normal(0, 3, 800)
lung = 0.05 * height - 0.01 * weight + rng.normal(0, 0.3, 800)
people = cw.read({"height": height, "weight": weight, "lung": lung}, target="lung")
model = cw.learner("gbm").fit(people)

cw.effect(model, people, "weight", kind="ale").plot()

# %%
# Partial dependence gives every person every weight; the dotted part is where no such person is.

cw.effect(model, people, "weight").plot()
