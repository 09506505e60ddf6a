"""
# Shapley values of many rows

All rows at once: which columns matter, and in which direction.
"""

import clearwood as cw

patients = cw.datasets.load("diabetes")
model = cw.learner("gbm", max_depth=3, max_iter=60).fit(patients)
shapley = cw.shapley(model, patients, patients)
shapley.plot()

# %%
# Mean absolute values over the patients are an importance.

print(cw.importance(model, patients, kind="shapley"))
