"""
Parameters that were drawn at random
====================================

A random search fills no grid. Its configurations are points over contours of the score, and these data cannot tell
the ringed ones from the best.
"""

from scipy.stats import loguniform
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import heldout as ho

X, y = load_breast_cancer(return_X_y=True)
X, y = X[:120, [1, 4, 8, 9]], y[:120]  # texture, smoothness, symmetry, fractal dimension
model = make_pipeline(StandardScaler(), SVC())
space = {"svc__C": loguniform(0.1, 100), "svc__gamma": loguniform(0.01, 0.3)}

search = ho.HeldOutRandomizedSearchCV(model, space, n_iter=40, scoring="accuracy", random_state=0).fit(X, y)
ho.plots.ParameterPlaneDisplay.from_search(search, ("C", "gamma"))

# %%

print(f"uncorrected {search.best_score_:.3f}, corrected {search.corrected_score_:.3f}")
assert search.corrected_score_ < search.best_score_

# %%
# The candidates were drawn before any score was known. So the replay repeats the whole choice, as for a grid.
