"""
# Boosted trees as a rating table

Trees of depth two are pairs at most, so they too are a table of factors: exact, only longer. With
bands it is short, and the loss is stated.
"""

import clearwood as cw

policies = cw.datasets.insurance(5_000, seed=1)
model = cw.learner("gbm", max_depth=2, max_iter=40).fit(policies)
exact = cw.factors(model, policies)
print(len(exact.to_frame()), "rows, exact:", exact.is_exact)

# %%

short = cw.factors(model, policies, max_cells=8)
print(f"{len(short.to_frame())} rows, largest difference {short.largest_difference:.1%}")

# %%

short.plot()
