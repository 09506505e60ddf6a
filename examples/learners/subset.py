"""
# The best columns of each size

Exact subset selection: for every number of columns, the subset with the least error.
"""

import clearwood as cw

patients = cw.datasets.load("diabetes")
model = cw.learner("subset").fit(patients)
path = cw.explanation.path(model, patients)
path.plot()

# %%
# Standard errors on the rows that chose the columns would be too small, so none are shown. How
# often halves of the rows choose a column shows how sure the choice is.

cw.benchmarking.inclusion(model, patients, draws=40).plot()

# %%
# Where one half chooses and the other estimates, intervals are valid.

print(cw.coefficients(model, patients, split=0.5))
