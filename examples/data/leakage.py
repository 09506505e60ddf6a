"""
# A column that knows the answer

A column that is filled in after the event predicts it too well. The check looks at every column
alone.
"""

import numpy as np

import clearwood as cw
from clearwood.checks import leakage

loans = cw.datasets.credit(3_000, seed=1).to_frame()
rng = np.random.default_rng(1)

# the collection agency is called only after a default
late = (loans["default"] == "yes") & (rng.uniform(size=len(loans)) < 0.6)
loans["agency"] = np.where(late, "called", "none")

found = leakage(cw.read(loans, target="default"))
for leak in found.leaks:
    print(leak)

# %%

found.plot()

# %%
# Without that column the check is silent.

clean = leakage(cw.read(loans, target="default", ignore="agency"))
print(clean.leaks or "no leaks")
