"""The tables from which the other scripts of this folder make their exports: cells.csv and sugar.csv.

They are every 7th row of scikit-learn's breast_cancer and every 6th of its diabetes, with the first four columns.
"""

from sklearn.datasets import load_breast_cancer, load_diabetes

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
cells = X.iloc[::7, :4].assign(diagnosis=y.iloc[::7].map({0: "malignant", 1: "benign"}))
cells.to_csv("cells.csv", index=False)

X, y = load_diabetes(return_X_y=True, as_frame=True)
X.iloc[::6, :4].assign(progression=y.iloc[::6]).to_csv("sugar.csv", index=False)
