"""
A search with Optuna
====================

Optuna proposes each configuration because of the scores before it. The history shows the best score so far and the
corrected score that the search would have reported then. A note in the figure says that part of the optimism
remains.
"""

import optuna
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import heldout as ho

X, y = load_breast_cancer(return_X_y=True)
X, y = X[:120, [1, 4, 8, 9]], y[:120]  # texture, smoothness, symmetry, fractal dimension
model = make_pipeline(StandardScaler(), SVC())
optuna.logging.set_verbosity(optuna.logging.ERROR)
space = {
    "svc__C": optuna.distributions.FloatDistribution(0.1, 100, log=True),
    "svc__gamma": optuna.distributions.FloatDistribution(0.01, 0.3, log=True),
}
search = ho.HeldOutOptunaSearchCV(model, space, n_trials=25, scoring="accuracy", random_state=0).fit(X, y)
ho.plots.SearchHistoryDisplay.from_search(search)

# %%

print(f"uncorrected {search.best_score_:.3f}, corrected {search.corrected_score_:.3f}")
print([flag.value for flag in search.estimate_.flags])
assert "adaptive_search" in [flag.value for flag in search.estimate_.flags]

# %%
# The replay repeats the choice among the 25 configurations, but not Optuna's proposals, and the flag says so.
# From 70 trials on the default makes short searches without the rows of each fold, and the predictions of their
# winners have no such optimism; ``ho.nested_cv`` repeats the whole search.
