"""
The winner's curse grows with the number of models
==================================================

Every model is right on 70 % of all possible rows. Each point is a mean over 40 simulated studies of 100 rows. The
best score of C models rises with C, although no model is better than another. The corrected score stays near the
truth.
"""

import matplotlib.pyplot as plt
import numpy as np

import heldout as ho

rng = np.random.default_rng(1)
truth, n_studies, numbers = 0.7, 40, [1, 2, 5, 10, 30, 100]
y = rng.integers(0, 2, (n_studies, 100))
right = rng.random((n_studies, 100, 100)) < truth  # studies, rows, models
labels = np.where(right, y[:, :, None], 1 - y[:, :, None])

uncorrected, corrected = [], []
for c in numbers:
    found = [
        ho.estimate(y[s], labels[s, :, :c], metric="accuracy", n_bootstraps=200, random_state=0)
        for s in range(n_studies)
    ]
    uncorrected.append(np.mean([estimate.uncorrected for estimate in found]))
    corrected.append(np.mean([estimate.value for estimate in found]))

figure, ax = plt.subplots(layout="constrained")
ax.plot(numbers, uncorrected, "s--", color="#D55E00", label="best score, uncorrected")
ax.plot(numbers, corrected, "o-", color="#0072B2", label="corrected")
ax.axhline(truth, color="black", linestyle=":", label="true accuracy of each model")
ax.set(xscale="log", xlabel="models tried", ylabel="accuracy, mean of 40 studies")
ax.legend()

# %%

for c, before, after in zip(numbers, uncorrected, corrected, strict=True):
    print(f"{c:3d} models: uncorrected {before:.3f}, corrected {after:.3f}")
assert uncorrected[-1] > 0.8
assert max(abs(after - truth) for after in corrected) < 0.03

# %%
# These models err independently, which is the worst case. Configurations of one search err on the same rows, so
# their best score flatters less. No formula in C alone can know how much less; the bootstrap reads it from the
# predictions.
