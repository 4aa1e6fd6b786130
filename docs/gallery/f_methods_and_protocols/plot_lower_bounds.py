"""
At least how good? Lower bounds
===============================

A one-sided interval says how good the winner is at least. Five methods give a bound of 95 % from the same
predictions of 20 models, whose true accuracy is .8. A bound that is right is below the truth in 95 of 100 studies.
Each dot is one of 40 studies.
"""

import matplotlib.pyplot as plt
import numpy as np

import heldout as ho

rng = np.random.default_rng(9)
methods = ["naive_bootstrap", "tilting", "mabt", "bbc", "shrinkage"]
bounds = []
for study in range(40):
    y = rng.integers(0, 2, 100)
    labels = np.where(rng.random((100, 20)) < 0.8, y[:, None], 1 - y[:, None])
    settings = {"metric": "accuracy", "alternative": "greater", "n_bootstraps": 200, "random_state": study}
    found = ho.compare_estimates(y, labels, methods=methods, **settings)
    bounds.append([found[name].interval.low for name in methods])
bounds = np.array(bounds)

figure, ax = plt.subplots(layout="constrained")
right = (bounds <= 0.8).sum(axis=0)
for place, values in enumerate(bounds.T):
    ax.plot(values, place + np.linspace(-0.2, 0.2, 40), "o", color="#0072B2", markersize=4, alpha=0.6)
ax.axvline(0.8, color="black", linestyle=":", label="true accuracy of each model")
names = [f"{name}\n{count} of 40 hold" for name, count in zip(methods, right, strict=True)]
ax.set(yticks=range(len(methods)), yticklabels=names, xlabel="lower bound of the accuracy")
ax.invert_yaxis()
ax.legend(loc="lower left")

# %%

print(dict(zip(methods, right.tolist(), strict=True)))
assert right[0] == 12
assert right[1:].min() >= 35

# %%
# The bound of the plain bootstrap ignores the choice, and only 12 of 40 hold. ``tilting`` and ``mabt`` bound the
# score on a part of the rows that the choice did not read, so their bounds scatter more. Among methods that hold,
# prefer the one whose dots are near the line.
