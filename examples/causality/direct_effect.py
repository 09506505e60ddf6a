"""
# A direct effect and what it rests on

The average natural direct effect of a column, with each condition of a causal reading checked on a
graph, beside the truth of the simulation.
"""

import clearwood as cw

policies = cw.datasets.insurance(8_000, seed=1)
model = cw.learner("glm", alpha=0).fit(policies)
graph = cw.Graph(cw.datasets.insurance_truth().scm.graph)
effect = cw.direct_effect(model, policies, "gender", graph=graph)
print(effect)

# %%

truth = cw.datasets.insurance_truth().direct_effect("gender", draws=20_000).effect
print(f"in truth, men have {truth[1] - truth[0]:.3f} more accidents per year")

# %%

effect.plot()
