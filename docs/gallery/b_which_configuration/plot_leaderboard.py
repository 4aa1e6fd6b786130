"""
How good is the best of twelve prompts?
=======================================

Each row is a prompt that answered the same 80 items; the dotted line is the score of configuration 0, the baseline.
The points are scores corrected for what chance adds to the prompt at each place of the ranking; the small marks are
the uncorrected scores. These items cannot distinguish the filled points from the best.
"""

import numpy as np

import heldout as ho

rng = np.random.default_rng(3)
hard = rng.normal(size=(80, 1))  # what is hard for one prompt is hard for the others
ability = np.r_[-0.5, rng.normal(0.4, 0.15, 11)]
right = (rng.normal(size=(80, 12)) + ability > hard).astype(float)

compared = ho.compare_configurations(right, metric="mean_score", random_state=0)
board = ho.estimates.leaderboard(compared, baseline=0)
ho.plots.LeaderboardDisplay.from_leaderboard(board)

# %%

print(*board.sentences, sep="\n")

# %%
# The ends of the ranking move most: a prompt in first place was also lucky, and one in last place unlucky.
