"""``ho.estimate_from_scores``: arrays, tables and FoldScores in; what is left out, refused and flagged."""

import numpy as np
import pandas as pd
import pytest

import heldout as ho

SCORES = np.round(np.random.default_rng(3).normal(0.7, 0.05, size=(8, 6)), 3)


def of(scores=SCORES, **settings):
    return ho.estimate_from_scores(
        scores, **({"greater_is_better": True, "method": "tt", "random_state": 0} | settings)
    )


def test_tt_by_hand():
    # Means .5 and .4. The winner loses 0, .3, 0 to the best of each fold: .1 on average.
    found = of([[0.9, 0.2], [0.2, 0.5], [0.4, 0.5 - 0.1]])
    assert found.uncorrected == pytest.approx(0.5) and found.selected == 0
    assert found.value == pytest.approx(0.4) and found.optimism == pytest.approx(0.1)
    assert found.interval is None and ho.Flag.NO_INTERVAL in found.flags


@pytest.mark.parametrize("method", ["tt", "cv", "bbc_f", ho.estimates.NaiveBootstrap(unit="folds")], ids=str)
@pytest.mark.parametrize("metric", ["accuracy", "neg_mean_squared_error", "mean_absolute_error"])
def test_the_scores_of_the_folds_say_what_the_predictions_say(method, metric):
    rng = np.random.default_rng(7)
    folds = np.stack([rng.permutation(90) % 6, rng.permutation(90) % 5], axis=1)
    if metric == "accuracy":
        y = rng.integers(0, 2, 90)
        predictions = np.where(rng.random((90, 10, 2)) < 0.7, y[:, None, None], 1 - y[:, None, None])
        losses = (predictions == y[:, None, None]).astype(float)
    else:
        y = rng.normal(size=90)
        predictions = y[:, None, None] + rng.normal(size=(90, 10, 2))
        error = predictions - y[:, None, None]
        losses = np.abs(error) if metric == "mean_absolute_error" else -(error**2)
    scores = [losses[folds[:, r] == k, :, r].mean(axis=0) for r in range(2) for k in range(6 - r)]
    asked = {"method": method, "random_state": 11, "n_bootstraps": 100}
    whole = ho.estimate(y, predictions, metric=metric, folds=folds, aggregate="folds", **asked)
    alone = of(scores, repeats=[0] * 6 + [1] * 5, greater_is_better=metric != "mean_absolute_error", **asked)
    assert alone.selected == whole.selected
    assert alone.value == pytest.approx(whole.value, abs=1e-12)
    assert alone.uncorrected == pytest.approx(whole.uncorrected, abs=1e-12)
    if whole.interval is not None:
        assert tuple(alone.interval) == pytest.approx(tuple(whole.interval), abs=1e-12)


def test_a_table_names_its_configurations():
    table = pd.DataFrame(SCORES, columns=[f"C={2**j}" for j in range(6)])
    assert of(table).selected_name == f"C={2 ** of().selected}"
    assert of(names=list("abcdef")).selected_name == "abcdef"[of().selected]
    assert of().selected_name == f"configuration {of().selected}"


def test_two_configurations_of_one_name_are_refused():
    with pytest.raises(ho.InputError, match=r"two configurations are named .b."):
        of(names=list("abcdbe"))


def test_scores_of_an_adaptive_search_are_flagged():
    assert ho.Flag.ADAPTIVE_SEARCH not in of().flags
    assert "among 6 configurations" in of(adaptive=True).flags[ho.Flag.ADAPTIVE_SEARCH]
    assert of(adaptive=True).value == of().value
    with pytest.raises(ho.InputError, match="adaptive must be True or False, got 1"):
        of(adaptive=1)


def test_fold_scores_know_direction_repeats_and_rows():
    held = ho.FoldScores(-SCORES, False, np.repeat([0, 1], 4), test_rows=np.full(8, 25))
    found = of(held, greater_is_better=None, method="bbc_f")
    same = of(-SCORES, greater_is_better=False, repeats=list("aaaabbbb"), method="bbc_f")
    np.testing.assert_array_equal(found.distribution, same.distribution)
    assert (found.n_rows_used, same.n_rows_used) == (100, 0)
    assert ">rows<" not in same._repr_html_() and same.to_dict()["n_rows_used"] == 0
    for setting in ({"greater_is_better": False}, {"repeats": [0] * 8, "greater_is_better": None}):
        with pytest.raises(ho.InputError, match="FoldScores already contain it; leave it out"):
            of(held, **setting)


