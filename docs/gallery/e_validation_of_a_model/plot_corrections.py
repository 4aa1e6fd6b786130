"""
Which correction of a validation?
=================================

Four ways to correct the apparent area of one model by the same number of bootstraps. The out-of-bag score alone is
of models fitted on fewer distinct rows. The methods .632 and .632+ weigh it with the apparent score.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import heldout as ho

X, y = load_breast_cancer(return_X_y=True)
X, y = X[:80, [1, 4, 8, 9]], y[:80]  # texture, smoothness, symmetry, fractal dimension
model = make_pipeline(StandardScaler(), LogisticRegression(C=1e6, max_iter=1000))
methods = ["optimism", "632", "632+", "oob"]
rows = []
for method in methods:
    found = ho.bootstrap_validate(model, X, y, metric="roc_auc", method=method, n_bootstraps=100, random_state=0)
    rows.append(found.rows["roc_auc"])

figure, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
for place, row in enumerate(rows):
    ax.plot([row.interval.low, row.interval.high], [place, place], color="#0072B2", zorder=1)
    ax.plot(row.corrected, place, "o", color="#0072B2", label="corrected, 95 %" if place == 0 else None)
ax.axvline(rows[0].apparent, color="#D55E00", linestyle="--", label="apparent")
ax.set(yticks=range(4), yticklabels=methods, xlabel="area under the ROC curve")
ax.invert_yaxis()
ax.legend(loc="lower left")

# %%

for method, row in zip(methods, rows, strict=True):
    print(f"{method:8} {row.corrected:.3f}")
values = [row.corrected for row in rows]
assert max(values) < rows[0].apparent
assert max(values) - min(values) < 0.05

# %%
# For a model with few parameters the corrections differ far less than the width of any interval.
