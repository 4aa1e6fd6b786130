"""
Corrected scores of several metrics
===================================

The search selected its winner by the area under the ROC curve. It kept the predictions of all configurations, so
each further metric has a corrected score of the same winner. The horizontal distance of square and point is the
optimism.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import heldout as ho

X, y = load_breast_cancer(return_X_y=True)
X, y = X[:120, [1, 4, 8, 9]], y[:120]  # texture, smoothness, symmetry, fractal dimension
model = make_pipeline(StandardScaler(), LogisticRegression())
grid = {
    "logisticregression__C": [0.001, 0.01, 0.1, 1, 10],
    "logisticregression__class_weight": [None, "balanced"],
}
scoring = ["roc_auc", "accuracy", "balanced_accuracy", "f1"]
search = ho.HeldOutSearchCV(model, grid, scoring=scoring, refit="roc_auc", random_state=0).fit(X, y)

figure, ax = plt.subplots(layout="constrained")
for place, estimate in enumerate(search.estimates_.values()):
    ax.plot([estimate.interval.low, estimate.interval.high], [place, place], color="#0072B2", zorder=1)
    ax.plot(estimate.value, place, "o", color="#0072B2", label="corrected, 95 %" if place == 0 else None)
    ax.plot(estimate.uncorrected, place, "s", color="#D55E00", label="uncorrected" if place == 0 else None)
ax.set(yticks=range(len(scoring)), yticklabels=scoring, xlabel="score")
ax.invert_yaxis()
ax.legend()

# %%

for name, estimate in search.estimates_.items():
    print(f"{name:18} uncorrected {estimate.uncorrected:.3f}, corrected {estimate.value:.3f}")
assert max(search.estimates_, key=lambda name: search.estimates_[name].optimism) == "roc_auc"

# %%
# Each estimate replays the selection by the area. The area has the largest optimism here, because the winner was
# chosen for it and for nothing else.
