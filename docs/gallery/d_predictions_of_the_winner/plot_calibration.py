"""
Is the winner calibrated?
=========================

Rows are grouped by their predicted probability. A point is the observed share of positive rows in its group, with
Wilson's 95 % interval, and on the diagonal both agree. The bars along the bottom show how often each probability
was predicted. The first winner has the best area, the second one the best log loss.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import heldout as ho

X, y = load_breast_cancer(return_X_y=True)
X, y = X[:120, :5], y[:120]
model = make_pipeline(StandardScaler(), LogisticRegression())
grid = {
    "logisticregression__C": [0.001, 0.01, 0.1, 1, 10],
    "logisticregression__class_weight": [None, "balanced"],
}
scoring = ["roc_auc", "neg_log_loss"]
for scorer in scoring:
    search = ho.HeldOutSearchCV(model, grid, scoring=scoring, refit=scorer, random_state=0).fit(X, y)
    ho.plots.CalibrationDisplay.from_search(search, name=f"best {scorer}")
    print(f"best {scorer}: {search.best_params_}")

# %%
# The area reads only the order of the predictions, so a winner by area may be badly calibrated. If you need
# probabilities, select by log loss.
