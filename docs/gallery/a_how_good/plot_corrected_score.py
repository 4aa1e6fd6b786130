"""
The corrected score of a search
===============================

The dashed orange line is ``best_score_``, the mean accuracy of the best of 16 configurations over ten folds. The
solid blue line is the score corrected for having chosen the best, and the band is its 95 % interval. The histogram
shows the bootstraps from which both follow.
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
search.plot()

# %%
# The search did the fits of ``GridSearchCV`` and no others.

interval = search.confidence_interval_
print(f"uncorrected {search.best_score_:.3f}")
print(f"corrected   {search.corrected_score_:.3f}, 95 % interval {interval.low:.3f} to {interval.high:.3f}")
print(f"{search.n_fits_} fits")
assert search.n_fits_ == 160
assert search.corrected_score_ < search.best_score_

# %%
# Report the corrected score with its interval. The uncorrected score belongs beside it, not in its place.
