"""
Would more rows help?
=====================

Each configuration at several training sizes, and the winner's curve extended to all rows by an inverse power
law.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import heldout as ho

X, y = load_breast_cancer(return_X_y=True)
X, y = X[:300, :5], y[:300]
model = make_pipeline(StandardScaler(), LogisticRegression())
grid = {"logisticregression__C": [0.01, 1]}

curve = ho.protocols.learning_curve(model, X, y, grid, scoring="accuracy", n_subsamples=10, random_state=0)
frame = curve.to_frame()
figure, ax = plt.subplots(layout="constrained")
for name, points in frame.groupby("name"):
    ax.plot(points["size"], points["mean"], "o-", label=name)
ax.set(xlabel="training rows", ylabel="accuracy on the other rows")
ax.legend()
