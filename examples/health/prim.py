"""
# Who is at highest risk?

A box in a few columns that holds the patients with the worst outcomes, with a mean from patients
who took no part in finding it.
"""

import clearwood as cw

patients = cw.datasets.load("diabetes")
model = cw.learner("prim", boxes=1).fit(patients)
boxes = cw.models.equation(model)
print(boxes)

# %%

boxes.plot()
