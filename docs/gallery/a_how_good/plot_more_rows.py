"""
More rows, less optimism
========================

Forty models, each right on 70 % of all rows, are compared on more and more rows. The points are means over ten
simulated studies. The best score approaches the truth as each single score becomes more precise, and the mean
interval, the bar, becomes shorter.
"""

import matplotlib.pyplot as plt
import numpy as np

import heldout as ho

rng = np.random.default_rng(2)
sizes = np.array([30, 60, 120, 250, 500, 1000])
numbers = []
for n in sizes:
    for _ in range(10):
        y = rng.integers(0, 2, n)
        labels = np.where(rng.random((n, 40)) < 0.7, y[:, None], 1 - y[:, None])
        found = ho.estimate(y, labels, metric="accuracy", n_bootstraps=300, random_state=0)
        numbers.append([found.uncorrected, found.value, found.interval.low, found.interval.high])
uncorrected, corrected, low, high = np.reshape(numbers, (len(sizes), 10, 4)).mean(axis=1).T

figure, ax = plt.subplots(layout="constrained")
ax.errorbar(
    sizes,
    corrected,
    [corrected - low, high - corrected],
    fmt="o",
    capsize=3,
    color="#0072B2",
    label="corrected, 95 %",
)
ax.plot(sizes, uncorrected, "s", color="#D55E00", label="best score, uncorrected")
ax.axhline(0.7, color="black", linestyle=":", label="true accuracy of each model")
ax.set(xscale="log", xlabel="rows", ylabel="accuracy, mean of 10 studies")
ax.set_xticks(sizes, sizes)
ax.minorticks_off()
ax.legend()

# %%

optimism = uncorrected - corrected
for n, each in zip(sizes, optimism, strict=True):
    print(f"{n:4d} rows: optimism {each:.3f}")
assert optimism[0] > 4 * optimism[-1]

# %%
# A correction matters most where rows are few. With 1000 rows little is left to correct, and the same call finds
# that too.
