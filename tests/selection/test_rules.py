import pickle

import numpy as np
import pytest

from heldout.errors import InputError
from heldout.references import REFERENCES
from heldout.selection import (
    NONE_CHOSEN,
    RULES,
    SELECTION_WORDS,
    AverageRank,
    Best,
    CallableRefit,
    CallableRule,
    GreedyEnsemble,
    OneStandardError,
    ScoreTable,
    SelectionFailedError,
    Threshold,
    TopK,
    Within,
    configuration_rule_of,
    rule_of,
)
from heldout.selection.base import checked_weights
from heldout.selection.best import tie_exactly
from heldout.selection.simplest import standard_errors

NAN = np.nan


def table(*rows, **more):
    return ScoreTable(np.array(rows, dtype=float)[:, :, None], ["score"], **more)


@pytest.mark.parametrize(
    "scores, chosen",
    [
        ([0.1, 0.3, 0.2], 1),
        ([0.3, 0.3, 0.2], 0),
        ([NAN, 0.1, 0.2], 2),
        ([NAN, -np.inf, -np.inf], 1),
        ([NAN, NAN, NAN], NONE_CHOSEN),
        ([np.inf, 0.1, np.inf], 0),
    ],
)
def test_best_takes_the_first_greatest_and_never_nan(scores, chosen):
    assert Best()(table(scores)).tolist() == [chosen]


def test_rounding_noise_does_not_break_ties():
    means = np.array([np.mean([0.9, 0.8, 0.7]), np.mean([0.7, 0.9, 0.8]), (0.7 + 0.8 + 0.9) / 3])
    assert len(np.unique(means)) > 1  # the noise is there
    assert len(np.unique(tie_exactly(means))) == 1
    near = np.array([0.5, 0.5 + 1e-12])
    assert len(np.unique(tie_exactly(near))) == 2


@pytest.mark.parametrize("value", [0.0, -0.0, 1.0, -3.25, np.inf, -np.inf, 2.0**900, 5e-324])
def test_cutting_the_noise_keeps_round_numbers(value):
    assert tie_exactly(np.array([value]))[0] == value
    assert np.isnan(tie_exactly(np.array([NAN]))[0])


def test_a_callable_refit_reads_a_dict_like_cv_results():
    seen = []

    def simplest_within_a_hundredth(results):
        seen.append(results)
        good = np.flatnonzero(results["mean_test_score"] >= np.nanmax(results["mean_test_score"]) - 0.01)
        return int(good[np.argmin(results["param_depth"][good])])

    params = [{"depth": 5}, {"depth": 1}, {"depth": 2, "other": "x"}]
    folds = np.array([[[0.9, 0.8, NAN], [0.7, 0.78, NAN]]])[..., None]
    rule = CallableRefit(simplest_within_a_hundredth)
    chosen = rule(table([0.8, 0.795, NAN], params=params, fold_scores=folds))
    assert chosen.tolist() == [1]
    results = seen[0]
    assert results["params"] == params
    assert results["param_depth"].tolist() == [5, 1, 2]
    assert results["param_other"].mask.tolist() == [True, True, False]
    assert results["rank_test_score"].tolist() == [1, 2, 3]
    assert results["split1_test_score"][1] == 0.78
    assert results["std_test_score"][0] == pytest.approx(0.1)
    assert rule.name == "refit callable simplest_within_a_hundredth"


def test_a_callable_that_chooses_a_failed_configuration_has_chosen_none():
    assert CallableRefit(lambda results: 0)(table([NAN, 0.5], params=[{}, {}])).tolist() == [NONE_CHOSEN]


@pytest.mark.parametrize(
    "refit, said",
    [(lambda results: results["mean_fit_time"], "KeyError: 'mean_fit_time'"), (lambda results: 7, "returned 7")],
)
def test_a_callable_that_cannot_be_replayed_has_a_reason(refit, said):
    with pytest.raises(SelectionFailedError, match=said):
        CallableRefit(refit)(table([0.1, 0.5], params=[{}, {}]))


def test_constants_serve_rules_that_read_fit_times():
    rule = CallableRefit(
        lambda results: int(np.argmin(results["mean_fit_time"])), {"mean_fit_time": np.array([2.0, 1.0])}
    )
    assert rule(table([0.9, 0.5], params=[{}, {}])).tolist() == [1]


def test_rules_go_by_name_or_themselves():
    assert rule_of("best") == Best()
    assert rule_of(Best()) == Best()
    with pytest.raises(InputError, match="selection must be one of best"):
        rule_of("first")
    with pytest.raises(InputError):
        rule_of(3)
    with pytest.raises(InputError):
        rule_of(Best)


def test_the_median_over_repeats_is_not_moved_by_one_lucky_repeat():
    repeats = np.array([[0.5, 0.6, NAN], [0.5, 0.6, NAN], [0.9, 0.6, NAN]])[None, :, :, None]
    scores = table([0.633, 0.6, NAN], repeat_scores=repeats)
    assert Best()(scores).tolist() == [0]
    assert Best(over_repeats="median")(scores).tolist() == [1]
    assert Best("median")(table([0.2, 0.4])).tolist() == [1]  # of one repeat the scores are the medians


