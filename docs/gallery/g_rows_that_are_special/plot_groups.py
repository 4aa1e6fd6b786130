"""
Rows of one patient
===================

Forty patients have five rows each, and the columns say nothing about the outcome. With shuffled rows the neighbours
recognise the patient, and no correction of the selection can notice. With patients kept whole, the score is near
.5, which is the truth.
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
settings = {"estimator": KNeighborsClassifier(), "param_grid": {"n_neighbors": [1, 3, 5, 9]}, "scoring": "roc_auc"}
shuffled = StratifiedKFold(5, shuffle=True, random_state=0)
rows = ho.HeldOutSearchCV(**settings, cv=shuffled, random_state=0).fit(X, y)
whole = ho.HeldOutSearchCV(**settings, cv=GroupKFold(5), random_state=0).fit(X, y, groups=patient)

figure, ax = plt.subplots(figsize=(6.4, 3), layout="constrained")
for place, search in enumerate([rows, whole]):
    interval = search.confidence_interval_
    ax.plot([interval.low, interval.high], [place, place], color="#0072B2")
    ax.plot(search.corrected_score_, place, "o", color="#0072B2")
ax.axvline(0.5, color="black", linestyle=":", label="guessing")
ax.set(yticks=[0, 1], yticklabels=["rows shuffled", "patients whole"], xlabel="area under the ROC curve, corrected")
ax.set_ylim(1.5, -0.5)
ax.legend(loc="lower right")

# %%

print(f"shuffled {rows.corrected_score_:.3f}, whole {whole.corrected_score_:.3f}")
assert rows.confidence_interval_.low > 0.9
assert whole.confidence_interval_.low < 0.5 < whole.confidence_interval_.high

# %%
# The correction assumes that held-out rows are new. Pass ``groups`` wherever rows belong together: folds and
# bootstraps then keep them whole.
