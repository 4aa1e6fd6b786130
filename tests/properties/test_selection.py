"""Identities that every selection rule keeps, whatever the scores."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import heldout as ho
from heldout.estimates import bootstrap as of_rows
from heldout.selection import (
    NONE_CHOSEN,
    AverageRank,
    Best,
    CallableRule,
    GreedyEnsemble,
    OneStandardError,
    ScoreTable,
    Threshold,
    TopK,
    Within,
)
from heldout.selection.best import first_greatest, first_greatest_of_tied, tie_exactly

seeds = st.integers(0, 2**32 - 1)
C, SPLITS = 5, 4
few = settings(max_examples=8)
"""Of examples that are some estimates each: another one differs by its random numbers alone."""


def rules(complexity):
    return {
        "best": Best(),
        "median": Best("median"),
        "one_standard_error": OneStandardError(complexity),
        "within": Within(0.05, complexity=complexity),
        "average_rank": AverageRank(),
        "callable": CallableRule(lambda scores: np.where(np.isnan(scores), -np.inf, scores).argmax(axis=1)),
    }


def table_of(seed: int, resamples: int = 8) -> ScoreTable:
    """Scores with gaps, in which configurations that lack one are no candidates."""
    rng = np.random.default_rng(seed)
    folds = rng.normal(size=(resamples, SPLITS, C, 2))
    absent = rng.random((resamples, C)) < 0.3
    absent[0] = True
    folds[np.broadcast_to(absent[:, None, :, None], folds.shape)] = np.nan
    return ScoreTable(folds.mean(axis=1), ["a", "b"], [{}] * C, folds, folds)


@given(seed=seeds, name=st.sampled_from(list(rules(None))))
def test_nan_never_wins_and_where_all_are_nan_none_is_chosen(seed, name):
    table = table_of(seed)
    chosen = rules(np.arange(C))[name](table)
    assert chosen[0] == NONE_CHOSEN
    has_scores = ~np.isnan(table.values[:, :, 0])
    for row, column in enumerate(chosen):
        assert (column == NONE_CHOSEN) == (not has_scores[row].any())
        assert column == NONE_CHOSEN or has_scores[row, column]


@given(
    seed=seeds,
    name=st.sampled_from([n for n in rules(None) if n != "average_rank"]),
    order=st.permutations(range(C)),
)
def test_another_order_of_configurations_moves_the_choice_along(seed, name, order):
    table, order = table_of(seed), np.array(order)
    complexity = np.random.default_rng(seed).random(C)
    moved = ScoreTable(
        table.values[:, order],
        table.metrics,
        [{}] * C,
        table.fold_scores[:, :, order],
        table.repeat_scores[:, :, order],
    )
    first = rules(complexity)[name](table)
    second = rules(complexity[order])[name](moved)
    known = first != NONE_CHOSEN
    np.testing.assert_array_equal(order[second[known]], first[known])


@given(seed=seeds, name=st.sampled_from(list(rules(None))))
def test_a_resample_is_chosen_for_by_itself(seed, name):
    table, rule = table_of(seed), rules(None)[name]
    together = rule(table)
    for b in range(table.n_resamples):
        one = slice(b, b + 1)
        alone = ScoreTable(
            table.values[one], table.metrics, table.params, table.fold_scores[one], table.repeat_scores[one]
        )
        assert rule(alone)[0] == together[b]


@given(seed=seeds)
def test_without_tolerance_the_rules_are_the_best(seed):
    rng = np.random.default_rng(seed)
    table = ScoreTable(rng.normal(size=(6, C, 1)), ["a"], [{}] * C)
    np.testing.assert_array_equal(Within(0.0)(table), Best()(table))
    np.testing.assert_array_equal(AverageRank()(table), Best()(table))
    np.testing.assert_array_equal(Best("median")(table), Best()(table))


def data(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.resize([0, 1], 40))
    return y, 1 / (1 + np.exp(-rng.normal(size=(40, C)) - y[:, None]))


ENSEMBLES = {"top_k": TopK(2), "greedy_ensemble": GreedyEnsemble(3)}


@few
@given(seed=seeds, name=st.sampled_from(list(ENSEMBLES)), order=st.permutations(range(C)))
def test_another_order_moves_the_weights_along(seed, name, order):
    y, table = data(seed)
    first, second = (
        ho.estimate(y, some, metric="log_loss", selection=ENSEMBLES[name], n_bootstraps=20, random_state=1)
        for some in (table, table[:, order])
    )
    np.testing.assert_allclose(first.distribution, second.distribution, rtol=1e-12)
    np.testing.assert_allclose(np.array(first.provenance["weights"])[order], second.provenance["weights"])


@few
@given(seed=seeds, metric=st.sampled_from(["roc_auc", "log_loss", "brier_score"]))
def test_an_ensemble_of_one_is_the_best(seed, metric):
    y, table = data(seed)
    best, *ones = (
        ho.estimate(y, table, metric=metric, method="bbc", selection=rule, n_bootstraps=20, random_state=1)
        for rule in (Best(), TopK(1), GreedyEnsemble(1))
    )
    for one in ones:
        np.testing.assert_allclose(one.distribution, best.distribution, rtol=1e-11)
        np.testing.assert_array_equal(one.selection_frequency, best.selection_frequency)
        assert (one.selected, one.selected_name) == (best.selected, best.selected_name)


@few
@given(seed=seeds, metric=st.sampled_from(["accuracy", "f1", "matthews_corrcoef"]))
def test_a_grid_of_the_usual_threshold_is_the_best(seed, metric):
    y, table = data(seed)
    best = ho.estimate(y, table, metric=metric, n_bootstraps=20, random_state=1)
    cut = ho.estimate(y, table, metric=metric, selection=Threshold([0.5]), n_bootstraps=20, random_state=1)
    np.testing.assert_array_equal(cut.distribution, best.distribution)
    np.testing.assert_array_equal(cut.selection_frequency, best.selection_frequency)


@few
@given(seed=seeds, metric=st.sampled_from(["accuracy", "balanced_accuracy", "f1"]))
def test_tuning_the_threshold_never_scores_worse_uncorrected(seed, metric):
    y, table = data(seed)
    one = ho.estimate(y, table, metric=metric, method="cv")
    tuned = ho.estimate(y, table, metric=metric, method="cv", selection=Threshold())
    assert tuned.value >= one.value - 1e-12


@few
@given(seed=seeds, name=st.sampled_from(["top_k", "greedy_ensemble"]), block=st.sampled_from([1, 7, 64]))
def test_blocks_change_no_bit_of_an_ensemble(seed, name, block):
    y, table = data(seed)
    asked = {"metric": "log_loss", "selection": ENSEMBLES[name], "n_bootstraps": 70, "random_state": seed}
    expected = ho.estimate(y, table, **asked)
    whole = of_rows.map_blocks
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(
            of_rows,
            "map_blocks",
            lambda function, n, n_threads: whole(function, n, n_threads=2, block=block),
        )
        found = ho.estimate(y, table, **asked)
    np.testing.assert_array_equal(found.distribution, expected.distribution)
    np.testing.assert_array_equal(found.selection_frequency, expected.selection_frequency)


near_ties = st.builds(
    lambda base, steps: base * (1 + steps * 2.0**-50) if np.isfinite(base) else base,
    st.sampled_from([0.0, 0.3, -0.3, 1.0, -1e-300, 1e-310, 5e-324, 1e300, -1e300, 1.5, np.inf, -np.inf, np.nan]),
    st.integers(-4000, 4000),  # from equal but for rounding, through ``SLACK``, to different
)


@settings(max_examples=200)
@given(st.lists(st.lists(near_ties, min_size=4, max_size=4), min_size=1, max_size=5))
def test_the_best_is_found_without_rounding_all_scores(rows):
    scores = np.array(rows)
    np.testing.assert_array_equal(first_greatest_of_tied(scores), first_greatest(tie_exactly(scores)))
