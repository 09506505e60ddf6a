"""
# Smooth curves with honest bands

A generalised additive model chooses how smooth each curve is, and says how sure it is.
"""

import clearwood as cw

patients = cw.datasets.load("diabetes")
model = cw.learner("gam").fit(patients)
why = cw.explain(model, patients)

# a band that covers the whole curve at once, not each point by itself
why.effect("bmi", kind="component", band="simultaneous").plot()

# %%
# Degrees of freedom near one are straight lines, near zero columns that were left out.

for term in model.estimator_.term_table_:
    print(f"{term['term']:4} {term['edf']:5.2f} degrees of freedom, p = {term['p_value']:.1e}")
