"""
Where should I cut?
===================

The threshold is chosen together with the configuration. The histogram shows which thresholds the bootstraps
choose.
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
ho.plots.ThresholdChoiceDisplay.from_search(search, metric="f1")

# %%
# A wide histogram says that these rows do not settle the threshold. The score in the legend is corrected for
# both choices.
