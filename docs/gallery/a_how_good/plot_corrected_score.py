"""
The corrected score of a search
===============================

The orange line is ``best_score_``, the mean of the folds of the best configuration. The blue one is corrected
for having chosen it, with its 95 % interval as a band. The histogram shows the bootstraps behind it.
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
print(f"uncorrected {search.best_score_:.3f}, corrected {search.corrected_score_:.3f}")

# %%
# Quote the corrected score with its interval. The uncorrected one belongs beside it, not in its place.
