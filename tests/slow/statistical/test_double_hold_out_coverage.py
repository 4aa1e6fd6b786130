"""How often the interval of a hold-out inside a hold-out contains the score of the tested model on fresh rows."""

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.neighbors import KNeighborsClassifier

import heldout as ho

FRESH = 4000
NEIGHBOURS = [1, 3, 9, 27]


def drawn(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    X = rng.normal(size=(n, 3))
    return X, (X[:, 0] + rng.normal(size=n) > 0).astype(int)


def times_covered(n_simulations: int, scoring: str) -> int:
    covered = 0
    for seed in range(n_simulations):
        rng = np.random.default_rng(seed)
        X, y = drawn(rng, 120)
        found = ho.nested_cv(
            KNeighborsClassifier(), X, y, {"n_neighbors": NEIGHBOURS}, scoring=scoring,
            cv=ho.protocols.hold_out(1 / 3), inner="holdout", confidence_level=0.9, random_state=seed,
        )  # fmt: skip
        (fold,) = found.outer_folds
        model = KNeighborsClassifier(n_neighbors=NEIGHBOURS[fold.tested]).fit(
            X[fold.training_rows], y[fold.training_rows]
        )
        fresh_X, fresh_y = drawn(rng, FRESH)
        if scoring == "accuracy":
            truth = model.score(fresh_X, fresh_y)
        else:
            scores, positive = model.predict_proba(fresh_X)[:, 1], fresh_y == 1
            below = np.searchsorted(np.sort(scores[~positive]), scores[positive], side="left")
            upto = np.searchsorted(np.sort(scores[~positive]), scores[positive], side="right")
            truth = float((below + upto).mean() / 2 / (~positive).sum())
        covered += truth in found.interval
    return covered


@pytest.mark.parametrize(("scoring", "share"), [("accuracy", 0.9), ("roc_auc", 0.87)])
def test_it_covers(scoring: str, share: float) -> None:
    """The exact binomial interval holds its level; DeLong's normal one is a little short of it with 40 rows."""
    assert times_covered(600, scoring) >= binom.ppf(0.001, 600, share)
