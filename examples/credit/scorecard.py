"""
# A scorecard

Bands of every column by an exact search, points that add up, and what rounding costs.
"""

import clearwood as cw

loans = cw.datasets.credit(5_000, seed=1)
names = [name for name in loans.names if name != "gender"]
book = loans.select(names)
model = cw.learner("scorecard").fit(book)
table = cw.factors(model, book, points=(600, 50, 20))
print(table.points)

# %%

print(table.points.rounding.sentence)

# %%

table.plot()
