"""Cross-validation that imputes within every fit, beside one that imputes all rows first; the truth is known.

A logistic regression of six columns is fitted on 80 rows; in five columns a quarter of the values is missing. The
truth is the AUC of the model fitted on all rows, on 1000 new rows with gaps, completed without their outcome.
"""

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import KFold

import heldout as ho
from heldout.data.task import truth_of
from heldout.imputation.chained import ChainedImputer
from heldout.imputation.settings import Imputation

N, N_NEW = 80, 1000
IMPUTATION = Imputation(2, imputer=ChainedImputer(n_iterations=3))
MODEL = LogisticRegression(C=10.0)


def drawn(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    x = rng.normal(size=(n, 6)) + 0.7 * rng.normal(size=(n, 1))
    y = (x[:, :2].sum(axis=1) + rng.logistic(size=n) > 0).astype(int)
    x[:, 1:] = np.where(rng.random((n, 5)) < 0.25, np.nan, x[:, 1:])
    return x, y


def imputed_first(x: np.ndarray, y: np.ndarray, folds: KFold, seed: int) -> float:
    """The cross-validated AUC where all rows were completed with their outcome beforehand."""
    scores = []
    for table in IMPUTATION.completed(x, truth_of(y), seed):
        for train, test in folds.split(x):
            said = clone(MODEL).fit(table[train], y[train]).predict_proba(table[test])[:, 1]
            scores.append(roc_auc_score(y[test], said))
    return float(np.mean(scores))


def biases(repetitions: int) -> np.ndarray:
    """(repetitions, 2): estimate - truth, imputed within every fit and before."""
    found = []
    for seed in range(repetitions):
        rng = np.random.default_rng(seed)
        (x, y), (new, outcome) = drawn(rng, N), drawn(rng, N_NEW)
        folds = KFold(4, shuffle=True, random_state=seed)
        search = ho.HeldOutSearchCV(
            MODEL, {}, scoring="roc_auc", cv=folds, imputation=IMPUTATION, method=None, random_state=seed
        ).fit(x, y)
        truth = roc_auc_score(outcome, search.predict_proba(new)[:, 1])
        found.append([search.best_score_ - truth, imputed_first(x, y, folds, seed) - truth])
    return np.array(found)


def test_many_repetitions() -> None:
    found = biases(300)
    mean, error = found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(len(found))
    print(f"within {mean[0]:+.3f} ({error[0]:.3f}), before {mean[1]:+.3f} ({error[1]:.3f})")
    assert -0.03 < mean[0] < 3 * error[0] and mean[1] > 0.02
