"""
Is the model still useful after correction?
===========================================

Net benefit over the threshold probability, apparent and corrected for optimism, beside acting on all rows and on
none. Where the corrected curve falls to one of these two lines, the model does not help.
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
ho.plots.DecisionCurveDisplay.from_validation(validation)

# %%
# The apparent curve promises a little more than new rows will give. Read the benefit from the corrected one.
