"""Which intervals say that rows of several folds depend on each other, and when."""

import numpy as np
import pytest

import heldout as ho
from heldout.estimates import BBC, ClopperPearson, DeLong, HanleyMcNeil, Tilting, Wilson

RNG = np.random.default_rng(0)
Y = np.resize([0, 1], 80)
SCORES = RNG.normal(Y, 1.0)[:, None]
LABELS = (SCORES > 0.5).astype(int)
TAKE_ROWS_AS_INDEPENDENT = [
    (ClopperPearson(evaluation_share=1.0), "accuracy"),
    (Wilson(), "accuracy"),
    (DeLong(), "roc_auc"),
    (HanleyMcNeil(), "roc_auc"),
    (Tilting(), "roc_auc"),
    (BBC(interval="calibrated"), "accuracy"),
]


def flags_of(method, metric, folds):
    predictions = LABELS if metric == "accuracy" else SCORES
    alternative = "greater" if isinstance(method, Tilting) else "two-sided"
    found = ho.estimate(
        Y, predictions, metric=metric, method=method, folds=folds, alternative=alternative,
        n_bootstraps=200, random_state=0,
    )  # fmt: skip
    return found.flags


@pytest.mark.parametrize(
    ("method", "metric"), TAKE_ROWS_AS_INDEPENDENT, ids=lambda each: getattr(each, "name", each)
)
def test_several_folds_are_flagged_with_their_number_a_hold_out_is_not(method, metric):
    several = flags_of(method, metric, np.arange(80) // 2 % 5)
    assert several[ho.Flag.FOLDS_DEPENDENT].startswith("The rows were predicted by 5 models of a configuration")
    assert ho.Flag.FOLDS_DEPENDENT not in flags_of(method, metric, np.zeros(80, dtype=int))
    unknown = flags_of(method, metric, None)
    assert unknown[ho.Flag.FOLDS_DEPENDENT].startswith("Unless one model predicted all of these rows")


def test_percentiles_of_bbc_are_wide_enough():
    assert ho.Flag.FOLDS_DEPENDENT not in flags_of(BBC(), "accuracy", np.arange(80) // 2 % 5)
