"""
How often would another configuration win?
==========================================

Every bootstrap selects anew from the same predictions. A bar is the share of bootstraps that select the
configuration; the ten largest are drawn. The orange bar is the winner on all rows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import heldout as ho

X, y = load_breast_cancer(return_X_y=True)
X, y = X[:120, [1, 4, 8, 9]], y[:120]  # texture, smoothness, symmetry, fractal dimension
model = make_pipeline(StandardScaler(), SVC())
grid = {"svc__C": [0.1, 1, 10, 100], "svc__gamma": [0.01, 0.03, 0.1, 0.3]}

search = ho.HeldOutSearchCV(model, grid, scoring="accuracy", cv=10, method="bbc", random_state=0).fit(X, y)
frequency = search.estimate_.selection_frequency
order = np.argsort(-frequency, kind="stable")[:10]

figure, ax = plt.subplots(layout="constrained")
params = [search.cv_results_["params"][i] for i in order]
names = [f"C={each['svc__C']}, gamma={each['svc__gamma']}" for each in params]
colours = ["#D55E00" if i == search.best_index_ else "#0072B2" for i in order]
ax.barh(names, frequency[order], color=colours)
ax.set(xlabel="share of bootstraps that select it")
ax.invert_yaxis()

# %%

print(f"the winner: {frequency[search.best_index_]:.2f}, the most frequent: {frequency.max():.2f}")
assert frequency[search.best_index_] < 0.5

# %%
# On other rows of the same kind another configuration would probably have won. The score of this winner is partly
# luck.
