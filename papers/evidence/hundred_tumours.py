"""Write hundred-tumours.csv and the picture of the README: one search, repeated on 100 samples of a real table.

``python papers/evidence/hundred_tumours.py`` draws 100 of the 569 tumours, searches 299 configurations on five of
their measurements, and scores the winner on the other 469. The README shows a sample with errors like the averages.
``--picture`` draws the picture from the file alone.
"""

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import heldout as ho

mpl.use("agg")
from matplotlib import pyplot as plt

FILE = Path(__file__).with_name("hundred-tumours.csv")
PICTURE = Path(__file__).parents[2] / "docs" / "images" / "hundred-tumours.png"
SAMPLES = 100
MEASURED = ["texture error", "smoothness error", "compactness error", "symmetry error", "fractal dimension error"]
MODELS = [
    ("knn", make_pipeline(StandardScaler(), KNeighborsClassifier()), {
        "kneighborsclassifier__n_neighbors": list(range(1, 26)),
        "kneighborsclassifier__weights": ["uniform", "distance"],
        "kneighborsclassifier__p": [1, 2],
    }),
    ("svm", make_pipeline(StandardScaler(), SVC()), {
        "svc__C": [0.1, 0.3, 1, 3, 10, 30, 100],
        "svc__gamma": [0.01, 0.03, 0.1, 0.3, 1, 3, 10],
    }),
    ("tree", DecisionTreeClassifier(random_state=0), {
        "max_depth": [2, 3, 4, 6, None],
        "min_samples_leaf": [1, 2, 3, 5, 8],
        "max_features": [1, 2, None],
        "criterion": ["gini", "entropy"],
    }),
]  # fmt: skip


def found(seed: int) -> dict[str, float]:
    """The accuracies of one sample."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X, X_rest, y, y_rest = train_test_split(X[MEASURED], y, train_size=100, random_state=seed)
    search = ho.HeldOutSearchCV(MODELS, scoring="accuracy", cv=5, random_state=0).fit(X, y)
    interval = search.confidence_interval_
    return {
        "sample": seed,
        "uncorrected": search.best_score_,
        "corrected": search.corrected_score_,
        "low": interval.low,
        "high": interval.high,
        "rest": search.score(X_rest, y_rest),
    }


def draw(table: pd.DataFrame) -> None:
    """How far each accuracy is from that on the rest of the table."""
    figure, ax = plt.subplots(figsize=(7.5, 2.9), layout="constrained")
    bins = np.arange(-0.16, 0.26, 0.02)
    for name, colour in (("corrected", "#1f5a99"), ("uncorrected", "#c2571a")):
        off = table[name] - table["rest"]
        ax.hist(off, bins, color=colour, alpha=0.7, label=f"{name}: {off.mean():+.3f} on average")
    ax.axvline(0, color="#666666", linestyle="--", label="accuracy on the other 469 tumours")
    ax.set(xlabel="reported accuracy minus accuracy on the rest of the table", ylabel=f"samples of {len(table)}")
    ax.set_xlim(-0.16, 0.4)
    ax.legend(frameon=False, loc="upper right")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    figure.savefig(PICTURE, dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    if "--picture" not in sys.argv:
        pd.DataFrame([found(seed) for seed in range(SAMPLES)]).round(6).to_csv(FILE, index=False)
    read = pd.read_csv(FILE)
    draw(read)
    nearer = (read["corrected"] - read["rest"]).abs() < (read["uncorrected"] - read["rest"]).abs()
    holds = read["rest"].between(read["low"], read["high"])
    print(f"nearer in {nearer.sum()} of {len(read)} samples; the interval holds the rest in {holds.sum()}")
