"""
Correct a search that is finished
=================================

``GridSearchCV`` keeps a score for each configuration and split, and no predictions. ``ho.correct`` needs no more:
it bootstraps the splits. The same grid as ``ho.HeldOutSearchCV`` keeps the predictions and bootstraps the rows. The
vertical line is the uncorrected score, equal in both.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import heldout as ho

X, y = load_breast_cancer(return_X_y=True)
X, y = X[:120, [1, 4, 8, 9]], y[:120]  # texture, smoothness, symmetry, fractal dimension
model = make_pipeline(StandardScaler(), SVC())
grid = {"svc__C": [0.1, 1, 10, 100], "svc__gamma": [0.01, 0.03, 0.1, 0.3]}

finished = GridSearchCV(model, grid, scoring="accuracy", cv=10).fit(X, y)
kept = ho.HeldOutSearchCV(model, grid, scoring="accuracy", cv=10, random_state=0).fit(X, y)
found = {
    "scores of splits\n(ho.correct)": ho.correct(finished, random_state=0),
    "predictions of rows\n(HeldOutSearchCV)": kept.estimate_,
}

figure, ax = plt.subplots(figsize=(6.4, 3), layout="constrained")
for place, estimate in enumerate(found.values()):
    ax.plot([estimate.interval.low, estimate.interval.high], [place, place], color="#0072B2")
    ax.plot(estimate.value, place, "o", color="#0072B2", label="corrected, 95 %" if place == 0 else None)
ax.axvline(finished.best_score_, color="#D55E00", linestyle="--", label="uncorrected")
ax.set(yticks=[0, 1], yticklabels=list(found), xlabel="accuracy", ylim=(1.5, -0.5))
ax.legend()

# %%

for name, estimate in found.items():
    print(
        name.replace("\n", " "),
        f"{estimate.value:.3f}, {estimate.interval.low:.3f} to {estimate.interval.high:.3f}",
    )
assert finished.best_score_ == kept.best_score_

# %%
# An old search is worth correcting. For a new one keep the predictions: 120 rows say more about the noise than ten
# splits.
