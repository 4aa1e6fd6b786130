"""
Do the outer folds agree on the winner?
=======================================

Nested cross-validation has a winner for each outer fold. A cell is the inner score of a configuration in the search
without that fold, and a circle marks the fold's winner. If winners differ, the search is sensitive to its rows.
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
grid = {"svc__C": [0.1, 1, 10, 100], "svc__gamma": [0.03, 0.1, 0.3]}

nested = ho.nested_cv(ho.HeldOutSearchCV(model, grid, scoring="accuracy", cv=5, random_state=0), X, y)
scores = np.array([fold.inner_scores for fold in nested.outer_folds])
winners = [fold.selected for fold in nested.outer_folds]

figure, ax = plt.subplots(layout="constrained")
image = ax.imshow(scores.T, cmap="cividis", aspect="auto")
ax.plot(range(len(winners)), winners, "o", color="white", markeredgecolor="black", markersize=10)
names = [name.split("(")[1].rstrip(")") for name in nested.names]
folds = [str(fold.fold) for fold in nested.outer_folds]
ax.set(
    yticks=range(len(names)), yticklabels=names, xticks=range(len(folds)), xticklabels=folds, xlabel="outer fold"
)
figure.colorbar(image, label="inner accuracy")

# %%

print(f"{len(set(winners))} different winners in {len(winners)} outer folds")
print("scores of the outer folds:", [round(fold.score, 3) for fold in nested.outer_folds])
assert len(set(winners)) > 1

# %%
# The estimate is for the procedure of searching, not for one of these winners. The model to deploy is the winner on
# all rows.
