"""
Does an average of configurations do better?
============================================

The best configuration, the average of the best five, and a greedy ensemble, each corrected for its own
selection on the same predictions.
"""

import matplotlib.pyplot as plt
import numpy as np

import heldout as ho

rng = np.random.default_rng(4)
y = rng.integers(0, 2, 150)
signal = np.linspace(0.5, 1.0, 15)
probabilities = 1 / (1 + np.exp(-rng.normal(size=(150, 15)) - (2 * y[:, None] - 1) * signal))
rules = ["best", "top_k(k=5)", "greedy_ensemble"]

figure, ax = plt.subplots(layout="constrained")
for place, rule in enumerate(rules):
    found = ho.estimate(
        y, probabilities, metric="roc_auc", selection=rule, n_bootstraps=200, method="bbc", random_state=0
    )
    ax.plot([found.interval.low, found.interval.high], [place, place], color="#0072B2")
    ax.plot(found.value, place, "o", color="#0072B2", label="corrected, 95 %" if place == 0 else None)
    ax.plot(found.uncorrected, place, "s", color="#D55E00", label="uncorrected" if place == 0 else None)
ax.set(yticks=range(len(rules)), yticklabels=rules, xlabel="area under the ROC curve")
ax.margins(y=0.3)
ax.legend()

# %%
# These configurations err on different rows, so their average knows more than the best of them.
