"""
Is one configuration better than another?
=========================================

The difference of two configurations on the same rows, corrected for having picked one of them by its score.
"""

import matplotlib.pyplot as plt
import numpy as np

import heldout as ho

rng = np.random.default_rng(3)
y = rng.integers(0, 2, 150)
scores = rng.normal(size=(150, 12)) + y[:, None] * np.linspace(0.6, 1.4, 12)
compared = ho.compare_configurations(y, scores, metric="roc_auc", random_state=0)
others = range(12)

figure, ax = plt.subplots(layout="constrained")
for other in others:
    if f"configuration {other}" != compared.winner:
        difference = compared.difference("winner", other)
        ax.plot([difference.interval.low, difference.interval.high], [other, other], color="#0072B2")
        ax.plot(difference.value, other, "o", color="#0072B2")
ax.axvline(0, color="black", linestyle=":")
ax.set(xlabel="area of the winner minus that of the other", ylabel="configuration", yticks=list(others))

# %%
# Where the line crosses 0, these rows cannot tell the two apart.
