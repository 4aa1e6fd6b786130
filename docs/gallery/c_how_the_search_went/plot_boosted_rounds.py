"""
How many rounds does boosting need?
===================================

The line is the best log loss at each number of rounds; lower is better. One fit of 200 rounds serves every smaller
number in the grid. The number of rounds is chosen by scores, and the estimate corrects that choice as any other.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import GradientBoostingClassifier

import heldout as ho

X, y = load_breast_cancer(return_X_y=True)
X, y = X[:150, [1, 4, 8, 9]], y[:150]
model = GradientBoostingClassifier(max_depth=2, random_state=0)
grid = {"n_estimators": [1, 3, 10, 30, 100, 200], "learning_rate": [0.1, 0.5]}
search = ho.HeldOutSearchCV(model, grid, scoring="neg_log_loss", random_state=0).fit(X, y)
ho.plots.ParameterSliceDisplay.from_search(search, "n_estimators")

# %%
# ``ho.inner_split`` is the other honest way. Each model stops on rows of its own training part, and the rows that
# score it stay unseen. It is for models that can stop early, such as those of ``HistGradientBoostingClassifier``.

print("winner:", search.best_params_)
print(f"{search.n_fits_} fits, {search.n_fits_shared_} of them shared")
assert search.n_fits_shared_ > 0

# %%
# Few rounds learn too little, and many learn the noise. The loss shows both ends.
