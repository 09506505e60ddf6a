"""
# An ensemble as SQL

The condensed tree is exported as a query that gives the same predictions in any database.
"""

import sqlite3

import clearwood as cw

patients = cw.datasets.load("diabetes").select(["bmi", "bp", "s5", "target"])
model = cw.learner("gbm", max_iter=8, max_depth=2).fit(patients)
tree = cw.condense(model)
query = tree.to_sql(table="patients")
print(query[:400])

# %%
# Run it: the largest difference between the database and the model.

base = sqlite3.connect(":memory:")
frame = patients.to_frame()
frame.to_sql("patients", base, index=False)
answers = [row[-1] for row in base.execute(query)]
print(max(abs(a - b) for a, b in zip(answers, model.predict(patients), strict=True)))

# %%

tree.plot()
