"""
# Shapley values of many rows

All rows at once: which columns matter, and in which direction.
"""

import numpy as np

import clearwood as cw

patients = cw.datasets.load("diabetes")
model = cw.learner("gbm", max_depth=3, max_iter=60).fit(patients)
shapley = cw.shapley(model, patients, patients)
shapley.plot()

# %%
# A row of the table for each patient and column: mean absolute values are an importance.

sizes = np.abs(shapley.values).mean(axis=0)
for name, size in sorted(zip(shapley.columns, sizes, strict=True), key=lambda pair: -pair[1])[:4]:
    print(f"{name}: {size:.1f}")
