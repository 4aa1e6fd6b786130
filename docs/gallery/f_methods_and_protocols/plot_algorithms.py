"""
Which algorithm should be deployed?
===================================

Each algorithm has its own grid. The square is the best uncorrected score, the point the corrected one, and the
cross the nested one. All are from the same folds and share their fits.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import heldout as ho

X, y = load_breast_cancer(return_X_y=True)
X, y = X[:150, [1, 4, 8, 9]], y[:150]  # texture, smoothness, symmetry, fractal dimension
neighbours = make_pipeline(StandardScaler(), KNeighborsClassifier())
logistic = make_pipeline(StandardScaler(), LogisticRegression())
algorithms = [
    ("neighbours", neighbours, {"kneighborsclassifier__n_neighbors": [1, 3, 5, 9, 15, 25]}),
    ("logistic", logistic, {"logisticregression__C": [0.01, 0.1, 1, 10]}),
    ("tree", DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2, 4], "min_samples_leaf": [1, 5, 20]}),
]
compared = ho.compare_algorithms(algorithms, X, y, scoring="accuracy", random_state=0)

figure, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
for place, each in enumerate(compared.algorithms):
    first = place == 0
    interval = each.corrected.interval
    ax.plot([interval.low, interval.high], [place, place], color="#0072B2", zorder=1)
    ax.plot(each.flat, place, "s", color="#D55E00", label="uncorrected" if first else None)
    ax.plot(each.corrected.value, place, "o", color="#0072B2", label="corrected, 95 %" if first else None)
    ax.plot(each.nested, place, "x", color="black", label="nested" if first else None)
ax.set(yticks=range(3), yticklabels=[each.name for each in compared.algorithms], xlabel="accuracy")
ax.invert_yaxis()
ax.legend()

# %%

for each in compared.algorithms:
    print(f"{each.name:10} flat {each.flat:.3f}, corrected {each.corrected.value:.3f}, nested {each.nested:.3f}")
print("deploy:", compared.deployed_name)

# %%
# Choose by the nested or the corrected score. The flat one favours algorithms with large grids.
