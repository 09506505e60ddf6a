"""
# A prediction as a sum

Boosted trees of depth two are a constant, main effects and pairs, and nothing else.
"""

import clearwood as cw

patients = cw.datasets.load("diabetes")
model = cw.learner("gbm", max_depth=2, max_iter=80).fit(patients)
why = cw.explain(model, patients)
parts = why.values(patients.head(3))

# for classes it is the score that is a sum: log odds, or the scores before the softmax
total = why.baseline + parts.values.sum(axis=1)
for prediction, added in zip(model.predict(patients.head(3)), total, strict=True):
    print(f"prediction {prediction:.4f}, sum of the parts {added:.4f}")

# %%
# Every term with its share of the variance: the whole model on one page.

print(why.terms())

# %%

why.interactions().plot()
