"""
# A straight line near one row

LIME fits a weighted linear model around a row. Drawn again, do its terms keep their signs?
"""

import clearwood as cw

patients = cw.datasets.load("diabetes")
model = cw.learner("svr").fit(patients)
near = cw.lime(model, patients, 0, n_features=4, seed=1)
near.plot()

# %%
# The fit and the stability of each term come with it.

print(near)
