"""
Would more rows help?
=====================

Points are the mean accuracy of two configurations on the other rows, by the number of rows that trained them. The
lines are power laws fitted to the points, and the dotted vertical line is at all 300 rows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import RidgeClassifier

import heldout as ho

X, y = load_digits(return_X_y=True)
X, y = X[:300], y[:300]
curve = ho.protocols.learning_curve(
    RidgeClassifier(), X, y, {"alpha": [1, 10_000]}, scoring="accuracy", n_subsamples=10, random_state=0
)

figure, ax = plt.subplots(layout="constrained")
rows = np.linspace(curve.sizes[0], 450, 100)
extended = np.array([curve.at(n) for n in rows])
for j, (colour, marker) in enumerate([("#0072B2", "o"), ("#D55E00", "s")]):
    ax.errorbar(
        curve.sizes, curve.mean[:, j], curve.standard_error[:, j], fmt=marker, color=colour, label=curve.names[j]
    )
    ax.plot(rows, extended[:, j], color=colour)
ax.axvline(curve.n_rows, color="black", linestyle=":")
ax.set(xlabel="training rows", ylabel="accuracy")
ax.legend(loc="lower right")

# %%

j = curve.winner
now, later = curve.at(curve.n_rows)[j], curve.at(450)[j]
print(f"{curve.names[j]}: {now:.3f} with 300 rows, {later:.3f} with 450 by its curve")

# %%
# The curve says what half as many rows again would bring. It does not correct the choice of the winner: report the
# corrected score of a search.
