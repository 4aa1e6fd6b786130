"""
How often does an interval hold the truth?
==========================================

The same 95 % interval in 60 studies. An interval that misses is orange. About 3 of 60 should miss.
"""

import matplotlib.pyplot as plt
import numpy as np

import heldout as ho

rng = np.random.default_rng(6)
figure, axes = plt.subplots(1, 2, sharey=True, layout="constrained")
for ax, method in zip(axes, ["naive_bootstrap", "shrinkage"], strict=True):
    missed = 0
    for study in range(60):
        y = rng.integers(0, 2, 80)
        labels = np.where(rng.random((80, 20)) < 0.7, y[:, None], 1 - y[:, None])
        found = ho.estimate(
            y, labels, metric="accuracy", method=method, n_bootstraps=200, random_state=study
        ).interval
        holds = found.low <= 0.7 <= found.high
        missed += not holds
        ax.plot([found.low, found.high], [study, study], color="#0072B2" if holds else "#D55E00")
    ax.axvline(0.7, color="black", linestyle=":")
    ax.set(title=f"{method}: {missed} of 60 miss", xlabel="accuracy")
axes[0].set_ylabel("study")

# %%
# A plain bootstrap of the winner ignores that it was chosen, and misses often. The corrected interval does not.
