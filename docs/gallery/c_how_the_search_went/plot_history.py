"""
Did I search too long?
======================

Each point is what the search would have reported after its first 1, 2, 3, ... configurations. The uncorrected curve
can only rise. The corrected curve and its band need not follow.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import heldout as ho

X, y = load_breast_cancer(return_X_y=True)
X, y = X[:120, [1, 4, 8, 9]], y[:120]  # texture, smoothness, symmetry, fractal dimension
model = make_pipeline(StandardScaler(), SVC())
grid = {"svc__gamma": [0.01, 0.03, 0.1, 0.3], "svc__C": [0.1, 1, 10, 100]}

search = ho.HeldOutSearchCV(model, grid, scoring="accuracy", cv=10, random_state=0).fit(X, y)
display = ho.plots.SearchHistoryDisplay.from_search(search)

# %%

for c in (1, 8, 16):
    print(f"after {c:2d}: uncorrected {display.uncorrected[c - 1]:.3f}, corrected {display.corrected[c - 1]:.3f}")
assert display.corrected[15] <= display.corrected[7]

# %%
# The second half of this search brought nothing: the corrected score after 8 configurations was no lower than after
# all 16.
