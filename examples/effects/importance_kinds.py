"""
# Three meanings of importance

Shares of variance, loss after a permutation, mean absolute Shapley value: three questions, and they
can rank columns differently.
"""

import clearwood as cw

patients = cw.datasets.load("diabetes")
model = cw.learner("gbm", max_depth=3, max_iter=60).fit(patients)
why = cw.explain(model, patients)
why.importance().plot()

# %%
# How much worse predictions get when a column is shuffled, with intervals over repeats:

why.importance(kind="permutation", repeats=10).plot()

# %%
# And how far each column moves a prediction, on average over the patients:

why.importance(kind="shapley").plot()
