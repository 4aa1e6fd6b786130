"""
Which configurations were dropped, and when?
============================================

With ``drop="bootstrap"`` a configuration is fitted on further splits only while it may still win. A bar is the
number of splits that it had. The winner comes first, then those that finished, then those that were dropped.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import heldout as ho

X, y = load_breast_cancer(return_X_y=True)
X, y = X[:120, [1, 4, 8, 9]], y[:120]  # texture, smoothness, symmetry, fractal dimension
model = make_pipeline(StandardScaler(), SVC())
grid = {"svc__C": [0.001, 0.1, 1, 10, 100], "svc__gamma": [0.01, 0.03, 0.1, 0.3]}

search = ho.HeldOutSearchCV(model, grid, scoring="accuracy", cv=10, drop="bootstrap", random_state=0).fit(X, y)
ho.plots.RaceDisplay.from_search(search)

# %%

full = ho.HeldOutSearchCV(model, grid, scoring="accuracy", cv=10, random_state=0).fit(X, y)
print(f"{search.n_fits_} fits made, {search.n_fits_saved_} saved")
assert search.best_params_ == full.best_params_

# %%
# The winner is that of the full search. The estimate is made from the configurations that finished.
