"""
# Which columns go together

Association between columns of any kind, before any model is fitted.
"""

import clearwood as cw
from clearwood.checks import association

policies = cw.datasets.insurance(3_000, seed=2)
pairs = association(policies)
pairs.plot()

# %%
# Height and gender are close, and so are mileage and gender: a model without gender can use them in
# its place. The strongest pairs as a table:

print(pairs)
