"""
# Rules of an ensemble

Each leaf of the condensed tree is a rule, with the rows it covers and how often it is right.
"""

from sklearn.ensemble import RandomForestClassifier

import clearwood as cw

tumours = cw.datasets.load("breast_cancer").to_frame()
X = tumours[["mean radius", "mean texture", "worst concave points"]]
y = tumours["target"]
forest = RandomForestClassifier(7, max_depth=2, random_state=0).fit(X, y)
tree = cw.condense(forest)
for rule in tree.rules(X, y)[:4]:
    print(rule)

# %%
# The way of one tumour through the tree:

print(tree.path(X.iloc[0]))

# %%
# The whole tree, each rule a leaf:

tree.plot()
