"""
# Odds ratios with errors

The coefficients of a logistic regression in the units and levels of the table.
"""

import clearwood as cw

loans = cw.datasets.credit(5_000, seed=1)
model = cw.learner("logistic", C=float("inf")).fit(loans)
table = cw.coefficients(model, loans)
print(table)

# %%
# Gender acts through income alone: with income in the model its odds ratio is near one.

table.plot()
