"""
Apparent and corrected, metric by metric
========================================

A square is the score of the model on the rows that fitted it, a point the score after correction. The line between
them is the optimism. For the Brier score lower is better, for the others higher.
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
validation = ho.bootstrap_validate(model, X, y, n_bootstraps=100, random_state=0)
names = ["roc_auc", "nagelkerke_r2", "brier_score", "calibration_slope"]
rows = [validation.rows[name] for name in names]

figure, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
for place, row in enumerate(rows):
    ax.plot([row.apparent, row.corrected], [place, place], color="#999999", zorder=1)
    ax.plot(row.apparent, place, "s", color="#D55E00", label="apparent" if place == 0 else None)
    ax.plot(row.corrected, place, "o", color="#0072B2", label="corrected" if place == 0 else None)
ax.set(yticks=range(len(names)), yticklabels=names, xlabel="score")
ax.invert_yaxis()
ax.legend(loc="upper left")

# %%

for row in rows:
    print(f"{row.metric:18} apparent {row.apparent:.3f}, corrected {row.corrected:.3f}")
assert all(row.optimism > 0 for row in rows)

# %%
# Every metric gets worse. The area loses little and the calibration slope much, so check more than the area.