def test_the_median_leaves_out_undefined_repeats():
    repeats = np.array([[0.5, NAN], [NAN, NAN], [0.9, NAN]])[None, :, :, None]
    assert Best("median")(table([0.7, NAN], repeat_scores=repeats)).tolist() == [0]
    with pytest.raises(InputError, match="over_repeats must be one of mean, median"):
        Best("mode")


#      three folds of four configurations: means .70, .78, .80, .79; the standard error of the third is .02
FOLDS = np.array(
    [[0.70, 0.70, 0.70, NAN], [0.78, 0.78, 0.78, NAN], [0.76, 0.80, 0.84, NAN], [0.79, 0.79, 0.79, NAN]]
).T
MEANS = [0.70, 0.78, 0.80, 0.79]
ERROR = 0.04 / np.sqrt(3)


@pytest.mark.parametrize(
    "complexity, chosen",
    [
        (None, 1),  # .80 - .0231 = .7769: the first of those at least as good
        ([4, 3, 2, 1], 3),
        ([1, 3, 2, 3], 2),
        ([1, 2, 2, 2], 2),  # equally simple: the best
        ("depth", 3),
        (lambda params: -params["depth"], 1),
    ],
)
def test_one_standard_error_takes_the_simplest_within_it(complexity, chosen):
    params = [{"depth": depth} for depth in (1, 9, 5, 4)]
    scores = table(MEANS, params=params, fold_scores=FOLDS[None, :, :, None])
    assert standard_errors(FOLDS[:, 2][None, :]).tolist() == [pytest.approx(ERROR)]
    assert OneStandardError(complexity)(scores).tolist() == [chosen]


def test_exactly_one_standard_error_worse_is_within():
    folds = np.array([[0.7, 0.9], [0.7, 0.7]])  # the second: .8, with an error of .1
    assert 0.8 - standard_errors(folds[:, 1][None, :])[0] > 0.7  # .7000000000000001
    scores = table([0.7, 0.8], fold_scores=folds[None, :, :, None])
    assert OneStandardError()(scores).tolist() == [0]


def test_one_standard_error_needs_two_folds_with_a_score():
    folds = np.array([[0.7, 0.9], [0.7, NAN]])[None, :, :, None]
    assert OneStandardError()(table([0.7, 0.9], fold_scores=folds)).tolist() == [NONE_CHOSEN]
    with pytest.raises(SelectionFailedError, match="give `folds=`"):
        OneStandardError()(table([0.7, 0.9]))


@pytest.mark.parametrize(
    "rule, chosen",
    [
        (Within(0), 2),
        (Within(0.01), 1),
        (Within(0.01, complexity=[1, 3, 2, 0]), 2),
        (Within(0.1), 0),
    ],
)
def test_within_a_tolerance_of_the_best(rule, chosen):
    assert rule(table([0.70, 0.79, 0.80, NAN])).tolist() == [chosen]


def test_within_of_losses_and_of_infinite_scores():
    assert Within(0.1)(table([-1.2, -1.05, -1.0])).tolist() == [1]
    assert Within(1.0)(table([1.0, np.inf], [-np.inf, -np.inf], [-np.inf, 3.0])).tolist() == [1, 0, 1]
    assert Within(0.1)(table([NAN, NAN])).tolist() == [NONE_CHOSEN]


def test_average_rank_shares_ranks_and_leaves_out_configurations_without_a_score():
    #  ranks of a: 1.5, 1.5, 3; of b: 2, 3, 1; the last has no b, and takes no rank of a either
    values = np.array([[[0.9, 0.5], [0.9, 0.4], [0.7, 0.6], [1.0, NAN]]])
    scores = ScoreTable(values, ["a", "b"])
    assert AverageRank()(scores).tolist() == [0]  # 1.75, 2.25, 2
    assert AverageRank(weights=[1, 3])(scores).tolist() == [2]  # 1.875, 2.625, 1.5
    assert AverageRank(["b"])(scores).tolist() == [2]
    assert AverageRank(["b", "a"], weights=[3, 1])(scores).tolist() == [2]
    assert AverageRank()(ScoreTable(np.full((1, 2, 2), NAN), ["a", "b"])).tolist() == [NONE_CHOSEN]
    assert AverageRank()(ScoreTable(np.array([[[-np.inf, 1.0], [0.0, 0.0]]]), ["a", "b"])).tolist() == [0]


def test_a_function_of_the_scores_is_a_rule():
    rule = rule_of(lambda scores: np.nanargmin(scores, axis=1))
    assert rule(table([0.3, 0.1, NAN], [0.3, NAN, 0.2])).tolist() == [1, 2]
    assert rule.name == "callable <lambda>"
    assert CallableRule(lambda scores: np.zeros(1, dtype=int))(table([NAN, 1.0])).tolist() == [NONE_CHOSEN]


