"""
More rows, less optimism
========================

The same search on more rows. The difference between the two scores shrinks, because each score becomes more
precise.
"""

import matplotlib.pyplot as plt
import numpy as np

import heldout as ho

rng = np.random.default_rng(2)
sizes = [30, 60, 120, 250, 500, 1000]
found = []
for n in sizes:
    y = rng.integers(0, 2, n)
    labels = np.where(rng.random((n, 40)) < 0.7, y[:, None], 1 - y[:, None])
    found.append(ho.estimate(y, labels, metric="accuracy", random_state=0))

figure, ax = plt.subplots(layout="constrained")
middle = np.array([each.value for each in found])
ends = np.array([[each.interval.low, each.interval.high] for each in found])
ax.errorbar(
    sizes, middle, yerr=np.abs(ends.T - middle), fmt="o", color="#0072B2", capsize=3, label="corrected, 95 %"
)
ax.plot(sizes, [each.uncorrected for each in found], "s", color="#D55E00", label="uncorrected")
ax.axhline(0.7, color="black", linestyle=":", label="true accuracy of all 40")
ax.set(xscale="log", xlabel="rows", ylabel="accuracy")
ax.legend()
assert found[0].optimism > 2 * found[-1].optimism

# %%
# With 1000 rows there is little left to correct. The correction knows it without being told the number of rows.
