"""
A simpler winner by the one-standard-error rule
===============================================

The rule takes the simplest configuration within one standard error of the best: here the smallest C, the strongest
penalty. Every bootstrap replays the same rule, so each estimate is corrected for its own choice.
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
grid = {"logisticregression__C": [0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10]}
rules = {"best": "best", "one standard error": ho.selection.OneStandardError(complexity="logisticregression__C")}

figure, ax = plt.subplots(figsize=(6.4, 3), layout="constrained")
chosen = {}
for place, (name, rule) in enumerate(rules.items()):
    search = ho.HeldOutSearchCV(model, grid, scoring="accuracy", cv=10, selection=rule, random_state=0).fit(X, y)
    estimate = search.estimate_
    chosen[name] = search.best_params_["logisticregression__C"]
    ax.plot([estimate.interval.low, estimate.interval.high], [place, place], color="#0072B2", zorder=1)
    ax.plot(estimate.value, place, "o", color="#0072B2", label="corrected, 95 %" if place == 0 else None)
    ax.plot(estimate.uncorrected, place, "s", color="#D55E00", label="uncorrected" if place == 0 else None)
    print(f"{name}: C = {chosen[name]}, uncorrected {estimate.uncorrected:.3f}, corrected {estimate.value:.3f}")
ax.set(yticks=[0, 1], yticklabels=[f"{name}\nC = {C}" for name, C in chosen.items()], xlabel="accuracy")
ax.set_ylim(1.5, -0.5)
ax.legend()
assert chosen["one standard error"] < chosen["best"]

# %%
# The rule gave up .017 of the uncorrected score for a stronger penalty: less than one standard error, by
# construction.
