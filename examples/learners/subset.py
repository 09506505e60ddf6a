"""
# The best columns of each size

Exact subset selection: for every number of columns, the subset with the least error.
"""

import clearwood as cw

patients = cw.datasets.load("diabetes")
model = cw.learner("subset").fit(patients)
path = cw.path(model, patients)
path.plot()

# %%
# Standard errors after a selection would be too small, so none are shown. How often bootstrap
# samples choose a column is a better guide.

print(path.chosen, path.members(path.chosen))
