"""
Is it worth acting on the model?
================================

Net benefit over the threshold probability from which one acts, beside acting on all and on none.
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
ho.plots.DecisionCurveDisplay.from_search(search)

# %%
# The model helps at thresholds where its curve is above both others.
