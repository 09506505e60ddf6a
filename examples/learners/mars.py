"""
# A model as a formula

MARS is a short sum of products of hinges. It can be written on a page and computed by hand.
"""

import clearwood as cw

patients = cw.datasets.load("diabetes")
model = cw.learner("mars", max_terms=9).fit(patients)
print(cw.models.equation(model))

# %%
# The same model as a curve of one column.

cw.explain(model, patients).effect("bmi", kind="component").plot()
