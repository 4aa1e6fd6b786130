"""
A simpler winner by the one-standard-error rule
===============================================

The rule takes the simplest configuration within one standard error of the best. Every bootstrap replays this
rule, so the correction is for it.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import heldout as ho

X, y = load_breast_cancer(return_X_y=True)
X, y = X[:120, :5], y[:120]
model = make_pipeline(StandardScaler(), LogisticRegression())
grid = {"logisticregression__C": [0.001, 0.003, 0.01, 0.03, 0.1, 1, 10]}

rules = {"best": "best", "one standard error": ho.selection.OneStandardError(complexity="logisticregression__C")}
figure, ax = plt.subplots(layout="constrained")
for place, (name, rule) in enumerate(rules.items()):
    search = ho.HeldOutSearchCV(model, grid, scoring="accuracy", cv=10, selection=rule, random_state=0).fit(X, y)
    found = search.estimate_
    ax.plot([found.interval.low, found.interval.high], [place, place], color="#0072B2")
    ax.plot(found.value, place, "o", color="#0072B2", label="corrected, 95 %" if place == 0 else None)
    ax.plot(found.uncorrected, place, "s", color="#D55E00", label="uncorrected" if place == 0 else None)
    print(name, search.best_params_)
ax.set(yticks=range(len(rules)), yticklabels=list(rules), xlabel="accuracy")
ax.margins(y=0.4)
ax.legend()