def test_a_configuration_without_scores_is_no_candidate():
    scores = SCORES.copy()
    best = int(scores.mean(axis=0).argmax())
    scores[:, best] = np.nan
    with pytest.warns(
        ho.HeldoutWarning, match=rf"1 of 6 configurations failed .*configuration {best} \(it has no score\)"
    ):
        found = of(scores, method="bbc_f")
    assert found.selected != best and found.selection_frequency[best] == 0
    without = of(np.delete(SCORES, best, axis=1), method="bbc_f")
    np.testing.assert_array_equal(found.distribution, without.distribution)


def test_a_configuration_with_a_failed_split_is_no_candidate():
    scores = SCORES.copy()
    scores[2, 4] = np.nan
    with pytest.warns(
        ho.HeldoutWarning, match=r"configuration 4 \(it has no score in a split that others have one in\)"
    ):
        found = of(scores)
    assert found.value == of(np.delete(SCORES, 4, axis=1)).value


@pytest.mark.parametrize("method", ["tt", "cv", "bbc_f", "wmc"])
def test_a_split_without_scores_is_left_out_and_flagged(method):
    asked = {"method": method} | ({"test_share": 0.2} if method == "wmc" else {})
    found = of(np.insert(SCORES, 3, np.nan, axis=0), **asked)
    assert found.flags[ho.Flag.UNSCORED_SPLITS].startswith("1 of 9 splits have no score")
    if method != "bbc_f":  # whose draws are of nine folds then
        assert found.value == pytest.approx(of(**asked).value, abs=1e-12)


def test_open_ends_are_infinite_where_the_range_is_unknown():
    asked = {"method": "bbc_f", "alternative": "greater"}
    assert of(**asked).interval.high == np.inf
    assert of(**asked, range=(0, 1)).interval.high == 1
    assert of(-SCORES, **(asked | {"greater_is_better": False})).interval.low == -np.inf
    assert of(**asked).to_dict()["interval"]["high"] is None


def test_tt_beyond_a_known_range_is_flagged_and_not_clipped():
    losses = 1 - np.eye(3)  # each configuration is perfect in one fold of three, and hopeless in the others
    found = of(losses, greater_is_better=False, range=(0, 1))
    assert found.value == pytest.approx(4 / 3)
    assert ho.Flag.TT_BEYOND_RANGE in found.flags
    assert ho.Flag.TT_BEYOND_RANGE not in of(losses, greater_is_better=False).flags