@pytest.mark.parametrize(
    "choose, said",
    [
        (lambda scores: 0.0, "shape \\(1,\\), but returned float64 of shape \\(\\)"),
        (lambda scores: np.zeros(1), "an integer for each row"),
        (lambda scores: np.array([2]), "returned 2 for 2 configurations"),
        (lambda scores: np.array([-1]), "returned -1"),
        (lambda scores: np.array([0, 0]), "but returned int64 of shape \\(2,\\)"),
        (lambda scores: scores.missing, "AttributeError"),
    ],
    ids=["scalar", "floats", "too_large", "negative", "too_many", "raises"],
)
def test_a_function_that_gives_no_indices_has_a_reason(choose, said):
    with pytest.raises(SelectionFailedError, match=said):
        CallableRule(choose)(table([0.1, 0.2]))


REFUSED = {
    "unknown_parameter": (lambda: OneStandardError("depth").check(1, [{"c": 1}], ["a"]), "not a parameter of"),
    "no_number": (lambda: Within(1, complexity="k").check(1, [{"k": "rbf"}], ["a"]), "must be a number, but"),
    "failing_function": (lambda: OneStandardError(lambda p: p["x"]).check(1, [{"k": 1}], ["a"]), "KeyError"),
    "no_parameters": (lambda: OneStandardError("depth").check(2, [], ["a"]), "known only in a search"),
    "too_few_numbers": (lambda: OneStandardError([1, 2]).check(3, [], ["a"]), "each of the 3 configurations"),
    "nan_complexity": (lambda: OneStandardError([1, NAN]), "complexity must be"),
    "negative_tolerance": (lambda: Within(-0.1), "tolerance must be a finite number of at least 0, got -0.1"),
    "infinite_tolerance": (lambda: Within(np.inf), "tolerance must be"),
    "unscored_metric": (lambda: AverageRank(["f1"]).check(1, [], ["a", "b"]), "the scorers are a, b"),
    "too_few_weights": (lambda: AverageRank(weights=[1]).check(1, [], ["a", "b"]), "each of 2 metrics"),
    "a_weight_in_an_array": (lambda: AverageRank(weights=np.array(1)), r"with a positive sum, got array\(1\)"),
    "no_weight": (lambda: AverageRank(weights=[0, 0]), "with a positive sum"),
    "one_metric_as_text": (lambda: AverageRank("roc_auc"), "must be a list of metrics"),
    "metric_twice": (lambda: AverageRank(["f1", "f1"]), "distinct, got f1, f1"),
    "too_many": (lambda: TopK(10).check(4, [], ["a"]), "there are 4 configurations; write 'top_k"),
    "no_k": (lambda: TopK(0), "k of top_k must be an integer of at least 1, got 0"),
    "no_rounds": (lambda: GreedyEnsemble(rounds=1.5), "rounds of greedy_ensemble"),
    "empty_grid": (lambda: Threshold([]), "grid must be a list of thresholds"),
    "double_grid": (lambda: Threshold([0.5, 0.5]), "distinct"),
    "no_thresholds": (lambda: Threshold(n_thresholds=0), "n_thresholds must be"),
    "ensemble_in_a_search": (lambda: configuration_rule_of("top_k"), "ho.estimate"),
    "threshold_in_a_search": (lambda: configuration_rule_of(Threshold()), "a decision threshold with it"),
    "class_for_rule": (lambda: rule_of(Threshold), "selection must be one of"),
}


@pytest.mark.parametrize("case", list(REFUSED))
def test_invalid_parameters_of_a_rule_are_refused(case):
    ask, said = REFUSED[case]
    with pytest.raises(InputError, match=said):
        ask()


def test_every_name_gives_a_rule_of_that_name_with_words():
    for name in RULES:
        assert rule_of(name).name == name
        assert name in SELECTION_WORDS
    for rule in (OneStandardError(), GreedyEnsemble()):
        assert set(rule.sources) <= set(REFERENCES)


def test_rules_with_the_same_settings_are_equal_and_travel():
    for rule in (OneStandardError([1, 2]), Within(0.1, complexity="c"), AverageRank(["a"], [2]), Threshold([0.5])):
        assert pickle.loads(pickle.dumps(rule)) == rule
        assert hash(rule) == hash(rule)


@pytest.mark.parametrize(
    "returned, said",
    [
        ([1.0], "shape \\(2,\\), but returned float64 of shape \\(1,\\)"),
        ([1.5, -0.5], "the weight -0.5; weights must be at least 0"),
        ([np.nan, 1.0], "the weight nan"),
        ([1.0, 1.0], "weights of sum 2; they must add up to 1"),
    ],
)
def test_weights_are_shares(returned, said):
    with pytest.raises(SelectionFailedError, match=said):
        checked_weights(returned, 2)
    assert checked_weights([0, 0], 2).tolist() == [0, 0]
