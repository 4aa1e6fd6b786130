"""
How often would another configuration win?
==========================================

Each bootstrap selects anew. The bars are the shares of bootstraps in which a configuration was selected.
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
order = np.argsort(-frequency)[:10]
figure, ax = plt.subplots(layout="constrained")
names = [", ".join(f"{k[5:]}={v}" for k, v in search.cv_results_["params"][i].items()) for i in order]
colours = ["#D55E00" if i == search.best_index_ else "#0072B2" for i in order]
ax.barh(range(len(order)), frequency[order], color=colours)
ax.set(yticks=range(len(order)), yticklabels=names, xlabel="share of bootstraps that select it")
ax.invert_yaxis()

# %%
# The winner (orange) is one of several that could have won. That is why its score is partly luck.
