"""
# Every measure with an interval

AUC, Gini, calibration and the rest, computed on rows the model did not see.
"""

import clearwood as cw

loans = cw.datasets.credit(2_000, seed=1)
bench = cw.benchmark(loans, ["logistic", "tree"], tune=0, repeats=1, seed=1)
held_out = bench.evaluation("logistic")
print(held_out)

# %%

held_out.roc().plot()

# %%
# A curve on the diagonal predicts probabilities that come true.

held_out.smooth_calibration().plot()
