"""
Rows in the order of time
=========================

The errors of neighbouring days are alike. A bootstrap of single rows treats 300 such days as independent, and its
interval is too short. Bootstraps of blocks of consecutive rows keep the dependence.
"""

import matplotlib.pyplot as plt
import numpy as np

import heldout as ho

rng = np.random.default_rng(8)
y = np.zeros(300)
for day in range(1, 300):
    y[day] = 0.8 * y[day - 1] + rng.normal()
predictions = 0.5 * y[:, None] + rng.normal(scale=[0.5, 0.55, 0.6], size=(300, 3))

figure, ax = plt.subplots(figsize=(6.4, 3), layout="constrained")
widths = []
for place, length in enumerate([1, "auto"]):
    found = ho.estimate(y, predictions, metric="mean_squared_error", block_length=length, random_state=0)
    widths.append(found.interval.high - found.interval.low)
    ax.plot([found.interval.low, found.interval.high], [place, place], color="#0072B2")
    ax.plot(found.value, place, "o", color="#0072B2")
blocks = found.provenance["block_length"]
ax.set(
    yticks=[0, 1], yticklabels=["single rows", f"blocks of {blocks} rows"], xlabel="mean squared error, corrected"
)
ax.set_ylim(1.5, -0.5)

# %%

print(f"blocks of {blocks} rows; interval {widths[1] / widths[0]:.2f} times as wide")
assert widths[1] > widths[0]

# %%
# If rows follow time, say so: pass ``block_length="auto"``. The score itself hardly changes, but its interval does.
