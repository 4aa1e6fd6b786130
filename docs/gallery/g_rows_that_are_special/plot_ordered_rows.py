"""
Rows in the order of time
=========================

Neighbouring rows are alike. Bootstraps of single rows take them for more information than they are, and the
interval is too narrow. Blocks of rows are drawn whole.
"""

import matplotlib.pyplot as plt
import numpy as np

import heldout as ho

rng = np.random.default_rng(8)
noise = np.zeros(300)
for day in range(1, 300):
    noise[day] = 0.8 * noise[day - 1] + rng.normal()
y = noise
predictions = 0.5 * noise[:, None] + rng.normal(scale=[0.5, 0.55, 0.6], size=(300, 3))

figure, ax = plt.subplots(layout="constrained")
blocks = {"single rows": None, "blocks": "auto"}
widths = []
for place, length in enumerate(blocks.values()):
    found = ho.estimate(
        y, predictions, metric="mean_squared_error", method="bbc", block_length=length, random_state=0
    )
    widths.append(found.interval.high - found.interval.low)
    ax.plot([found.interval.low, found.interval.high], [place, place], color="#0072B2")
    ax.plot(found.value, place, "o", color="#0072B2")
ax.set(yticks=[0, 1], yticklabels=list(blocks), xlabel="mean squared error, corrected")
ax.margins(y=0.5)
assert widths[1] > widths[0]
