"""
A survival model, validated
===========================

A Cox regression predicts times to an event, some of which are censored. The curves are observed over predicted
probabilities of the event within one year, apparent and corrected for optimism.
"""

import numpy as np

import heldout as ho

rng = np.random.default_rng(0)
X = rng.normal(size=(150, 6))  # two of the six columns matter
life, end = rng.exponential(np.exp(-X[:, 0] - 0.5 * X[:, 1])), rng.uniform(0.5, 3, 150)
died, years = life <= end, np.minimum(life, end)

metrics = ["concordance_index", "brier_score_at(time=1)"]
validation = ho.bootstrap_validate(
    ho.spaces.CoxRegression(), X, (died, years), metric=metrics, n_bootstraps=60, random_state=0
)
ho.plots.CalibrationDisplay.from_validation(validation)

# %%

for name, row in validation.rows.items():
    print(f"{name}: apparent {row.apparent:.3f}, corrected {row.corrected:.3f}")
assert validation.rows["concordance_index"].optimism > 0

# %%
# You need not treat censored times specially: the metrics and the curve account for them.
