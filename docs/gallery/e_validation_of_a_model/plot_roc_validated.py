"""
The ROC curve of a validated model
==================================

No rows were held out. The apparent curve is that of the model on its own rows; the other one is corrected for
optimism by 60 bootstraps.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import heldout as ho

X, y = load_breast_cancer(return_X_y=True)
X, y = X[:80, [1, 4, 8, 9]], y[:80]  # texture, smoothness, symmetry, fractal dimension
model = make_pipeline(StandardScaler(), LogisticRegression(C=1e6, max_iter=1000))
validation = ho.bootstrap_validate(model, X, y, n_bootstraps=60, random_state=0)

ho.plots.RocCurveDisplay.from_validation(validation)

# %%
# The gap is what fitting four coefficients to 80 rows flatters.
