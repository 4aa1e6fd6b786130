"""
Is it worth acting on the model?
================================

Net benefit is the share of true positives minus the weighted share of false positives. The weight follows from the
probability above which you act. The other two lines show acting on all rows and on none.
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
search = ho.HeldOutSearchCV(model, grid, scoring=scoring, refit="neg_log_loss", random_state=0).fit(X, y)
ho.plots.DecisionCurveDisplay.from_search(search)

# %%
# The model is worth using at the thresholds where its curve is above both other lines. Choose the threshold by the
# costs of the two errors, not by the curve.
