"""
What the drop rules save
========================

Seven rules on the same search: the fits that each did, and the score of what it chose.
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
grid = {"svc__C": [0.001, 0.1, 1, 10, 100], "svc__gamma": [0.01, 0.03, 0.1, 0.3]}

rules = ["never", "bootstrap", "hoeffding_race", "paired", "wilcoxon", "forgiving", "aggressive"]
figure, ax = plt.subplots(layout="constrained")
for place, rule in enumerate(rules):
    search = ho.HeldOutSearchCV(
        model, grid, scoring="accuracy", cv=10, drop=rule, n_bootstraps=100, random_state=0
    ).fit(X, y)
    ax.barh(place, search.n_fits_, color="#0072B2")
    ax.text(search.n_fits_, place, f"  {search.best_score_:.3f}", va="center")
ax.set(yticks=range(len(rules)), yticklabels=rules, xlabel="fits; beside each bar the winner's uncorrected score")
ax.invert_yaxis()
ax.margins(x=0.15)

# %%
# The more a rule saves, the more it may miss: the page on dropping compares them on ten tables.
