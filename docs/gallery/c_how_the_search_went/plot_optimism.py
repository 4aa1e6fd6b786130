"""
How much does the best of c configurations flatter?
===================================================

A point is the mean over all ways to have tried c of the 16 configurations, so their order does not matter. The
dashed curve is the best score among the c, the solid one its score on rows that took no part in the choice. The gap
is the optimism.
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
display = ho.plots.OptimismCurveDisplay.from_search(search)

# %%

for c in (1, 2, 4, 8, 16):
    print(f"{c:2d} configurations: optimism {display.curve.optimism[c - 1]:.3f}")
assert display.curve.optimism[15] > display.curve.optimism[1] > 0

# %%
# The optimism grows ever more slowly, because further configurations make nearly the same errors as those before.
