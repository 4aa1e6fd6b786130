"""
Rows of one patient
===================

Every patient has five rows. If they are shuffled, a model recognises the patient, and no correction of the
selection can see that. With groups the score falls to what the model knows: nothing.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GroupKFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

import heldout as ho

rng = np.random.default_rng(0)
patient = np.repeat(np.arange(40), 5)
y = rng.integers(0, 2, 40)[patient]
X = rng.normal(size=(40, 4))[patient] + rng.normal(scale=0.1, size=(200, 4))
model, grid = KNeighborsClassifier(), {"n_neighbors": [1, 3, 5, 9]}
shuffled = StratifiedKFold(5, shuffle=True, random_state=0)
found = {
    "rows shuffled": ho.HeldOutSearchCV(model, grid, scoring="roc_auc", cv=shuffled, random_state=0).fit(X, y),
    "patients whole": ho.HeldOutSearchCV(model, grid, scoring="roc_auc", cv=GroupKFold(5), random_state=0).fit(
        X, y, groups=patient
    ),
}

figure, ax = plt.subplots(layout="constrained")
for place, search in enumerate(found.values()):
    estimate = search.estimate_
    ax.plot([estimate.interval.low, estimate.interval.high], [place, place], color="#0072B2")
    ax.plot(estimate.value, place, "o", color="#0072B2")
ax.axvline(0.5, color="black", linestyle=":", label="guessing")
ax.set(yticks=[0, 1], yticklabels=list(found), xlabel="area under the ROC curve, corrected")
ax.margins(y=0.5)
ax.legend()
