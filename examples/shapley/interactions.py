"""
# Pairs in a single prediction

Shapley interaction values: what pairs of columns add beyond the two alone.
"""

import numpy as np

import clearwood as cw

policies = cw.datasets.insurance(4_000, seed=1)
model = cw.learner("glass").fit(policies)
age, power = policies["age"].values, policies["power"].values
young = policies.take([np.where(age < 25, power, 0).argmax()])
result = cw.shapley(model, policies, young, interactions=True)
names = result.columns
pairs = result.interactions[0]
strongest = np.unravel_index(np.abs(np.triu(pairs, 1)).argmax(), pairs.shape)
print(
    f"strongest pair: {names[strongest[0]]} and {names[strongest[1]]}, {2 * pairs[strongest]:+.3f}"
)

# %%

result.plot()
