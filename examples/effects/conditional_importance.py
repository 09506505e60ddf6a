"""
# Two columns that say the same

Permuting one of two nearly equal columns shows little: the model has the other. Permute them
together, or one given the other.
"""

import numpy as np

import clearwood as cw

rng = np.random.default_rng(2)
income = rng.normal(40, 10, 600)
wage = income + rng.normal(0, 1, 600)
age = rng.uniform(20, 65, 600)
spending = income + wage + 0.5 * age + rng.normal(0, 5, 600)
table = cw.read(
    {"income": income, "wage": wage, "age": age, "spending": spending}, target="spending"
)
model = cw.learner("ridge").fit(table)

print(cw.importance(model, table, kind="permutation", repeats=10))

# %%
# As one group the two are what they are: most of the model.

pair = {"earnings": ["income", "wage"], "age": ["age"]}
cw.importance(model, table, kind="permutation", groups=pair, repeats=10).plot()
