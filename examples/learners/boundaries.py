"""
# Where classes part

The decision boundary of any classifier as two columns vary, the others held at typical values.
"""

import clearwood as cw

wines = cw.datasets.load("wine")
model = cw.learner("lda").fit(wines)
cw.explanation.boundaries(model, wines, ["flavanoids", "color_intensity"]).plot()

# %%
# Fisher's coordinates show the classes as far apart as a linear map can put them.

cw.explanation.discriminants(model, wines).plot()
