"""
Nested cross-validation beside the corrected score
==================================================

Nested cross-validation repeats the whole search in every outer fold. The corrected score comes with the search
itself.
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
figure, ax = plt.subplots(layout="constrained")
for place, found in enumerate([search.estimate_, nested]):
    ax.plot([found.interval.low, found.interval.high], [place, place], color="#0072B2")
    ax.plot(found.value, place, "o", color="#0072B2")
ax.axvline(search.best_score_, color="#D55E00", linestyle="--", label="uncorrected")
ax.set(
    yticks=[0, 1],
    yticklabels=[f"corrected: {search.n_fits_} fits", f"nested: {nested.n_fits} fits"],
    xlabel="accuracy",
)
ax.margins(y=0.5)
ax.legend()
