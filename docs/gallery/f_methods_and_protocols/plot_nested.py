"""
Nested cross-validation and the corrected score
===============================================

Nested cross-validation repeats the whole search without each outer fold and scores the winner on that fold. The
corrected score needs the fits of one search. The vertical line is the uncorrected score.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import heldout as ho

X, y = load_breast_cancer(return_X_y=True)
X, y = X[:120, [1, 4, 8, 9]], y[:120]  # texture, smoothness, symmetry, fractal dimension
model = make_pipeline(StandardScaler(), SVC())
grid = {"svc__C": [0.1, 1, 10, 100], "svc__gamma": [0.01, 0.03, 0.1, 0.3]}

search = ho.HeldOutSearchCV(model, grid, scoring="accuracy", cv=5, random_state=0)
nested = ho.nested_cv(search, X, y)
search.fit(X, y)

figure, ax = plt.subplots(figsize=(6.4, 3), layout="constrained")
for place, found in enumerate([search.estimate_, nested]):
    ax.plot([found.interval.low, found.interval.high], [place, place], color="#0072B2")
    ax.plot(found.value, place, "o", color="#0072B2")
ax.axvline(search.best_score_, color="#D55E00", linestyle="--", label="uncorrected")
names = [f"corrected\n{search.n_fits_} fits", f"nested\n{nested.n_fits} fits"]
ax.set(yticks=[0, 1], yticklabels=names, xlabel="accuracy", ylim=(1.5, -0.5))
ax.legend()

# %%

print(f"uncorrected {search.best_score_:.3f}, corrected {search.corrected_score_:.3f}, nested {nested.value:.3f}")
assert nested.n_fits > 4 * search.n_fits_
assert max(search.corrected_score_, nested.value) < search.best_score_

# %%
# Both are below the uncorrected score, and within each other's interval. Nested cross-validation took more than
# four times the fits.
