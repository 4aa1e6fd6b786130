"""Hold-out matrices, unfinished folds and missing rows: what counts, what is estimated, and what is said of it."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import ShuffleSplit

import heldout as ho
from heldout.errors import HeldoutWarning, InputError
from heldout.flags import Flag
from heldout.metrics.base import Response

N, C, TESTED = 200, 8, 60
RNG = np.random.default_rng(0)
Y = RNG.permutation(np.repeat([0, 1], N // 2))
SCORES = Y[:, None] + RNG.normal(size=(N, C))
FIVE = np.arange(N) % 5
FAST = {"metric": "roc_auc", "response": "decision", "n_bootstraps": 80, "random_state": 4}
"""What every question here has in common."""


def blank(rows, columns=slice(None)):
    """The scores, not predicted in some rows."""
    scores = SCORES.copy()
    scores[rows, columns] = np.nan
    return scores


HOLD_OUT = blank(np.arange(N) >= TESTED)
TEST_ONLY = np.where(np.arange(N) < TESTED, 0.0, np.nan)


ACCURACY = {"metric": "accuracy", "n_bootstraps": 80, "random_state": 4}


def same(a, b):
    return a.value == b.value and a.uncorrected == b.uncorrected and a.interval == b.interval


@pytest.mark.parametrize("method", ["bbc", "cv"])
@pytest.mark.parametrize("aggregate", ["pooled", "folds"])
def test_a_hold_out_is_the_estimate_of_its_own_rows(method, aggregate):
    asked = {**FAST, "method": method, "aggregate": aggregate}
    found = ho.estimate(Y, HOLD_OUT, folds=TEST_ONLY, **asked)
    of_its_rows = ho.estimate(Y[:TESTED], SCORES[:TESTED], folds=np.zeros(TESTED), **asked)
    assert same(found, of_its_rows)
    assert found.n_rows_used == TESTED
    assert Flag.INCOMPLETE_PREDICTIONS not in of_its_rows.flags
    assert found.flags[Flag.INCOMPLETE_PREDICTIONS] == (
        "The estimate uses 60 of 200 rows: those that every candidate predicted."
    )


def test_a_hold_out_has_one_training_part_of_unknown_size():
    found = ho.estimate(Y, HOLD_OUT, folds=TEST_ONLY, **FAST)
    assert found.provenance["training_rows"] is None
    assert found.provenance["quantity"].startswith(
        "the performance on new rows, given the one training part that all models were fitted on, of the "
    )
    assert "expected" not in found.provenance["quantity"]


def test_the_rows_of_a_labelled_training_part_are_counted():
    labels = np.where(np.arange(N) < TESTED, "test", "train")
    found = ho.estimate(Y, HOLD_OUT, folds=labels, **FAST)
    assert found.provenance["training_rows"] == N - TESTED
    assert "one training part" in found.provenance["quantity"]
    assert same(found, ho.estimate(Y, HOLD_OUT, folds=TEST_ONLY, **FAST))


def test_without_folds_the_training_rows_are_unknown():
    found = ho.estimate(Y, HOLD_OUT, method="bbc", **FAST)
    assert same(found, ho.estimate(Y, HOLD_OUT, folds=TEST_ONLY, method="bbc", **FAST))
    assert found.provenance["training_rows"] is None
    assert found.provenance["quantity"].startswith("the performance on new rows, with models trained as those")


@pytest.mark.parametrize("method", ["tt", "bbc_f"])
def test_methods_that_compare_folds_refuse_a_single_one(method):
    with pytest.raises(InputError, match=f"method '{method}' does not fit: .*methods that do: cv, bbc"):
        ho.estimate(Y, HOLD_OUT, folds=TEST_ONLY, method=method, **FAST)


def test_a_hold_out_as_held_out_predictions():
    held = ho.HeldOutPredictions(
        {Response.DECISION: HOLD_OUT[:, :, None]},
        tuple(f"model {j}" for j in range(C)),
        folds=np.where(np.arange(N) < TESTED, 0, -1).astype(np.int32)[:, None],
        classes=np.array([0, 1]),
        positive=1,
        training_rows=140.0,
    )
    asked = {name: value for name, value in FAST.items() if name != "response"}
    found = ho.estimate(Y, held, **asked)
    assert same(found, ho.estimate(Y, HOLD_OUT, folds=TEST_ONLY, **FAST))
    assert (found.n_rows_used, found.provenance["training_rows"]) == (TESTED, 140)
    assert "one training part" in found.provenance["quantity"]
    unknown = ho.estimate(Y, replace(held, training_rows=None), **asked)
    assert unknown.provenance["training_rows"] is None
    again = ho.estimate(Y, held, folds=TEST_ONLY, **asked)
    assert again.provenance["training_rows"] is None  # the user's folds replace their own, with what they knew


def test_a_search_over_one_split_knows_its_training_rows():
    X = RNG.normal(size=(N, 2))
    search = ho.HeldOutSearchCV(
        DummyClassifier(),
        {"strategy": ["prior", "most_frequent"]},
        cv=ShuffleSplit(1, test_size=0.25, random_state=0),
        scoring="accuracy",
        n_bootstraps=30,
        random_state=0,
    ).fit(X, Y)
    found = search.estimate_
    assert (found.n_rows_used, found.provenance["training_rows"]) == (50, 150)
    assert "one training part" in found.provenance["quantity"]


@pytest.mark.parametrize(("method", "aggregate"), [("bbc", "pooled"), ("bbc", "folds"), ("bbc_f", "folds")])
@pytest.mark.parametrize("labels", [FIVE, np.where(FIVE < 3, FIVE, np.nan)], ids=["all labelled", "finished only"])
def test_unfinished_folds_leave_the_others(method, aggregate, labels):
    finished = FIVE < 3
    asked = {**FAST, "method": method, "aggregate": aggregate}
    found = ho.estimate(Y, blank(~finished), folds=labels, **asked)
    expected = ho.estimate(Y[finished], SCORES[finished], folds=FIVE[finished], **asked)
    assert same(found, expected)
    assert found.n_rows_used == finished.sum() == 120
    assert "120 of 200 rows" in found.flags[Flag.INCOMPLETE_PREDICTIONS]
    # Whether rows without a label were trained on is not known.
    assert found.provenance["training_rows"] == (160 if labels is FIVE else None)
    assert "over training sets" in found.provenance["quantity"]


def test_folds_of_unequal_size_count_only_where_they_were_predicted():
    labels = np.repeat([0, 1, 2], [100, 60, 40])
    found = ho.estimate(Y, blank(labels == 0), folds=labels, **FAST)
    assert found.provenance["training_rows"] == 200 - (60 + 40) / 2


def test_a_configuration_that_missed_a_fold_goes_and_the_rows_stay():
    with pytest.warns(HeldoutWarning, match="1 of 8 configurations failed"):
        found = ho.estimate(Y, blank(FIVE == 4, 2), folds=FIVE, **FAST)
    others = np.delete(np.arange(C), 2)
    expected = ho.estimate(Y, SCORES[:, others], folds=FIVE, **FAST)
    assert found.value == expected.value
    assert found.selected == others[expected.selected]
    assert found.n_rows_used == N
    assert found.selection_frequency[2] == 0
    assert Flag.INCOMPLETE_PREDICTIONS not in found.flags
    assert (
        "configuration 2 (it predicted no row of a fold that others predicted)"
        in found.flags[Flag.FAILED_CONFIGURATIONS]
    )


def test_rows_missing_here_and_there():
    holes = np.random.default_rng(1).random((N, C)) < 0.05
    scores = np.where(holes, np.nan, SCORES)
    complete = ~holes.any(axis=1)
    found = ho.estimate(Y, scores, folds=FIVE, **FAST)
    assert same(found, ho.estimate(Y[complete], SCORES[complete], folds=FIVE[complete], **FAST))
    assert found.n_rows_used == complete.sum()
    assert f"{complete.sum()} of 200 rows" in found.flags[Flag.INCOMPLETE_PREDICTIONS]


def test_a_repeat_that_was_not_finished():
    repeats = np.stack([SCORES, SCORES + RNG.normal(size=SCORES.shape) / 9, SCORES], axis=2)
    repeats[100:, :, 2] = np.nan
    found = ho.estimate(Y, repeats, folds=np.stack([FIVE] * 3, axis=1), **FAST)
    assert found.n_rows_used == N
    assert "200 of 200 rows (each in 83% of the repeats on average)" in found.flags[Flag.INCOMPLETE_PREDICTIONS]
    assert found.provenance["training_rows"] == 160


def test_no_row_that_all_predicted_is_refused():
    scores = np.where(np.arange(N)[:, None] % C == np.arange(C), np.nan, SCORES)
    with pytest.raises(InputError, match="no row was predicted by all 8 configurations; leave out"):
        ho.estimate(Y, scores, **FAST)


def test_a_class_that_only_the_training_part_holds_is_named():
    one_class = np.where(np.arange(N) < TESTED, 1, Y)
    with pytest.raises(
        InputError, match=r"no configuration has a defined score on the 60 rows .*roc_auc needs a row of every"
    ):
        ho.estimate(one_class, HOLD_OUT, folds=TEST_ONLY, **FAST)


@pytest.mark.parametrize("labels", ["classes", "codes"])
def test_a_hold_out_of_labels(labels):
    text = np.array(["no", "yes"])
    hard = np.where(np.isnan(HOLD_OUT), None, text[(SCORES > 0.5).astype(int)])
    target = text[Y]
    if labels == "codes":
        held = ho.HeldOutPredictions(
            {Response.LABELS: np.where(np.isnan(HOLD_OUT), -1, SCORES > 0.5).astype(np.int32)[:, :, None]},
            tuple(f"configuration {j}" for j in range(C)),
            folds=np.where(np.arange(N) < TESTED, 0, -1).astype(np.int32)[:, None],
            classes=text,
            positive=1,
        )
        found = ho.estimate(target, held, method="bbc", **ACCURACY)
    else:
        found = ho.estimate(target, hard, folds=TEST_ONLY, method="bbc", **ACCURACY)
    expected = ho.estimate(Y[:TESTED], (SCORES[:TESTED] > 0.5).astype(int), method="bbc", **ACCURACY)
    assert same(found, expected)
    assert found.n_rows_used == TESTED
    assert found.provenance["training_rows"] is None


def test_groups_and_weights_of_a_hold_out_are_those_of_its_rows():
    groups, weights = np.arange(N) // 4, RNG.random(N)
    found = ho.estimate(Y, HOLD_OUT, folds=TEST_ONLY, groups=groups, sample_weight=weights, **FAST)
    expected = ho.estimate(
        Y[:TESTED], SCORES[:TESTED], groups=groups[:TESTED], sample_weight=weights[:TESTED], **FAST
    )
    assert found.value == pytest.approx(expected.value, abs=1e-12)
