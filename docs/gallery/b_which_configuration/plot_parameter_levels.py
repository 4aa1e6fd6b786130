"""
A parameter without an order
============================

The kernels of a support vector machine are names, so they stand side by side. A small point is a configuration, a
large one the best of its kernel with the interval of its own error. Lower is better.
"""

from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_diabetes
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

import heldout as ho

X, y = load_diabetes(return_X_y=True)
X, y = X[:200], y[:200]
model = TransformedTargetRegressor(make_pipeline(StandardScaler(), SVR()), transformer=StandardScaler())
grid = {
    "regressor__svr__kernel": ["linear", "rbf", "sigmoid", "poly"],
    "regressor__svr__C": [0.01, 0.03, 0.1],
}
search = ho.HeldOutSearchCV(model, grid, scoring="neg_root_mean_squared_error", random_state=0).fit(X, y)
ho.plots.ParameterSliceDisplay.from_search(search, "kernel")

# %%

print("winner:", search.best_params_)

# %%
# Compare the best of each kernel with its interval. Where intervals overlap widely, the kernel matters little.
