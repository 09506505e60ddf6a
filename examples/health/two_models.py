"""
# Does a measurement add anything?

The same learner with and without a laboratory value, compared on the same patients.
"""

import clearwood as cw

patients = cw.datasets.load("diabetes")
with_value = cw.benchmark(patients, {"all": cw.learner("gam")}, tune=0, repeats=1, seed=1)

names = [name for name in patients.names if name != "s5"]
without = cw.benchmark(
    patients.select(names), {"without s5": cw.learner("gam")}, tune=0, repeats=1, seed=1
)
print(with_value)
print(without)

# %%
# How the value acts, other values being equal:

model = cw.learner("gam").fit(patients)
cw.effect(model, patients, "s5", band="model").plot()
