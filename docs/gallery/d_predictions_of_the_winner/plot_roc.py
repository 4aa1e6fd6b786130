"""
The ROC curve of the winner
===========================

The curve is of held-out predictions, and uncorrected: the winner was chosen by such scores. The legend says so,
and names the corrected area.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import heldout as ho

X, y = load_breast_cancer(return_X_y=True)
X, y = X[:120, :5], y[:120]
model = make_pipeline(StandardScaler(), LogisticRegression())
grid = {"logisticregression__C": [0.001, 0.01, 0.1, 1, 10], "logisticregression__class_weight": [None, "balanced"]}

search = ho.HeldOutSearchCV(model, grid, scoring=["roc_auc", "neg_log_loss"], refit="roc_auc", random_state=0).fit(
    X, y
)
ho.plots.RocCurveDisplay.from_search(search)

# %%
# Compare the two numbers in the legend before you quote one.
