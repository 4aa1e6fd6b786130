"""
How many rows settle the choice?
================================

With this number of rows in the development set, the model chosen there is at most epsilon worse than the best one,
with probability .95 (Hoeffding's inequality). Each line is a number of models. Both axes are logarithmic.
"""

import matplotlib.pyplot as plt
import numpy as np

import heldout as ho

epsilons = np.geomspace(0.01, 0.2, 30)
figure, ax = plt.subplots(layout="constrained")
styles = {2: "-", 10: "--", 100: "-.", 10_000: ":"}
for candidates, style in styles.items():
    rows = [ho.rows_needed(epsilon, candidates=candidates) for epsilon in epsilons]
    ax.plot(epsilons, rows, style, color="#0072B2", label=f"{candidates} models")
ax.set(xscale="log", yscale="log", xlabel="epsilon, difference of accuracy", ylabel="rows")
ax.set_xticks([0.01, 0.02, 0.05, 0.1, 0.2], ["0.01", "0.02", "0.05", "0.1", "0.2"])
ax.minorticks_off()
ax.legend()

# %%

few, many = ho.rows_needed(0.05, candidates=10), ho.rows_needed(0.05, candidates=10_000)
print(f"epsilon .05: {few} rows for 10 models, {many} for 10 000")
print(f"epsilon .025: {ho.rows_needed(0.025, candidates=10)} rows for 10 models")
assert many < 3 * few

# %%
# Half the epsilon needs four times the rows. A thousand times the models need little more than twice as many.
