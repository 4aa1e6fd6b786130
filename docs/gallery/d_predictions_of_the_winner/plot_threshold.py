"""
Where should I cut?
===================

The configuration and the threshold were chosen together by F1. The line is the winner's F1 at each threshold,
uncorrected; the histogram shows the thresholds that bootstraps choose. The legend has the score corrected for both
choices.
"""

from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

import heldout as ho

X, y = make_classification(400, 10, n_informative=4, weights=[0.85], flip_y=0.05, random_state=0)
grid = {"C": [0.01, 0.1, 1, 10]}
search = ho.HeldOutSearchCV(LogisticRegression(), grid, scoring="neg_brier_score", random_state=0).fit(X, y)
display = ho.plots.ThresholdChoiceDisplay.from_search(search, metric="f1")

# %%

tuned = ho.estimate(y, search.predictions_, metric="f1", selection="threshold")
print(f"threshold {tuned.provenance['threshold']:.3f}")
print(f"F1 uncorrected {tuned.uncorrected:.3f}, corrected {tuned.value:.3f}")
assert tuned.value < tuned.uncorrected

# %%
# The best threshold is far from .5, because few rows are positive. The wide histogram says that 400 rows do not
# settle it.
