"""
# Does it work for everybody?

The same measures by subgroup, with intervals that widen where patients are few.
"""

import clearwood as cw

patients = cw.datasets.load("diabetes")
train, test = patients.take(slice(0, 300)), patients.take(slice(300, None))
model = cw.learner("gam").fit(train)
result = cw.evaluate(model, test, training=train)
by_sex = result.by("sex")
by_sex.plot()

# %%
# And by two columns at once:

print(result.by("sex", "bmi"))
