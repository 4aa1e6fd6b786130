"""
The winner's curse grows with the number of models
==================================================

All models are right on 70 % of the rows. The best of C looks better, the more there are. The corrected score
stays where it belongs.
"""

import matplotlib.pyplot as plt
import numpy as np

import heldout as ho

rng = np.random.default_rng(1)
numbers, truth = [1, 2, 5, 10, 30, 100], 0.7
y = rng.integers(0, 2, (20, 100))
right = rng.random((20, 100, 100)) < truth  # 20 studies, 100 rows, 100 models
labels = np.where(right, y[:, :, None], 1 - y[:, :, None])
found = [
    [ho.estimate(y[s], labels[s, :, :c], metric="accuracy", n_bootstraps=200, random_state=0) for s in range(20)]
    for c in numbers
]
uncorrected = [np.mean([each.uncorrected for each in row]) for row in found]
corrected = [np.mean([each.value for each in row]) for row in found]

figure, ax = plt.subplots(layout="constrained")
ax.plot(numbers, uncorrected, "s-", color="#D55E00", label="uncorrected")
ax.plot(numbers, corrected, "o-", color="#0072B2", label="corrected")
ax.axhline(truth, color="black", linestyle=":", label="true accuracy")
ax.set(xscale="log", xlabel="configurations tried", ylabel="accuracy, mean of 20 studies")
ax.legend()
print("uncorrected", np.round(uncorrected, 3), "corrected", np.round(corrected, 3))

# %%
# More rows, or configurations that are alike, make the curve flatter; no formula in C alone can correct it.
