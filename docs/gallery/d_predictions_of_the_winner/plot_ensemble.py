"""
Is an average better than the best?
===================================

Fifteen models err independently of each other. The best one, the average of the best five, and a greedy ensemble
are each corrected for their own selection, on the same predictions.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit

import heldout as ho

rng = np.random.default_rng(4)
y = rng.integers(0, 2, 150)
skill = np.linspace(0.2, 0.5, 15)
probabilities = expit(rng.normal(size=(150, 15)) + (2 * y[:, None] - 1) * skill)
rules = {"best": "best", "average of the best five": "top_k(k=5)", "greedy ensemble": "greedy_ensemble"}

figure, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
values = {}
for place, (name, rule) in enumerate(rules.items()):
    found = ho.estimate(y, probabilities, metric="roc_auc", selection=rule, n_bootstraps=200, random_state=0)
    values[name] = found.value
    ax.plot([found.interval.low, found.interval.high], [place, place], color="#0072B2", zorder=1)
    ax.plot(found.value, place, "o", color="#0072B2", label="corrected, 95 %" if place == 0 else None)
    ax.plot(found.uncorrected, place, "s", color="#D55E00", label="uncorrected" if place == 0 else None)
    print(f"{name}: uncorrected {found.uncorrected:.3f}, corrected {found.value:.3f}")
ax.set(yticks=range(len(rules)), yticklabels=list(rules), xlabel="area under the ROC curve", ylim=(2.5, -0.5))
ax.legend()
assert values["average of the best five"] > values["best"]

# %%
# Averages help where models err on different rows, as here by construction. Configurations of one search err alike,
# and gain less.
