"""
Corrected scores of several metrics
===================================

One search keeps the predictions, so every metric that they allow has its corrected score, although only one
chose the winner.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import heldout as ho

X, y = load_breast_cancer(return_X_y=True)
X, y = X[:120, :5], y[:120]
model = make_pipeline(StandardScaler(), LogisticRegression())
grid = {"logisticregression__C": [0.001, 0.01, 0.1, 1, 10], "logisticregression__class_weight": [None, "balanced"]}

search = ho.HeldOutSearchCV(
    model, grid, scoring=["roc_auc", "accuracy", "balanced_accuracy"], refit="roc_auc", random_state=0
).fit(X, y)

figure, ax = plt.subplots(layout="constrained")
for place, estimate in enumerate(search.estimates_.values()):
    ax.plot([estimate.interval.low, estimate.interval.high], [place, place], color="#0072B2")
    ax.plot(estimate.value, place, "o", color="#0072B2", label="corrected, 95 %" if place == 0 else None)
    ax.plot(estimate.uncorrected, place, "s", color="#D55E00", label="uncorrected" if place == 0 else None)
ax.set(yticks=range(len(search.estimates_)), yticklabels=list(search.estimates_), xlabel="score")
ax.margins(y=0.3)
ax.legend()

# %%
# The winner was chosen by its area. Its accuracy was not the best of all, so less of it is luck.
