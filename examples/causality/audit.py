"""
# Compare groups of people

What a model predicts and decides for groups, with intervals that hold in small groups too. The
result measures; it does not declare a model fair.
"""

import clearwood as cw

policies = cw.datasets.insurance(6_000, seed=1)
model = cw.learner("glm", alpha=0).fit(policies)
audit = cw.audit(model, policies, protected=["gender"], reference="female")
for sentence in audit.sentences[:3]:
    print(sentence)

# %%
# `audit.save("audit.html")` writes all of it as one page.

audit.of("gender").plot()
