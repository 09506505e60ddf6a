"""
# Has the population changed?

Compare the table a model was fitted to with the rows it will score.
"""

import clearwood as cw
from clearwood.checks import drift

last_year = cw.datasets.insurance(4_000, seed=1)
rows = cw.datasets.insurance(2_000, seed=2).to_frame()

# new customers are younger and come from the city
young = rows[(rows["age"] < 45) & (rows["region"] != "village")]
this_year = cw.read(young, target="accidents", exposure="years", ignore="claim_amount")

change = drift(last_year, this_year)
print(change)

# %%
# A column is marked where the difference is more than chance and large enough to matter.

change.plot()
