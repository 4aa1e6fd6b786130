"""Whom Optuna's WilcoxonPruner prunes.

Optuna 5.0.0 with SciPy 1.17.1, asked after each step k = 2 .. 20 of a study with direction="maximize", in which one
finished trial holds the leader's first k scores and reports their mean:

    trial = create_trial(value=0.0, intermediate_values={i: scores[i, j] for i in range(k)})
    WilcoxonPruner(p_threshold=p_threshold, n_startup_steps=n_startup).prune(study, trial)

The scores are 64ths, so that no difference is rounded. They meet the exact distribution, tied ranks and zeros with
few and many folds, and a p-value below the threshold where the mean is ahead of the leader's.
"""

import numpy as np
import pytest
from standings import standing_of_scores

from heldout.dropping import Wilcoxon

IN_64THS = [
    [56, 41, 43, 44, 43, 56, 57, 51, 40, 41, 46, 48, 52, 49, 45, 43, 53, 54, 40, 42],
    [56, 42, 40, 44, 44, 56, 56, 50, 42, 39, 44, 45, 50, 51, 46, 42, 52, 53, 37, 43],
    [52, 43, 45, 40, 39, 56, 59, 51, 42, 37, 44, 46, 53, 48, 46, 40, 52, 56, 41, 40],
    [55, 41, 45, 48, 41, 53, 56, 45, 34, 43, 44, 46, 54, 50, 44, 39, 54, 51, 37, 44],
    [55, 39, 41, 43, 43, 54, 57, 49, 38, 40, 44, 46, 52, 47, 44, 43, 52, 52, 39, 41],
    [48, 37, 39, 42, 41, 50, 50, 48, 34, 34, 44, 45, 47, 44, 41, 39, 51, 49, 32, 40],
    [51, 45, 49, 39, 47, 51, 59, 49, 32, 34, 45, 51, 55, 43, 43, 47, 46, 46, 32, 39],
    [55, 41, 43, 43, 43, 55, 57, 50, 39, 42, 46, 48, 53, 50, 46, 44, 52, 55, 40, 41],
    [81, 40, 42, 42, 41, 54, 55, 47, 37, 37, 42, 45, 51, 48, 42, 40, 49, 51, 36, 41],
]
PRUNED = {
    (0.1, 2): [
        "...........x....xxx",
        "...............x...",
        "..............x.xxx",
        "..xxxxxxxxxxxxxxxxx",
        "..xxxxxxxxxxxxxxxxx",
        "................xxx",
        "......xx...........",
        "..........xxxxxxxxx",
    ],
    (0.01, 2): [
        "...................",
        "...................",
        "...................",
        ".......xxxxxxxxxxxx",
        ".....xxxxxxxxxxxxxx",
        "...................",
        "...................",
        "............xxxxxxx",
    ],
    (0.1, 8): [
        "...........x....xxx",
        "...............x...",
        "..............x.xxx",
        "......xxxxxxxxxxxxx",
        "......xxxxxxxxxxxxx",
        "................xxx",
        "......xx...........",
        "..........xxxxxxxxx",
    ],
}


@pytest.mark.parametrize(("p_threshold", "n_startup"), list(PRUNED), ids=str)
def test_it_drops_what_optuna_prunes(p_threshold, n_startup):
    scores = np.array(IN_64THS).T / 64
    rule = Wilcoxon(p_threshold=p_threshold, n_startup_folds=n_startup)
    kept = np.array([rule.judge(standing_of_scores(scores[:k])).keep[1:] for k in range(2, 21)])
    assert ["".join(".x"[not keep] for keep in column) for column in kept.T] == PRUNED[p_threshold, n_startup]
