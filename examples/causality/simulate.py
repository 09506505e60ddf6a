"""
# Simulate and intervene

A structural model as text: draw rows, set a column from outside, and ask what one row would have
been.
"""

import clearwood as cw

model = cw.SCM(
    """
    gender = choice("female", "male")
    mileage = 12 * exp(0.25 * (gender == "male") + normal(0, 0.4))
    accidents = poisson(0.02 * mileage)
    """
)
for kilometres in (5, 20):
    accidents = model.do(20_000, mileage=kilometres)["accidents"].values.mean()
    print(f"{kilometres} thousand km: {accidents:.3f} accidents")

# %%
# The same woman, had she been a man: her noise stays her own.

woman = model.do(1, gender="female", seed=1)
changed = model.counterfactual(woman, gender="male")
was, would_be = woman["mileage"].values[0], changed.table["mileage"].values[0]
print(f"mileage {was:.1f}, as a man {would_be:.1f}")

# %%

model.graph.plot()
