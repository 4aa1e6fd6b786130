"""
The best of 50 coin flips
=========================

Fifty models guess. The best of them seems to know something, and the correction sees that it does not.
"""

import numpy as np

import heldout as ho

rng = np.random.default_rng(0)
y = rng.integers(0, 2, 200)
guesses = rng.random((200, 50))
estimate = ho.estimate(y, guesses, metric="roc_auc", random_state=0)
display = estimate.plot()
display.ax_.axvline(0.5, color="black", linestyle=":")  # the true area
print(f"uncorrected {estimate.uncorrected:.3f}, corrected {estimate.value:.3f}")

# %%
# The interval holds .5. A reader who sees the uncorrected score alone would call it a finding.
