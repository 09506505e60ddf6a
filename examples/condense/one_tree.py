"""
# A whole forest as one tree

Ten trees become one with the same prediction at every point, and a separate checker proves it.
"""

from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

import clearwood as cw

X, y = load_iris(return_X_y=True, as_frame=True)
X = X.rename(columns=lambda name: name.removesuffix(" (cm)"))
forest = RandomForestClassifier(10, max_depth=2, random_state=0).fit(X, y)
tree = cw.condense(forest)
print(cw.certify(tree, forest))

# %%
# Leaves that no row reaches can go: the same predictions on the data, in a tree one can read.

small = tree.prune(X).tree
small.plot()

# %%

print(small.to_text())
