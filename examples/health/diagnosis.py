"""
# A diagnosis with its probability

Is a predicted probability the share of patients it says? A curve with a band, on rows held out.
"""

import clearwood as cw

tumours = cw.datasets.load("breast_cancer").select(
    ["mean texture", "mean smoothness", "mean symmetry", "target"]
)
bench = cw.benchmark(tumours, ["logistic", "gam"], tune=0, repeats=1, seed=1)
print(bench)

# %%

bench.evaluation("gam").smooth_calibration().plot()
