"""
# Explain any model

A network from scikit-learn has no exact decomposition. The same calls give estimates with standard
errors.
"""

from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import clearwood as cw

patients = cw.datasets.load("diabetes").to_frame().drop(columns="sex")
X, y = patients.drop(columns="target"), patients["target"]
network = MLPRegressor(
    hidden_layer_sizes=(16,), learning_rate_init=0.02, max_iter=3_000, random_state=0
)
model = make_pipeline(StandardScaler(), network).fit(X, y)

shapley = cw.shapley(model, X, X.head(1))
shapley.plot()

# %%
# The largest standard error of a value, and how the values were computed:

print(f"{shapley.standard_errors.max():.2f}")
for note in shapley.notes:
    print(note)
