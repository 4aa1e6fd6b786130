"""
Which value of a parameter is best?
===================================

All configurations as points, and the best at each value as a line with the interval of its score.
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

search = ho.HeldOutSearchCV(model, grid, scoring="roc_auc", random_state=0).fit(X, y)
ho.plots.ParameterSliceDisplay.from_search(search, "C")

# %%
# A flat line says that the parameter hardly matters here.
