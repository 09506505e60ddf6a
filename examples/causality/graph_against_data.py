"""
# Does the graph fit the data?

A graph says which columns are independent given others. Each of these can be tested.
"""

import clearwood as cw

policies = cw.datasets.insurance(2_000, seed=0)
graph = cw.Graph(
    "gender -> {height mileage accidents}; age -> {mileage power accidents}; mileage -> accidents"
)
tests = graph.independences().test(policies)
print(tests)

# %%
# A rejection says that an arrow or a hidden cause is missing. Here it is that from power to
# accidents; no rejection would prove nothing.

better = cw.Graph([*graph.edges, ("power", "accidents")])
print(better.independences().test(policies).rejected or "nothing is rejected")

# %%

better.plot()
