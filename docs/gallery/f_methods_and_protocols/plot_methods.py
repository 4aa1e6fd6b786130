"""
Every method on the same predictions
====================================

Fifty configurations are right on 70 % of the rows each, so the truth is .7. Each method gives its value, and
most of them an interval.
"""

import matplotlib.pyplot as plt
import numpy as np

import heldout as ho

rng = np.random.default_rng(5)
y = rng.integers(0, 2, 100)
labels = np.where(rng.random((100, 50)) < 0.7, y[:, None], 1 - y[:, None])
names = ["cv", "naive_bootstrap", "corrected_t", "tt", "bbc_f", "bbc", "shrinkage"]
found = ho.compare_estimates(y, labels, metric="accuracy", folds=np.arange(100) % 10, methods=names, random_state=0)

figure, ax = plt.subplots(layout="constrained")
for place, name in enumerate(names):
    estimate = found[name]
    if estimate.interval is not None:
        ax.plot([estimate.interval.low, estimate.interval.high], [place, place], color="#0072B2")
    ax.plot(estimate.value, place, "o", color="#0072B2")
ax.axvline(0.7, color="black", linestyle=":", label="true accuracy of every one")
ax.set(yticks=range(len(names)), yticklabels=names, xlabel="accuracy")
ax.invert_yaxis()
ax.legend()

# %%
# The first three centre on the uncorrected score, so their intervals miss.
