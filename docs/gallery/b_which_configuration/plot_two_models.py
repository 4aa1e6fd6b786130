"""
Is the winner better than the others?
=====================================

Eleven models that are equally good and one baseline are compared on the same 300 rows. A line is the 95 % interval
of the winner's area minus that of another model. A line that excludes 0 is orange. Every bootstrap selects its
winner anew, so that the winner's luck does not count as a difference.
"""

import matplotlib.pyplot as plt
import numpy as np

import heldout as ho

rng = np.random.default_rng(3)
y = rng.integers(0, 2, 300)
skill = np.r_[0.2, np.full(11, 1.0)]  # the first is the baseline
scores = rng.normal(size=(300, 12)) + y[:, None] * skill
compared = ho.compare_configurations(y, scores, metric="roc_auc", random_state=0)

others = [j for j in range(12) if f"configuration {j}" != compared.winner]
differences = [compared.difference("winner", j, fixed=[0] if j == 0 else []) for j in others]

figure, ax = plt.subplots(layout="constrained")
for j, difference in zip(others, differences, strict=True):
    colour = "#0072B2" if difference.interval.low <= 0 else "#D55E00"
    ax.plot([difference.interval.low, difference.interval.high], [j, j], color=colour)
    ax.plot(difference.value, j, "o", color=colour)
ax.axvline(0, color="black", linestyle=":")
ax.set(
    xlabel="area of the winner minus area of the other", ylabel="configuration; 0 is the baseline", yticks=others
)

# %%

better = [j for j, difference in zip(others, differences, strict=True) if difference.interval.low > 0]
print("winner:", compared.winner, "clearly better than", better)
assert better == [0]

# %%
# The winner is clearly better than the baseline, and than no other model. The eleven are equally good by
# construction.
