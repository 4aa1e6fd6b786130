"""
How many bootstraps are enough?
===============================

The corrected score with more and more bootstraps, by ten seeds. The scatter is what another seed would change.
"""

import matplotlib.pyplot as plt
import numpy as np

import heldout as ho

rng = np.random.default_rng(7)
y = rng.integers(0, 2, 100)
scores = rng.normal(size=(100, 30)) + y[:, None]
numbers = [20, 50, 100, 300, 1000]
found = [
    [ho.estimate(y, scores, metric="roc_auc", n_bootstraps=b, random_state=seed).value for seed in range(10)]
    for b in numbers
]

figure, ax = plt.subplots(layout="constrained")
ax.plot(numbers, found, "o", color="#0072B2", alpha=0.5)
ax.set(xscale="log", xlabel="bootstraps", ylabel="corrected area, one point for each seed")
assert np.std(found[-1]) < np.std(found[0]) / 2

# %%
# With 1000, the default, the seed changes the third decimal.
