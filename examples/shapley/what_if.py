"""
# What if this value were another?

The prediction for changed values, with the difference shared among the changes.
"""

import clearwood as cw

loans = cw.datasets.credit(4_000, seed=1)
model = cw.learner("gbm").fit(loans)
risk = model.predict_proba(loans)[:, 1]
row = loans.take([risk.argmax()])
changed = cw.what_if(model, loans, row, arrears=0, debt_ratio=0.3)
changed.plot()

# %%
# It is what the model would predict, not what would happen: income stays as it is, whatever changed
# the debt ratio.

print(changed)
