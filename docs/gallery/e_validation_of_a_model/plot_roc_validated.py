"""
The ROC curve of a validated model
==================================

The model was fitted on all 80 rows, and no row was held out. The dashed curve is its apparent performance on the
same rows. The solid one is corrected for optimism by 100 bootstraps, with its 95 % band.
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
ho.plots.RocCurveDisplay.from_validation(validation)

# %%

area = validation.rows["roc_auc"]
print(f"apparent {area.apparent:.3f}, corrected {area.corrected:.3f}")
assert area.corrected < area.apparent

# %%
# Fitting four coefficients to 80 rows flatters the area by the difference. Report the corrected area and its
# interval.
