"""
Seven methods on the same predictions
=====================================

Fifty models are right on 70 % of all rows each, so the truth is .7. Every method estimates the accuracy of the best
of them from the same 100 rows, and most of them give an interval.
"""

import matplotlib.pyplot as plt
import numpy as np

import heldout as ho

rng = np.random.default_rng(5)
y = rng.integers(0, 2, 100)
labels = np.where(rng.random((100, 50)) < 0.7, y[:, None], 1 - y[:, None])
methods = ["cv", "naive_bootstrap", "corrected_t", "tt", "bbc_f", "bbc", "shrinkage"]
found = ho.compare_estimates(
    y, labels, metric="accuracy", folds=np.arange(100) % 10, methods=methods, random_state=0
)

figure, ax = plt.subplots(layout="constrained")
for place, name in enumerate(methods):
    estimate = found[name]
    if estimate.interval is not None:
        ax.plot([estimate.interval.low, estimate.interval.high], [place, place], color="#0072B2")
    ax.plot(estimate.value, place, "o", color="#0072B2")
ax.axvline(0.7, color="black", linestyle=":", label="true accuracy of each model")
ax.set(yticks=range(len(methods)), yticklabels=methods, xlabel="accuracy")
ax.invert_yaxis()
ax.legend()

# %%

for name in methods:
    estimate = found[name]
    print(f"{name:16} {estimate.value:.3f}  {estimate.interval or 'no interval'}")
assert all(found[name].value > 0.75 for name in methods[:3])
assert all(abs(found[name].value - 0.7) < 0.03 for name in methods[4:])

# %%
# The first three report the score of the winner as if it had been the only model. The last three repeat the
# selection, and are near the truth. The fourth, ``tt``, subtracts too much from independent models.
