"""
# A rating table

The model as a base rate times factors, with standard errors, and as SQL that recomputes it.
"""

import clearwood as cw

policies = cw.datasets.insurance(5_000, seed=1)
model = cw.learner("glm", alpha=0).fit(policies)
table = cw.factors(model, policies, base={"region": "town", "gender": "female"})
print(table)

# %%

table.plot()

# %%
# Recomputed from the table, the predictions agree to the last digits.

print(f"{table.largest_difference:.0e}")
print(table.to_sql(table="policies")[:300])
