"""
# Would more rows help?

The risk of a learner as its training rows grow in number.
"""

import clearwood as cw
from clearwood.benchmarking import learning_curve

policies = cw.datasets.insurance(2_000, seed=1)
curve = learning_curve("glm", policies, sizes=[100, 300, 1_000, 1_600])
curve.plot()

# %%
# Where the curve is flat, more rows of the same kind change little; other columns might.

print(curve)
