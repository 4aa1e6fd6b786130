"""
Was tuning better than the default?
===================================

Sixty random trees are compared with the tree that scikit-learn grows by default. The curves are the best score
after each number of configurations, and the score of that best one on rows that took no part in choosing it. The
horizontal line is the default.
"""

import matplotlib.pyplot as plt
from scipy.stats import randint
from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

import heldout as ho

X, y = load_breast_cancer(return_X_y=True)
X, y = X[:150, [1, 4, 8, 9]], y[:150]
space = {"max_depth": randint(1, 12), "min_samples_leaf": randint(1, 20), "max_features": randint(1, 5)}
model = DecisionTreeClassifier(random_state=0)
search = ho.HeldOutRandomizedSearchCV(model, space, n_iter=60, scoring="accuracy", default={}, random_state=0)
search.fit(X, y)
found = search.evaluation_.overtuning

figure, ax = plt.subplots(layout="constrained")
ax.plot(found.n_configurations, found.uncorrected, "--", color="#D55E00", label="best so far, uncorrected")
ax.plot(found.n_configurations, found.corrected, "-", color="#0072B2", label="best so far, corrected")
ax.axhline(found.uncorrected[-1] - found.default.observed, color="black", linestyle=":", label="default tree")
ax.set(xlabel="configurations tried", ylabel="accuracy")
ax.legend()

# %%

print(f"gain on the rows that chose: {found.default.observed:.3f}")
print(f"gain on rows that did not:   {found.default.gain:.3f}")
print(found.sentence_on_default)

assert found.default.gain < found.default.observed / 2

# %%
# On the rows that chose the winner, tuning seems to gain .06. On rows that took no part in the choice it gains
# nothing. Look at this before you search longer.
