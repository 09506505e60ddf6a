"""
# Why was this person refused?

The exact contributions of a refused application, compared with the applications that were accepted.
"""

import numpy as np

import clearwood as cw

loans = cw.datasets.credit(5_000, seed=1)
names = [name for name in loans.names if name != "gender"]
book = loans.select(names)
model = cw.learner("glass").fit(book)
risk = model.predict_proba(book)[:, 1]

accepted = book.take(np.flatnonzero(risk <= 0.2))
refused = book.take(np.flatnonzero(risk > 0.35)[:1])
reasons = cw.shapley(model, accepted, refused)
reasons.plot()

# %%
# The same in words: the largest contributions upwards are the reasons.

print(reasons)
