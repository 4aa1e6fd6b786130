"""
Apparent and corrected, metric by metric
========================================

Each line goes from the apparent score to the corrected one.
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
validation = ho.bootstrap_validate(model, X, y, n_bootstraps=60, random_state=0)

names = ["roc_auc", "brier_score", "nagelkerke_r2", "calibration_slope"]
rows = [validation.rows[name] for name in names]
figure, ax = plt.subplots(layout="constrained")
for place, row in enumerate(rows):
    ax.annotate(
        "", (row.corrected, place), (row.apparent, place), arrowprops={"arrowstyle": "->", "color": "#0072B2"}
    )
    ax.plot(row.apparent, place, "s", color="#D55E00", label="apparent" if place == 0 else None)
    ax.plot(row.corrected, place, "o", color="#0072B2", label="corrected" if place == 0 else None)
ax.set(yticks=range(len(rows)), yticklabels=names, xlabel="score or loss")
ax.legend()

# %%
# All of them get worse. A calibration slope below 1 says by how much the coefficients should be shrunken.