@pytest.mark.parametrize(
    "settings, sentence",
    [
        ({"scores": [[0.1, np.inf]] * 3}, "scores must be finite or NaN, got inf in split 0 of configuration 1"),
        ({"scores": SCORES[:1]}, "at least 2 splits with scores are needed, got 1"),
        ({"scores": SCORES[:, 0]}, r"shape \(splits, configurations\), none of them 0, got \(8,\)"),
        ({"scores": SCORES[:, :0]}, r"none of them 0, got \(8, 0\)"),
        ({"scores": [["a", "b"]] * 3}, "scores must be numbers, got values like 'a'"),
        ({"scores": np.full((4, 2), np.nan)}, "all 2 configurations failed"),
        ({"greater_is_better": None}, "greater_is_better must be True .* got None; it is never guessed"),
        ({"greater_is_better": "max"}, "greater_is_better must be True .* got 'max'"),
        ({"test_share": 0.2}, "`test_share=0.2` is for 'corrected_t', 'wmc' and 'wmcs', not for 'tt'"),
        (
            {"method": "wmc"},
            "'wmc' does not fit: it reads the errors of repeated subsampling and the share of rows",
        ),
        ({"method": "wmc", "test_share": 1.0}, "test_share must lie between 0 and 1, got 1.0"),
        ({"method": "wmcs", "test_share": 20}, "test_share must lie between 0 and 1, got 20"),
        ({"method": "bbc"}, "'bbc' does not fit: it needs held-out predictions.*methods that do: cv, tt, bbc_f"),
        ({"repeats": [0, 1]}, r"repeats must hold a label for each of the 8 splits, got shape \(2,\)"),
        ({"names": ["a"]}, "names must hold one for each of 6 configurations"),
        ({"names": 6}, "names must hold one for each of 6 configurations, got 6"),
        ({"names": "abcdef"}, "names must hold one for each of 6 configurations"),
        ({"range": (0.0, 0.5)}, r"scores must lie in the range \[0, 0.5\], got 0\.\d+"),
        ({"range": 1}, "range must be two numbers"),
        ({"range": (1, 0)}, "range must go from the least to the greatest"),
        ({"n_bootstraps": 0}, "n_bootstraps must be an integer of at least 1"),
        ({"method": "magic"}, "method must be one of cv, tt, bbc"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else ",".join(value),
)
def test_bad_input_is_refused_in_a_sentence(settings, sentence):
    with pytest.raises(ho.InputError, match=sentence):
        of(**settings)


def test_wmc_of_predictions_is_refused_with_the_way_to_go():
    y = np.resize([0, 1], 30)
    for method in ("wmc", "wmcs"):
        with pytest.raises(ho.InputError, match=r"or ho.estimate_from_scores with its test_share"):
            ho.estimate(
                y,
                np.random.default_rng(0).random((30, 3)),
                metric="roc_auc",
                folds=np.arange(30) // 10,
                method=method,
            )


def test_leave_one_out_makes_tt_useless_and_is_flagged():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 40)
    predictions = np.where(rng.random((40, 30)) < 0.6, y[:, None], 1 - y[:, None])
    found = ho.estimate(y, predictions, metric="accuracy", method="tt", folds=np.arange(40))
    # The best of 30 guesses at one row is right, so that the correction is the winner's error rate once more.
    assert found.value == pytest.approx(2 * found.uncorrected - 1)
    assert ho.Flag.SINGLE_ROW_FOLDS in found.flags
    held = ho.FoldScores(
        (predictions == y[:, None]).astype(float), True, np.zeros(40, dtype=int), np.ones(40, dtype=int)
    )
    alone = of(held, greater_is_better=None)
    assert alone.value == pytest.approx(found.value) and ho.Flag.SINGLE_ROW_FOLDS in alone.flags
    assert (
        ho.Flag.SINGLE_ROW_FOLDS
        not in ho.estimate(y, predictions, metric="accuracy", method="tt", folds=np.arange(40) % 20).flags
    )


def test_rows_that_no_method_left_out_are_not_spoken_of():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    predictions = np.where(rng.random((60, 5)) < 0.7, y[:, None], 1 - y[:, None])
    asked = {"metric": "accuracy", "folds": np.arange(60) % 6, "aggregate": "folds", "random_state": 0}
    for method in ("tt", "cv", "bbc_f", "naive_bootstrap"):
        assert ho.Flag.OUT_OF_BAG_POOLED not in ho.estimate(y, predictions, method=method, **asked).flags
    assert ho.Flag.OUT_OF_BAG_POOLED in ho.estimate(y, predictions, method="bbc", **asked).flags


def test_a_rule_that_does_not_fit_is_refused():
    with pytest.raises(ho.InputError, match="average_rank ranks by 'roc_auc', which is not scored here"):
        of(selection=ho.selection.AverageRank(["roc_auc", "log_loss"]))
    with pytest.raises(ho.InputError, match="`selection='greedy_ensemble'` chooses an ensemble"):
        of(selection="greedy_ensemble")
    assert of(selection="one_standard_error", method="bbc_f").provenance["selection"] == "one_standard_error"


def test_the_results_of_a_search_are_refused_and_the_error_names_its_scores():
    results = {f"split{k}_test_score": [0.7 + 0.1 * k, 0.8 - 0.1 * k, 0.6] for k in range(3)}

    with pytest.raises(ho.InputError, match=r"got a mapping with the keys .*; of the cv_results_ of a search take"):
        ho.estimate_from_scores(results, greater_is_better=True, method="tt")
    taken = np.array([results[f"split{k}_test_score"] for k in range(3)])
    assert ho.estimate_from_scores(taken, greater_is_better=True, method="tt").selected == 0
