"""
# Which columns to adjust for

From a graph of causes: every minimal set of columns that removes confounding, or the reason why
none does.
"""

import clearwood as cw

graph = cw.Graph(
    """
    gender -> {height mileage accidents}
    age -> {mileage power accidents}
    {mileage power region} -> accidents
    """
)
print(graph.adjustment_sets("mileage", "accidents"))

# %%
# Adjusting for gender alone leaves a path open:

print(graph.is_valid_adjustment("mileage", "accidents", ["gender"]).why)

# %%

graph.plot()
