"""Whom Optuna's WilcoxonPruner prunes.

Optuna 5.0.0 with SciPy 1.17.1, asked after each step k = 2 .. 20 of a study with direction="maximize", in which one
finished trial holds the leader's first k scores and reports their mean:

    trial = create_trial(value=0.0, intermediate_values={i: scores[i, j] for i in range(k)})
    WilcoxonPruner(p_threshold=p_threshold, n_startup_steps=n_startup).prune(study, trial)

The scores are 64ths, so that no difference is rounded. They meet the exact distribution, tied ranks and zeros with
few and many folds, and a p-value below the threshold where the mean is ahead of the leader's.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from standings import standing_of_scores

from heldout.dropping import Wilcoxon

GIVEN = json.loads((Path(__file__).parent / "data" / "optuna_pruned.json").read_text(encoding="utf-8"))
"""The scores, and for each of the other trials whether it is pruned after each step: x."""


@pytest.mark.parametrize("pruned", GIVEN["pruned"], ids=str)
def test_it_drops_what_optuna_prunes(pruned):
    scores = np.array(GIVEN["in_64ths"]).T / 64
    rule = Wilcoxon(p_threshold=pruned["p_threshold"], n_startup_folds=pruned["n_startup"])
    kept = np.array([rule.judge(standing_of_scores(scores[:k])).keep[1:] for k in range(2, 21)])
    assert ["".join(".x"[not keep] for keep in column) for column in kept.T] == pruned["steps"]
