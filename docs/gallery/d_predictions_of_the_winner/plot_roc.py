"""
The ROC curve of the winner
===========================

The curve is of held-out predictions, each by a model that had not seen the row. It is uncorrected, because the
winner was chosen by such predictions. The legend says so, and names the corrected area.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import heldout as ho

X, y = load_breast_cancer(return_X_y=True)
X, y = X[:200, [1, 4, 8, 9]], y[:200]  # texture, smoothness, symmetry, fractal dimension
model = make_pipeline(StandardScaler(), LogisticRegression())
grid = {
    "logisticregression__C": [0.001, 0.01, 0.1, 1, 10],
    "logisticregression__class_weight": [None, "balanced"],
}
scoring = ["roc_auc", "neg_log_loss"]
search = ho.HeldOutSearchCV(model, grid, scoring=scoring, refit="roc_auc", random_state=0).fit(X, y)
ho.plots.RocCurveDisplay.from_search(search)

# %%

print(f"mean area of the folds {search.best_score_:.3f}, corrected {search.corrected_score_:.3f}")
assert search.corrected_score_ < search.best_score_

# %%
# Show the curve, and quote the corrected area with its interval.
