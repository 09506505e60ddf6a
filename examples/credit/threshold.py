"""
# Choosing a threshold

Sensitivity and specificity of a decision, and the curves of all decisions.
"""

import clearwood as cw

loans = cw.datasets.credit(4_000, seed=1)
model = cw.learner("logistic").fit(loans)
result = cw.evaluate(model, cw.datasets.credit(3_000, seed=2), training=loans)
for threshold in (0.1, 0.2, 0.3):
    table = result.confusion(threshold=threshold)
    caught, passed = table["sensitivity"], table["specificity"]
    print(f"{threshold}: sensitivity {caught:.2f}, specificity {passed:.2f}")

# %%

result.confusion(threshold=0.2).plot()

# %%
# Defaults are rare, so precision says more than the ROC curve.

result.precision_recall().plot()
