"""
Which configurations are as good as the winner?
===============================================

Each row is a configuration, from the best down, with the 95 % interval of its own score. Filled points are in the
model confidence set: these data cannot tell them from the best. The orange bar is the corrected score of the
winner.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import heldout as ho

X, y = load_breast_cancer(return_X_y=True)
X, y = X[:120, [1, 4, 8, 9]], y[:120]  # texture, smoothness, symmetry, fractal dimension
model = make_pipeline(StandardScaler(), SVC())
grid = {"svc__C": [0.1, 1, 10, 100], "svc__gamma": [0.01, 0.03, 0.1, 0.3]}

search = ho.HeldOutSearchCV(model, grid, scoring="accuracy", cv=10, random_state=0).fit(X, y)
ho.plots.RankingDisplay.from_search(search)

# %%

compared = ho.compare_configurations(search)
alike = compared.confidence_set()
print(len(alike.names), "of", len(search.cv_results_["params"]), "are in the confidence set")

# %%
# Choose among the filled ones by simplicity, speed or cost. Their order among each other is mostly luck.
