"""
The best of 50 models that know nothing
=======================================

Fifty models guess, so each has a true area under the ROC curve of .5. The best of them has a higher area on these
200 rows: by luck alone. The corrected score is close to .5, and its interval contains it.
"""

import numpy as np

import heldout as ho

rng = np.random.default_rng(0)
y = rng.integers(0, 2, 200)
guesses = rng.random((200, 50))

estimate = ho.estimate(y, guesses, metric="roc_auc", random_state=0)
display = estimate.plot()
display.ax_.axvline(0.5, color="black", linestyle=":")
place = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
display.ax_.annotate("truth", (0.5, 1), (-4, -4), ha="right", va="top", rotation=90, **place)

# %%

print(f"uncorrected {estimate.uncorrected:.3f}")
print(f"corrected   {estimate.value:.3f}, {estimate.interval.low:.3f} to {estimate.interval.high:.3f}")
assert estimate.interval.low < 0.5 < estimate.interval.high
assert abs(estimate.value - 0.5) < 0.01 < abs(estimate.uncorrected - 0.5) / 5

# %%
# Without the correction this area would look like a finding.
