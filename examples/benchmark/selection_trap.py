"""
# Choosing columns outside the folds

A target of pure noise and 400 columns of noise: choose the twenty best columns on all rows, and
cross-validation claims that they predict.
"""

import numpy as np

import clearwood as cw

rng = np.random.default_rng(5)
columns = {f"x{j}": rng.normal(size=150) for j in range(400)}
target = rng.normal(size=150)

best = sorted(columns, key=lambda name: -abs(np.corrcoef(columns[name], target)[0, 1]))[:20]
chosen = {name: columns[name] for name in best}

table = cw.read({**chosen, "y": target}, target="y")
wrong = cw.benchmark(table, ["baseline", "ols"], tune=0, interval="naive", seed=1)
print(wrong.compare("ols", "baseline"))

# %%
# A learner that chooses inside its fit does so anew on the training rows of each fold, and the
# skill is gone.

table = cw.read({**columns, "y": target}, target="y")
chooses = cw.learner("ols", select="correlation:20")
right = cw.benchmark(
    table, {"baseline": "baseline", "ols": chooses}, tune=0, interval="naive", seed=1
)
print(right.compare("ols", "baseline"))

# %%

right.plot()
