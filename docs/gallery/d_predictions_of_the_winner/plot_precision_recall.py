"""
Precision and recall of the winner
==================================

Precision is the share of true positives among the rows that the model calls positive, recall the share of the
positive rows that it finds. The dashed line is the precision of guessing, which is the share of positive rows.
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
display = ho.plots.PrecisionRecallDisplay.from_search(search)

# %%

print(f"positive rows: {display.prevalence:.2f}, {display.lines[0].label}")

# %%
# Judge the curve by its height above the dashed line: the rarer the positive class, the lower the line.
