"""
# Boosting that can be read

`glass` predicts about as well as boosted trees, and is a sum of curves and pairs that are shown
completely.
"""

import clearwood as cw

policies = cw.datasets.insurance(4_000, seed=1)
model = cw.learner("glass").fit(policies)
why = cw.explain(model, policies)
print(why.terms())

# %%
# Every curve has a band, from the likelihood of the curves and a jackknife over the folds.

why.effect("age", kind="component", band="model").plot()

# %%
# Young drivers with powerful cars are worse than either explains: the largest pair.

why.effect("age", "power", kind="component").plot()
