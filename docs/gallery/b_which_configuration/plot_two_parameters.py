"""
Two parameters together
=======================

A cell is a pair of values, with its score and half the width of its 95 % interval. These data cannot tell the
outlined cells from the best one.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import heldout as ho

X, y = load_breast_cancer(return_X_y=True)
X, y = X[:120, [1, 4, 8, 9]], y[:120]  # texture, smoothness, symmetry, fractal dimension
model = make_pipeline(StandardScaler(), SVC())
grid = {"svc__C": [0.1, 1, 10, 100], "svc__gamma": [0.01, 0.03, 0.1, 0.3]}

search = ho.HeldOutSearchCV(model, grid, scoring="accuracy", cv=10, random_state=0).fit(X, y)
ho.plots.ParameterPlaneDisplay.from_search(search, ("C", "gamma"))

# %%
# Only C = 0.1 is clearly worse, whatever gamma is. Among the outlined cells the choice is free.
