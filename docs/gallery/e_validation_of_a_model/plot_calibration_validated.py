"""
Calibration after correction for optimism
=========================================

The curves are smoothed observed shares over predicted probabilities. A logistic regression without a penalty is
always well calibrated on its own rows. The corrected curve shows what to expect on new rows.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import heldout as ho

X, y = load_breast_cancer(return_X_y=True)
X, y = X[:80, [1, 4, 8, 9]], y[:80]  # texture, smoothness, symmetry, fractal dimension
model = make_pipeline(StandardScaler(), LogisticRegression(C=1e6, max_iter=1000))
validation = ho.bootstrap_validate(model, X, y, n_bootstraps=100, random_state=0)
ho.plots.CalibrationDisplay.from_validation(validation)

# %%

slope = validation.rows["calibration_slope"]
print(f"calibration slope: apparent {slope.apparent:.2f}, corrected {slope.corrected:.2f}")
assert slope.corrected < slope.apparent

# %%
# A corrected slope below 1 means that predictions are too extreme: shrink the coefficients by about that factor.
