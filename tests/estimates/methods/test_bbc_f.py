"""BBC-F: hand-worked folds, exact identities, what it refuses and what it flags."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import heldout as ho
from heldout.selection import CallableRefit

SCORES = np.round(np.random.default_rng(2).normal(0.7, 0.05, size=(10, 30)), 3)


def of(scores, **settings):
    settings = {"greater_is_better": True, "method": "bbc_f", "random_state": 0} | settings
    return ho.estimate_from_scores(scores, **settings)


def test_two_folds_by_hand():
    # Both draws of one fold alone are kept (the draw of both is redrawn). Fold 0 drawn: configuration 0 wins there
    # (.9 > .5) and scores .6 in fold 1; fold 1 drawn: configuration 1 wins there (.8 > .6) and scores .5 in fold 0.
    found = of([[0.9, 0.5], [0.6, 0.8]], n_bootstraps=400)
    assert sorted(set(found.distribution.round(12))) == [0.5, 0.6]
    share = np.mean(found.distribution.round(12) == 0.6)
    assert 0.4 < share < 0.6  # 400 fair coins: outside in 1 of 16 000 seeds
    assert found.value == pytest.approx(0.6 * share + 0.5 * (1 - share), abs=1e-12)
    assert found.uncorrected == pytest.approx(0.75)
    assert found.optimism == pytest.approx(0.75 - found.value)
    assert found.provenance["redrawn"] > 100
    assert {ho.Flag.FEW_FOLDS, ho.Flag.REDRAWN} <= set(found.flags)


def test_constant_scores_of_a_known_range_are_bounded_by_their_folds():
    found = of(np.full((6, 4), 0.8), range=(0, 1))
    otherwise = 1 - 0.025 ** (1 / 6)  # four equal columns are one candidate
    assert tuple(found.interval) == pytest.approx((0.8 * (1 - otherwise), 0.8 + 0.2 * otherwise))
    assert "6 independent units" in found.flags[ho.Flag.NO_SPREAD]


@pytest.mark.parametrize("folds, flagged", [(4, True), (9, True), (10, False)])
def test_few_folds_are_flagged(folds, flagged):
    assert (ho.Flag.FEW_FOLDS in of(SCORES[:folds]).flags) == flagged
    several = of(np.concatenate([SCORES, SCORES[:folds]]), repeats=[0] * 10 + [1] * folds)
    assert (ho.Flag.FEW_FOLDS in several.flags) == flagged
    if flagged:
        assert several.flags[ho.Flag.FEW_FOLDS].startswith(f"Only {folds} folds were drawn from in a repeat.")


def test_a_selection_within_one_repeat_is_flagged():
    assert ho.Flag.SELECTION_DIFFERS not in of(SCORES).flags
    found = of(SCORES, repeats=np.repeat([0, 1], 5))
    assert (
        "by the folds of one repeat, while the winner was selected by those of all repeats"
        in (found.flags[ho.Flag.SELECTION_DIFFERS])
    )
    assert len(found.distribution) == 2000 and found.provenance["n_repeats"] == 2


def test_one_fold_to_a_repeat_is_refused():
    with pytest.raises(ho.InputError, match=r"each repeat needs two folds with a score, .* one repeat has 1"):
        of(SCORES[:5], repeats=[0, 0, 1, 1, 2])
    undefined = SCORES[:3].copy()
    undefined[1:] = np.nan
    with pytest.raises(ho.InputError, match="at least 2 splits with scores are needed, got 1"):
        of(undefined)


def test_a_refit_callable_is_replayed_on_the_drawn_folds():
    asked = []

    def steadiest(results):  # the least spread over the splits, which the mean does not know
        asked.append(len([key for key in results if key.startswith("split")]))
        return int(np.argmin(results["std_test_score"]))

    found = of(SCORES, selection=CallableRefit(steadiest), n_bootstraps=50)
    assert found.selected == int(np.argmin(SCORES.std(axis=0)))
    assert asked == [10] * 51
    assert found.provenance["selection"] == "refit callable steadiest"


def test_a_rule_that_fails_gives_nan_and_its_flag():
    calls = iter(range(1000))

    def once(results):
        if next(calls):
            raise RuntimeError("not again")
        return 3

    with pytest.warns(ho.HeldoutWarning, match="RuntimeError: not again"):
        found = of(SCORES, selection=CallableRefit(once))
    assert np.isnan(found.value) and found.selected == 3
    assert ho.Flag.SELECTION_NOT_REPLAYABLE in found.flags


def test_overlapping_splits_are_refused_before_a_search_fits_anything():
    X, y = load_breast_cancer(return_X_y=True)
    search = ho.HeldOutSearchCV(
        make_pipeline(StandardScaler(), LogisticRegression()),
        {"logisticregression__C": [1e-4, 1.0]},
        cv=ShuffleSplit(3, test_size=0.6, random_state=0),
        method="bbc_f",
        random_state=0,
    )
    with pytest.raises(ho.InputError, match=r"splits that overlap.*; methods that do: cv, tt, bbc"):
        search.fit(X[:100], y[:100])


def test_losses_beyond_floats_give_no_number_and_say_so():
    with pytest.warns(ho.HeldoutWarning, match="beyond what float64 holds"):
        found = of(np.full((5, 2), 1.5e308), greater_is_better=False)
    assert np.isnan(found.value) and ho.Flag.UNDEFINED in found.flags


def test_a_threshold_tuned_for_one_configuration_was_chosen():
    rng = np.random.default_rng(0)
    y = (rng.random(200) < 0.3).astype(int)
    scores = rng.random((200, 1)) * 0.5 + 0.4 * y[:, None]
    asked = {"metric": "f1", "folds": np.arange(200) % 10, "method": "bbc_f", "n_bootstraps": 50, "random_state": 0}
    assert ho.Flag.SINGLE_CONFIGURATION in ho.estimate(y, scores, **asked).flags
    assert ho.Flag.SINGLE_CONFIGURATION not in ho.estimate(y, scores, selection="threshold", **asked).flags
