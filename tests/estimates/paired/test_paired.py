"""Paired questions: by hand, by plain loops, and where the truth is known."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import heldout as ho
from heldout.estimates.paired.confidence_set import p_values
from heldout.estimates.paired.scores import PairedScores, differences, mean_best, own_controls, probability_better


def scores_of(observed, in_bag, out_of_bag=None, chosen=None, winner=0) -> PairedScores:
    in_bag = np.asarray(in_bag, dtype=float)
    return PairedScores(
        np.asarray(observed, dtype=float),
        in_bag,
        in_bag if out_of_bag is None else np.asarray(out_of_bag, dtype=float),
        in_bag.argmax(axis=1) if chosen is None else np.asarray(chosen),
        winner,
    )


@pytest.fixture(scope="module")
def compared():
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 150)
    table = rng.normal(size=(150, 12)) + y[:, None] * np.linspace(0.2, 1.2, 12)
    return ho.compare_configurations(y, table, metric="roc_auc", n_bootstraps=200, random_state=1)


# --- difference ------------------------------------------------------------------------------------------


def test_a_difference_by_hand() -> None:
    scores = scores_of(
        observed=[0.9, 0.7, 0.8],
        in_bag=[[0.9, 0.8, 0.7], [0.6, 0.8, 0.7]],
        out_of_bag=[[0.5, 0.4, 0.6], [0.3, 0.9, 0.2]],
    )
    # The winner's part is played by 0, then by 1; column 2 stands second, whose part is played by 1, then by 2.
    assert differences(scores, 0, 2, frozenset()).tolist() == pytest.approx([0.5 - 0.4, 0.9 - 0.2])
    assert differences(scores, 0, 2, frozenset({2})).tolist() == pytest.approx([0.5 - 0.6, 0.9 - 0.2])
    # Named beforehand, nothing was picked: the drawn rows count.
    assert differences(scores, 0, 2, frozenset({0, 2})).tolist() == pytest.approx([0.2, -0.1])
    assert differences(scores, 2, 0, frozenset()).tolist() == pytest.approx([-0.1, -0.7])


def test_where_none_was_chosen_there_is_no_difference() -> None:
    scores = scores_of([0.9, 0.7], [[0.9, 0.8], [np.nan, np.nan]], chosen=[0, -1])
    assert differences(scores, 0, 1, frozenset()).tolist() == pytest.approx([0.1, np.nan], nan_ok=True)


def test_a_tie_is_half_a_win() -> None:
    assert probability_better(np.array([1.0, 0.0, -1.0, np.nan])) == 0.5
    assert np.isnan(probability_better(np.array([np.nan])))


def test_an_infinite_score_does_not_take_the_winners_part() -> None:
    scores = scores_of([0.9, 0.7], [[0.1, np.inf]], out_of_bag=[[1.0, 2.0]], chosen=[0])
    assert differences(scores, 0, 1, frozenset()).tolist() == [-1.0]


def test_the_replayed_difference_owes_nothing_to_luck() -> None:
    """Of configurations that are all alike, the best leads the last by luck alone.

    In 40 such data sets the corrected differences had mean .005 and standard deviation .038: their mean over 20
    leaves 0 by four standard errors in less than 1 of 10 000 runs.
    """
    rng = np.random.default_rng(0)
    uncorrected, corrected = [], []
    for seed in range(20):
        y = rng.integers(0, 2, 200)
        alike = ho.compare_configurations(
            y, rng.random((200, 40)), metric="roc_auc", n_bootstraps=100, random_state=seed
        )
        found = alike.difference("winner", alike.to_frame()["configuration"].iloc[-1])
        uncorrected.append(found.uncorrected)
        corrected.append(found.value)
    assert min(uncorrected) > 0.1
    assert abs(np.mean(corrected)) < 4 * 0.038 / np.sqrt(20)


def test_a_difference_of_two_named_beforehand_is_the_paired_bootstrap_with_the_spread_of_folds(compared) -> None:
    found = compared.difference(11, 0, fixed=[11, 0])
    drawn = compared.scores.in_bag[:, 11] - compared.scores.in_bag[:, 0]
    assert found.value == found.uncorrected == compared.scores.observed[11] - compared.scores.observed[0]
    wider = found.value + 1.5 * (drawn - found.value)
    assert found.distribution.tolist() == pytest.approx(wider.tolist(), abs=1e-12)
    assert found.probability_better == (wider > 0).mean()


def test_of_rows_that_one_model_predicted_it_is_the_plain_paired_bootstrap() -> None:
    rng = np.random.default_rng(6)
    y = rng.integers(0, 2, 80)
    settings = {"metric": "accuracy", "folds": np.zeros(80, dtype=int), "n_bootstraps": 100, "random_state": 1}
    held = ho.compare_configurations(y, rng.integers(0, 2, (80, 3)), **settings)
    drawn = held.scores.in_bag[:, 2] - held.scores.in_bag[:, 0]
    assert held.difference(2, 0, fixed=[2, 0]).distribution.tolist() == pytest.approx(drawn.tolist(), abs=1e-12)


@pytest.mark.parametrize("metric", ["accuracy", "roc_auc", "matthews_corrcoef"])
def test_a_difference_stays_within_what_the_metric_can_differ(metric) -> None:
    """Right on all rows and wrong on nearly all: half as much again would be more than the range is wide."""
    y = np.resize([0, 1], 24)
    wrong = 1 - y
    wrong[:3] = y[:3]
    found = ho.compare_configurations(y, np.stack([y, wrong], 1), metric=metric, n_bootstraps=100, random_state=0)
    width = 2 if metric == "matthews_corrcoef" else 1
    interval = found.difference(0, 1, fixed=[0, 1]).interval
    assert -width <= interval.low <= interval.high <= width


@pytest.mark.parametrize(
    ("first", "second", "fixed", "message"),
    [
        ("winner", "configuration 99", (), "there is no configuration 'configuration 99'; the nearest are"),
        ("winner", 12, (), "there is no configuration 12; indices run from 0 to 11"),
        ("winner", -1, (), "there is no configuration -1"),
        ("winner", 1.5, (), "named by its name or index, got 1.5"),
        (3, "configuration 3", (), "the same configuration, configuration 3; name two different ones"),
        (3, 4, (5,), "fixed must name first, second, or both"),
    ],
)
def test_what_cannot_be_compared_is_refused(compared, first, second, fixed, message) -> None:
    with pytest.raises(ho.InputError, match=message):
        compared.difference(first, second, fixed=fixed)


def test_a_failed_configuration_is_no_party() -> None:
    rng = np.random.default_rng(0)
    table = rng.random((60, 4))
    table[:, 2] = np.nan
    with pytest.warns(ho.HeldoutWarning, match="configuration 2"):
        compared = ho.compare_configurations(rng.integers(0, 2, 60), table, metric="roc_auc", n_bootstraps=50)
    with pytest.raises(ho.InputError, match="configuration 'configuration 2' failed"):
        compared.difference(0, 2)
    assert compared.probability_best[2] == 0
    assert np.isnan(compared.confidence_set().p_values[2])
    assert "configuration 2" not in compared.confidence_set()


# --- the confidence set ----------------------------------------------------------------------------------


def slow_p_values(observed, in_bag):
    """T_R and its elimination as Hansen, Lunde and Nason (2011, section 3) write it, over all pairs each time."""
    alive, found, largest = list(range(len(observed))), np.ones(len(observed)), 0.0
    while len(alive) > 1:
        t, imitated = {}, np.zeros(len(in_bag))
        for i in alive:
            for j in alive:
                if i != j:
                    difference = observed[j] - observed[i]
                    centred = in_bag[:, j] - in_bag[:, i] - difference
                    spread = np.sqrt(np.mean(centred**2))
                    t[i, j] = difference / spread
                    imitated = np.maximum(imitated, np.abs(centred / spread))
        (worst, _), statistic = max(t.items(), key=lambda item: item[1])
        largest = max(largest, float(np.mean(imitated >= statistic)))
        found[worst] = largest
        alive.remove(worst)
    return found


@pytest.mark.parametrize("seed", range(5))
def test_the_confidence_set_equals_the_loop_over_all_pairs(seed) -> None:
    rng = np.random.default_rng(seed)
    observed = rng.normal(size=8) * 0.5
    in_bag = observed + rng.normal(size=(60, 8)) @ rng.normal(size=(8, 8)) * 0.15
    assert p_values(scores_of(observed, in_bag)).tolist() == slow_p_values(observed, in_bag).tolist()


def test_twins_stay_together_and_what_never_varies_leaves() -> None:
    rng = np.random.default_rng(0)
    best = 1 + 0.1 * rng.normal(size=50)
    in_bag = np.stack([best, best, best - 1], axis=1)
    assert p_values(scores_of([1.0, 1.0, 0.0], in_bag)).tolist() == [1.0, 1.0, 0.0]


def test_p_values_of_scores_that_are_not_finite() -> None:
    in_bag = np.array([[1.0, 0.9, -np.inf], [0.8, 1.0, -np.inf]])
    assert p_values(scores_of([1.0, 0.9, -np.inf], in_bag))[2] == 0
    assert p_values(scores_of([np.nan], [[np.nan]])).tolist() == [0.0]
    assert p_values(scores_of([1.0], [[1.0]])).tolist() == [1.0]


def test_the_confidence_set_holds_the_best_at_its_level() -> None:
    """Two equally good configurations and three worse: the set at 90 % must hold both in at least 90 % of the
    samples. 120 samples; fails by chance in less than 1 of 1000 runs if the coverage is exactly 90 %."""
    rng = np.random.default_rng(11)
    right = np.array([0.8, 0.8, 0.7, 0.6, 0.75])
    held = 0
    for seed in range(120):
        correct = rng.random((150, 5)) < right
        y = np.resize([0, 1], 150)
        compared = ho.compare_configurations(
            y, np.where(correct, y[:, None], 1 - y[:, None]), metric="accuracy", n_bootstraps=200, random_state=seed
        )
        held += bool(compared.confidence_set(0.9).members[:2].all())
    assert held >= binom.ppf(0.001, 120, 0.9)


def test_a_level_outside_0_to_1_is_refused(compared) -> None:
    with pytest.raises(ho.InputError, match="confidence_level must lie between 0 and 1, got 95"):
        compared.confidence_set(95)


# --- the probability of being the best -------------------------------------------------------------------


def test_the_probability_of_being_best_is_shared_by_ties(compared) -> None:
    y = np.resize([0, 1], 40)
    twins = np.stack([y, y, 1 - y], axis=1)
    found = ho.compare_configurations(y, twins, metric="accuracy", n_bootstraps=20)
    assert found.probability_best.tolist() == [0.5, 0.5, 0.0]
    assert compared.probability_best.sum() == pytest.approx(1)


# --- the optimism curve ----------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_the_mean_over_subsets_is_that_of_all_subsets(size) -> None:
    rng = np.random.default_rng(size)
    choose_on, scored_on = rng.integers(0, 4, (30, 5)).astype(float), rng.random((30, 5))  # with ties
    by_hand = [
        scored_on[lane, list(subset)][choose_on[lane, list(subset)].argmax()]
        for lane in range(30)
        for subset in combinations(range(5), size)
    ]
    assert mean_best(choose_on, scored_on, np.array([size]))[0] == pytest.approx(np.mean(by_hand), abs=1e-12)


@pytest.mark.parametrize("metric", ["roc_auc", "log_loss"])
def test_the_curve_ends_in_the_bbc_estimate(metric) -> None:
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 120)
    table = np.clip(0.2 * y[:, None] + rng.uniform(0, 0.8, (120, 90)), 0.01, 0.99)
    settings = {"metric": metric, "n_bootstraps": 100, "random_state": 3}
    estimate = ho.estimate(y, table, method="bbc", **settings)
    curve = ho.compare_configurations(y, table, **settings).optimism_curve()
    assert curve.n_configurations[[0, -1]].tolist() == [1, 90]
    assert curve.corrected[-1] == pytest.approx(estimate.value, abs=1e-12)
    assert curve.uncorrected[-1] == pytest.approx(estimate.uncorrected, abs=1e-12)
    assert curve.optimism[-1] == pytest.approx(estimate.optimism, abs=1e-12)
    assert abs(curve.optimism[0]) < 0.01 < curve.optimism[-1]  # nothing is chosen from one


def test_what_few_rows_change_is_no_optimism() -> None:
    """R squared of the few rows of a fold that a bootstrap leaves out is far below that of the whole fold."""
    rng = np.random.default_rng(5)
    y = rng.normal(size=60)
    table = y[:, None] + rng.normal(size=(60, 8)) * np.linspace(0.5, 2, 8)
    folds = np.arange(60) % 6
    settings = {"metric": "r2", "folds": folds, "aggregate": "folds", "n_bootstraps": 200, "random_state": 1}
    compared = ho.compare_configurations(y, table, **settings)
    curve, scores = compared.optimism_curve(), compared.scores
    assert curve.optimism[0] == pytest.approx(0, abs=1e-12), "nothing is chosen from one"
    best = scores.in_bag.argmax(axis=1)
    lanes = np.arange(200)
    changed = scores.out_of_bag.mean(axis=0) - scores.observed
    assert abs(changed).max() > 0.05
    by_hand = (scores.out_of_bag[lanes, best] - changed[best]).mean()
    assert curve.corrected[-1] == pytest.approx(by_hand)
    estimate = ho.estimate(y, table, method="bbc", **settings)
    assert curve.corrected[-1] == pytest.approx(estimate.value, abs=0.1 * abs(changed).max())


def test_scores_that_tie_but_for_their_last_bits_tie_here_as_they_do_for_bbc() -> None:
    rng = np.random.default_rng(9)
    y = rng.integers(0, 2, 40)
    labels = np.where(rng.random((40, 6, 3)) < 0.7, y[:, None, None], 1 - y[:, None, None])
    labels[:, 3] = labels[:, 1][:, [2, 0, 1]]  # the same repeats in another order
    settings = {"metric": "accuracy", "n_bootstraps": 300, "random_state": 9}
    compared = ho.compare_configurations(y, labels, **settings)
    assert compared.difference(1, 3, fixed=(1, 3)).probability_better == 0.5
    assert compared.probability_best[1] == compared.probability_best[3]
    curve = compared.optimism_curve()
    assert curve.corrected[-1] == pytest.approx(ho.estimate(y, labels, method="bbc", **settings).value, abs=1e-12)


@pytest.mark.parametrize("sizes", [[0], [13], [1.5], [], [[1]]], ids=str)
def test_sizes_of_no_meaning_are_refused(compared, sizes) -> None:
    with pytest.raises(ho.InputError, match="sizes must be whole numbers from 1 to 12"):
        compared.optimism_curve(sizes)


def test_everything_reads_as_text_table_and_json(compared) -> None:
    import json

    assert compared.winner in str(compared) and "cannot be distinguished from the best (at 95%)" in str(compared)
    of_winner, of_other = compared.difference("winner", 0), compared.difference(0, "winner")
    assert str(of_winner).startswith(f"{compared.winner} is better than configuration 0 by {of_winner.value:.4g} [")
    assert str(of_other).startswith(f"configuration 0 is worse than {compared.winner} by {-of_other.value:.4g} [")
    assert f"[{-of_other.interval.high:.4g}, {-of_other.interval.low:.4g}]" in str(of_other)
    for answer in (compared.difference("winner", 0), compared.confidence_set(), compared.optimism_curve([1, 12])):
        assert json.loads(json.dumps(answer.to_dict(), allow_nan=False))
    frame = compared.to_frame()
    assert frame["configuration"].iloc[0] == compared.winner
    assert frame["roc_auc"].is_monotonic_decreasing


def test_an_ensemble_is_no_configuration_to_compare() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(
        ho.InputError, match="cannot be compared: it is for one configuration, but the rule 'top_k'"
    ):
        ho.compare_configurations(
            rng.integers(0, 2, 60), rng.random((60, 4)), metric="brier_score", selection=ho.selection.TopK(2)
        )


def test_the_curve_is_of_the_best_alone() -> None:
    rng = np.random.default_rng(0)
    rule = ho.selection.Within(0.01)
    compared = ho.compare_configurations(
        rng.integers(0, 2, 60), rng.random((60, 4)), metric="roc_auc", selection=rule, n_bootstraps=20
    )
    with pytest.raises(ho.InputError, match="replays `selection='best'` on subsets, got the rule 'within"):
        compared.optimism_curve()


# --- what is shown ---------------------------------------------------------------------------------------


def test_a_control_is_the_mean_over_the_bootstraps_that_score_both_parts() -> None:
    left_out = [[0.4, np.nan, np.nan], [0.6, 0.7, 0.9]]
    scores = scores_of([0.5, 0.6, 0.8], [[0.5, 0.6, 0.8], [0.5, 0.6, np.nan]], left_out, chosen=[1, 1])
    assert own_controls(scores).tolist() == pytest.approx([0.0, 0.1, 0.0])


def test_a_notebook_shows_losses_as_they_are_and_only_so_many() -> None:
    rng = np.random.default_rng(2)
    y = rng.normal(size=60)
    names = [f"<{j}>" for j in range(30)]
    table = y[:, None] + rng.normal(size=(60, 30))
    found = ho.compare_configurations(
        y, pd.DataFrame(table, columns=names), metric="mean_squared_error", n_bootstraps=20, random_state=0
    )
    shown = found._repr_html_()

    assert shown.count("<tr>") == 21
    assert "<td>-" not in shown  # losses in their own units
    assert f"&lt;{found.winner[1:-1]}&gt;" in shown and found.winner not in shown
