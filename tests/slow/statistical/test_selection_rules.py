"""What choosing costs under each rule, where the truth is known: bbc takes it out, the uncorrected score does not.

Of configurations that know nothing, whatever is chosen is worth .5: any average of them has an area under the curve
of .5, and any threshold an accuracy of .5 where both classes are equally likely. Rows out of the bag took no part
in the choice, so the expectation of bbc is exactly that. Of configurations that know something, the truth of what
was chosen is measured on 4000 new rows.

A test fails when a mean leaves its bound by more than four of its own standard errors, which happens by chance in
less than 1 of 10 000 runs.
"""

import numpy as np
import pytest

import heldout as ho
from heldout.selection import AverageRank, GreedyEnsemble, OneStandardError, Threshold, TopK, Within

ROWS, CONFIGURATIONS, SIGMAS = 80, 12, 4
RULES = {
    "one_standard_error": ("roc_auc", OneStandardError()),
    "within": ("roc_auc", Within(0.02)),
    "average_rank": ("roc_auc", AverageRank(["roc_auc", "brier_score"])),
    "top_k": ("roc_auc", TopK(3)),
    "greedy_ensemble": ("roc_auc", GreedyEnsemble(5)),
    "threshold": ("accuracy", Threshold(n_thresholds=20)),
    "top_k_of_labels": ("accuracy", TopK(3)),
}


def draw(rng: np.random.Generator, rows: int, signal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Labels and probabilities of configurations that share no noise."""
    y = rng.integers(0, 2, rows)
    scores = rng.normal(size=(rows, len(signal))) + signal * (2 * y[:, None] - 1)
    return y, 1 / (1 + np.exp(-2 * scores))


def standard_error(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values)))


def truth_of_chosen(found: ho.Estimate, metric: str, y: np.ndarray, table: np.ndarray) -> float:
    """What was chosen, on new rows."""
    if "weights" in found.provenance:
        scores = table @ np.array(found.provenance["weights"])
        order = np.argsort(np.argsort(scores))
        n = np.bincount(y)
        return float((order[y == 1].sum() - n[1] * (n[1] - 1) / 2) / (n[0] * n[1]))
    return float(np.mean((table[:, found.selected] > found.provenance["threshold"]) == y))


@pytest.mark.parametrize("name", ["top_k", "greedy_ensemble", "threshold"])
def test_of_what_is_known_bbc_claims_no_more_than_there_is(name):
    metric, rule = RULES[name]
    rng = np.random.default_rng(3)
    signal = np.linspace(0.1, 0.4, CONFIGURATIONS)
    uncorrected, corrected = [], []
    for seed in range(30):
        y, table = draw(rng, ROWS, signal)
        found = ho.estimate(
            y, table, metric=metric, method="bbc", selection=rule, n_bootstraps=15, random_state=seed
        )
        truth = truth_of_chosen(found, metric, *draw(rng, 4000, signal))
        uncorrected.append(found.uncorrected - truth)
        corrected.append(found.value - truth)
    before, after = np.array(uncorrected), np.array(corrected)
    assert before.mean() > SIGMAS * standard_error(before)
    assert after.mean() < SIGMAS * standard_error(after)
    assert after.mean() > -0.04 - SIGMAS * standard_error(after)  # pessimistic: chosen on .632 of the rows
