"""Scores of the class that is not the positive one are noticed; searches of our own know theirs."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, LeaveOneOut, cross_val_predict

import heldout as ho
from heldout.flags import Flag

RNG = np.random.default_rng(5)
N = 200
Y = np.where(RNG.random(N) < 0.5, "case", "control")
P_CASE = ((Y == "case") * 0.9)[:, None] + RNG.normal(size=(N, 9))


@pytest.mark.parametrize("metric", ["roc_auc", "average_precision", "somers_d"])
def test_scores_of_the_other_class_are_flagged(metric: str) -> None:
    wrong = ho.estimate(Y, P_CASE, metric=metric, n_bootstraps=50, random_state=0)
    right = ho.estimate(Y, P_CASE, metric=metric, pos_label="case", n_bootstraps=50, random_state=0)
    assert "rows of class 'case' above those of class 'control'" in wrong.flags[Flag.UPSIDE_DOWN]
    assert Flag.UPSIDE_DOWN not in right.flags and right.value > wrong.value


def test_labels_and_numbers_have_no_direction() -> None:
    swapped = np.where(Y == "case", "control", "case")[:, None]
    assert Flag.UPSIDE_DOWN not in ho.estimate(Y, swapped, metric="accuracy", n_bootstraps=20, random_state=0).flags
    numbers = (Y == "case").astype(float) + 0.5 * RNG.random(N)
    found = ho.estimate(numbers, -numbers[:, None], metric="r2", n_bootstraps=20, random_state=0)
    assert Flag.UPSIDE_DOWN not in found.flags


def test_models_without_skill_are_rarely_upside_down() -> None:
    """Cross-validated noise, whose pooled areas lie below .5: of 16 tables 2 are raised with probability .001."""
    raised = 0
    for seed in range(16):
        rng = np.random.default_rng(seed)
        x, y = rng.normal(size=(60, 4)), rng.permutation(np.arange(60) % 2)
        folds = np.empty(60, dtype=int)
        for number, (_, test) in enumerate(KFold(5, shuffle=True, random_state=seed).split(x)):
            folds[test] = number
        cv = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(5)]
        columns = [
            cross_val_predict(LogisticRegression(C=c), x, y, cv=cv, method="predict_proba")[:, 1] for c in (1e-4, 1)
        ]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = ho.estimate(
                y, np.stack(columns, 1), metric="roc_auc", folds=folds, n_bootstraps=2, random_state=0
            )
        raised += Flag.UPSIDE_DOWN in found.flags
    assert raised <= 1


def test_folds_of_one_row_say_nothing() -> None:
    y = np.arange(30) % 2
    prior = cross_val_predict(
        LogisticRegression(C=1e-9), np.ones((30, 1)), y, cv=LeaveOneOut(), method="predict_proba"
    )
    found = ho.estimate(y, prior[:, 1:], metric="roc_auc", folds=np.arange(30), n_bootstraps=20, random_state=0)
    assert Flag.UPSIDE_DOWN not in found.flags


def test_a_search_of_our_own_knows_its_direction() -> None:
    search = ho.HeldOutSearchCV(LogisticRegression(), {"C": [1.0, 2.0]}, scoring="roc_auc", cv=4, random_state=0)
    x = np.where(np.arange(80) % 4 < 2, 1.0, -1.0)[:, None] * np.where(np.arange(80)[:, None] % 20 < 10, 1, -1)
    y = (np.arange(80) % 4 < 2).astype(int)
    search.fit(x, y)
    assert Flag.UPSIDE_DOWN not in search.estimate_.flags
