"""
A search that respects time
===========================

``TimeSeriesSplit`` trains on the past and tests on the days that follow. The first figure shows the series with the
winner's predictions of days that its model had not seen, the second the mean absolute error with its interval. The
search draws blocks of rows because its folds follow time.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import Ridge
from sklearn.model_selection import TimeSeriesSplit

import heldout as ho

rng = np.random.default_rng(0)
X, error = rng.normal(size=(200, 30)), rng.normal(size=200)
for day in range(1, 200):
    error[day] += 0.7 * error[day - 1]
y = X[:, 0] + X[:, 1] + error
alphas = [0.1, 1, 10, 100, 1000]
search = ho.HeldOutSearchCV(
    Ridge(), {"alpha": alphas}, scoring="neg_mean_absolute_error", cv=TimeSeriesSplit(5), random_state=0
).fit(X, y)

figure, ax = plt.subplots(figsize=(6.4, 3), layout="constrained")
ax.plot(y, color="#999999", label="series")
for fold, (training, test) in enumerate(TimeSeriesSplit(5).split(X)):
    predicted = Ridge(**search.best_params_).fit(X[training], y[training]).predict(X[test])
    ax.plot(test, predicted, color="#0072B2", label="prediction" if fold == 0 else None)
ax.set(xlabel="day", ylabel="y")
ax.legend()

# %%

search.plot()

# %%

estimate = search.estimate_
print("winner:", search.best_params_, f"blocks of {estimate.provenance['block_length']} rows")
print(f"uncorrected {-estimate.uncorrected:.3f}, corrected {-estimate.value:.3f}")

# %%
# Use folds that follow time for rows that follow time. The blocks and the wider interval come with them.
