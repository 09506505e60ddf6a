"""
# Predictions that never fall with a column

State what is known about a column, and have it proved for every possible row.
"""

import clearwood as cw

loans = cw.datasets.credit(4_000, seed=1)
rule = {"arrears": "up", "debt_ratio": "up", "income": "down"}
model = cw.learner("gbm", max_depth=2, monotone=rule).fit(loans)

proof = cw.monotone(model, loans, rule)
for column in rule:
    print(proof[column].sentence)

# %%
# The same learner without the rule: what the data alone would say.

free = cw.learner("gbm", max_depth=2).fit(loans)
print(cw.monotone(free, loans, {"debt_ratio": "up"})["debt_ratio"].sentence)

# %%

cw.effect(model, loans, "debt_ratio").plot()
