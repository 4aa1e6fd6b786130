"""
The error of a regression, corrected
====================================

Losses are corrected as scores are. The best of 60 configurations of a regression tree has the smallest root mean
squared error on the held-out rows of the diabetes data; the corrected error is larger. The axis says that lower is
better.
"""

from sklearn.datasets import load_diabetes
from sklearn.tree import DecisionTreeRegressor

import heldout as ho

X, y = load_diabetes(return_X_y=True)
X, y = X[:150], y[:150]
grid = {"max_depth": [1, 2, 3, 4, 5], "min_samples_leaf": [1, 5, 10], "max_features": [1, 3, 6, 10]}
search = ho.HeldOutSearchCV(
    DecisionTreeRegressor(random_state=0), grid, scoring="neg_root_mean_squared_error", random_state=0
).fit(X, y)
search.plot()

# %%

estimate = search.estimate_
print(f"{len(search.cv_results_['params'])} configurations on {len(y)} rows")
print(f"uncorrected {-estimate.uncorrected:.1f}, corrected {-estimate.value:.1f}")
assert -estimate.value > -estimate.uncorrected

# %%
# The scorer's sign is negative, as in scikit-learn. The plot shows the error itself.
