"""
Which value of a parameter is best?
===================================

Small points are all configurations. The line joins the best one at each value of C, and the band is the interval of
its own score. The star is the winner. All of it is uncorrected.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import heldout as ho

X, y = load_breast_cancer(return_X_y=True)
X, y = X[:200, [1, 4, 8, 9]], y[:200]  # texture, smoothness, symmetry, fractal dimension
model = make_pipeline(StandardScaler(), SVC())
grid = {"svc__C": [0.01, 0.1, 1, 10, 100, 1000], "svc__gamma": [0.001, 0.01, 0.1, 1]}

search = ho.HeldOutSearchCV(model, grid, scoring="roc_auc", random_state=0).fit(X, y)
display = ho.plots.ParameterSliceDisplay.from_search(search, "C")

# %%

print("winner:", search.best_params_)

# %%
# Look at the band before you refine a grid. Where it covers the whole line, a finer grid chooses among equals.
