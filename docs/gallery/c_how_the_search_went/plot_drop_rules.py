"""
What the drop rules save
========================

No rule and six rules on the same grid of 20 configurations and ten folds. A bar is the number of fits. The number
beside it is the corrected score of the winner that the rule led to.
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
rules = [None, "bootstrap", "hoeffding_race", "paired", "wilcoxon", "forgiving", "aggressive"]

figure, ax = plt.subplots(layout="constrained")
fits, best = {}, {}
for place, rule in enumerate(rules):
    search = ho.HeldOutSearchCV(model, grid, scoring="accuracy", cv=10, drop=rule, n_bootstraps=200, random_state=0)
    search.fit(X, y)
    fits[rule], best[rule] = search.n_fits_, search.best_params_
    ax.barh(place, search.n_fits_, color="#56B4E9" if rule else "#999999")
    ax.text(search.n_fits_, place, f" {search.corrected_score_:.3f}", va="center")
ax.set(yticks=range(len(rules)), yticklabels=[rule or "no rule" for rule in rules], xlabel="fits")
ax.margins(x=0.12)
ax.invert_yaxis()

# %%

for rule in rules[1:]:
    print(f"{rule:15} saves {1 - fits[rule] / fits[None]:.0%}, same winner: {best[rule] == best[None]}")

# %%
# Rules differ in how soon they drop. One table shows what they save here; the page on dropping compares them on
# many.
