"""
# Which of two learners is really better?

Nested cross-validation gives each learner a risk with an interval, and the difference one of its
own.
"""

import clearwood as cw

patients = cw.datasets.load("diabetes")
bench = cw.benchmark(patients, ["baseline", "ols", "gam", "forest"], tune=0, repeats=1, seed=1)
bench.plot()

# %%
# Two intervals can overlap while the difference is clear: errors of two learners on the same rows
# go up and down together.

print(bench.compare("gam", "forest"))
print(bench.compare("gam", "ols"))
