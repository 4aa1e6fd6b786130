"""Rules as ``ho.estimate`` and a search ask them: what is read, refused, chosen and said."""

import numpy as np
import pytest
from sklearn import metrics as sk
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import heldout as ho
from heldout.errors import HeldoutWarning, InputError
from heldout.selection import (
    AverageRank,
    Best,
    GreedyEnsemble,
    OneStandardError,
    Threshold,
    TopK,
    Within,
)

RNG = np.random.default_rng(4)
Y = RNG.permutation(np.repeat([0, 1], 60))
DECISIONS = RNG.normal(size=(120, 7)) + 0.8 * Y[:, None]
PROBABILITIES = 1 / (1 + np.exp(-DECISIONS))
FOLDS = np.empty(120, dtype=int)
for code in (0, 1):
    FOLDS[Y == code] = np.arange(60) % 4
RULES = {
    "one_standard_error": OneStandardError(),
    "within": Within(0.01),
    "average_rank": AverageRank(["log_loss", "roc_auc", "f1"]),
    "median": Best("median"),
    "top_k": TopK(3),
    "greedy_ensemble": GreedyEnsemble(4),
    "threshold": Threshold(n_thresholds=20),
}


def estimate(metric, selection, table=PROBABILITIES, **more):
    settings = {"n_bootstraps": 40, "random_state": 1} | more
    return ho.estimate(Y, table, metric=metric, selection=selection, **settings)


def metric_for(rule):
    return "accuracy" if rule == "threshold" else "roc_auc"


def test_importance_weights_weigh_the_ensemble():
    weights = 1 + np.arange(120) % 3
    found = estimate("log_loss", TopK(3), sample_weight=weights, method="cv")
    alone = [sk.log_loss(Y, column, sample_weight=weights) for column in PROBABILITIES.T]
    best = np.argsort(alone)[:3]
    expected = sk.log_loss(Y, PROBABILITIES[:, best].mean(axis=1), sample_weight=weights)
    assert found.value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", ["top_k", "greedy_ensemble", "threshold"])
def test_cv_and_naive_bootstrap_take_what_was_chosen_as_it_stands(name):
    corrected = estimate(metric_for(name), RULES[name])
    plain = estimate(metric_for(name), RULES[name], method="cv")
    naive = estimate(metric_for(name), RULES[name], method="naive_bootstrap")
    assert plain.value == naive.value == naive.uncorrected == corrected.uncorrected
    assert "uncorrected" in plain.flags and "uncorrected" in naive.flags
    assert plain.selected_name == naive.selected_name == corrected.selected_name
    assert naive.interval.low < naive.value < naive.interval.high


def test_what_was_selected_is_in_the_name_and_the_provenance():
    ensemble = estimate("roc_auc", TopK(3))
    weights = np.array(ensemble.provenance["weights"])
    assert np.count_nonzero(weights) == 3 and weights.sum() == pytest.approx(1)
    assert ensemble.selected_name == "ensemble of 3 configurations"
    assert weights[ensemble.selected] == weights.max()
    assert ensemble.provenance["selection_settings"] == {"k": 3}
    of_one = estimate("roc_auc", GreedyEnsemble(1))
    assert of_one.selected_name == f"configuration {of_one.selected}"
    cut = estimate("f1", Threshold(), method="cv")
    assert cut.selected_name == f"configuration {cut.selected} at threshold {cut.provenance['threshold']:.4g}"
    assert cut.provenance["n_candidates"] == 7
    assert "7 configurations at several thresholds" in cut.flags["uncorrected"]
    assert "breiman1984" in estimate("roc_auc", OneStandardError(), folds=FOLDS).provenance["sources"]
    assert {"caruana2004", "tsamardinos2018"} <= set(estimate("roc_auc", GreedyEnsemble(2)).provenance["sources"])


def test_a_threshold_of_one_configuration_is_a_choice_too():
    found = estimate("accuracy", Threshold(), PROBABILITIES[:, :1])
    assert "single_configuration" not in found.flags
    assert "uncorrected" in estimate("accuracy", Threshold(), PROBABILITIES[:, :1], method="cv").flags


def test_thresholds_are_the_same_for_probabilities_and_decisions_by_rank():
    by_decision = estimate("balanced_accuracy", Threshold(n_thresholds=500), DECISIONS, method="cv")
    by_probability = estimate("balanced_accuracy", Threshold(n_thresholds=500), method="cv")
    assert by_decision.value == by_probability.value


def test_a_threshold_may_be_tuned_for_another_metric_than_is_reported():
    found = estimate("accuracy", Threshold([0.2, 0.4, 0.6], metric="f1"), method="cv")
    scores = {(j, cut): sk.f1_score(Y, PROBABILITIES[:, j] > cut) for j in range(7) for cut in (0.2, 0.4, 0.6)}
    j, cut = max(scores, key=scores.get)
    assert (found.selected, found.provenance["threshold"]) == (j, cut)
    assert found.value == pytest.approx(sk.accuracy_score(Y, PROBABILITIES[:, j] > cut))


def test_methods_of_folds_take_thresholds_and_refuse_ensembles():
    for method in ("tt", "bbc_f"):
        found = estimate("accuracy", Threshold([0.4, 0.5]), method=method, folds=FOLDS)
        assert found.provenance["threshold"] in (0.4, 0.5)
        with pytest.raises(InputError, match=r"'top_k' chooses an ensemble.*methods that do: cv, bbc"):
            estimate("accuracy", TopK(3), method=method, folds=FOLDS)
    with pytest.raises(InputError, match="chooses a decision threshold"):
        estimate("accuracy", Threshold([0.4, 0.5]), method="wilson")


def test_an_ensemble_of_classes_and_of_numbers():
    y = np.arange(90) % 3
    logits = RNG.normal(size=(90, 5, 3)) + 1.5 * np.eye(3)[y][:, None, :]
    table = (np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True))[:, :, None, :]
    for metric, function in (("log_loss", sk.log_loss), ("accuracy", lambda t, p: np.mean(p.argmax(axis=1) == t))):
        found = ho.estimate(y, table, metric=metric, selection=TopK(2), n_bootstraps=40, random_state=0)
        average = np.einsum("ncrk,c->nk", table, found.provenance["weights"])
        assert found.uncorrected == pytest.approx(function(y, average), rel=1e-12)
    numbers = RNG.normal(size=60)
    guesses = numbers[:, None] + RNG.normal(size=(60, 5))
    found = ho.estimate(numbers, guesses, metric="r2", selection=TopK(2), n_bootstraps=40, random_state=0)
    assert found.uncorrected == pytest.approx(
        sk.r2_score(numbers, guesses @ found.provenance["weights"]), rel=1e-12
    )


def test_averaged_probabilities_are_cut_at_the_threshold_passed():
    found = estimate("accuracy", TopK(3), threshold=0.4, method="cv")
    average = PROBABILITIES @ found.provenance["weights"]
    assert found.value == pytest.approx(np.mean((average > 0.4) == Y))


def test_rows_that_some_did_not_predict_are_left_out_of_ensembles_and_thresholds():
    table = PROBABILITIES.copy()
    table[:10, 2] = np.nan
    for metric, rule in (("roc_auc", TopK(3)), ("accuracy", Threshold([0.3, 0.5]))):
        found = estimate(metric, rule, table)
        rest = ho.estimate(Y[10:], table[10:], metric=metric, selection=rule, n_bootstraps=40, random_state=1)
        np.testing.assert_array_equal(found.distribution, rest.distribution)
        assert found.n_rows_used == 110


def test_failed_configurations_get_no_weight():
    table = PROBABILITIES.copy()
    table[:, 3] = np.nan
    with pytest.warns(HeldoutWarning, match="failed"):
        found = estimate("roc_auc", GreedyEnsemble(3), table)
    assert found.selection_frequency[3] == 0 and found.provenance["weights"][3] == 0
    with pytest.warns(HeldoutWarning, match="failed"):
        cut = estimate("accuracy", Threshold([0.3, 0.5]), table)
    assert cut.selection_frequency[3] == 0 and cut.provenance["n_candidates"] == 6


def test_metrics_of_a_rank_are_read_each_in_its_response():
    rule = AverageRank(["accuracy", "log_loss"])
    found = estimate("roc_auc", rule, threshold=0.4, method="cv")
    ranks = sum(
        np.argsort(np.argsort(scores)) + 1
        for scores in (
            [-sk.accuracy_score(Y, column > 0.4) for column in PROBABILITIES.T],
            [sk.log_loss(Y, column) for column in PROBABILITIES.T],
        )
    )
    assert ranks[found.selected] == ranks.min()
    assert found.value == pytest.approx(sk.roc_auc_score(Y, PROBABILITIES[:, found.selected]))


def held(**responses):
    arrays = {ho.metrics.Response(kind): array[:, :, None] for kind, array in responses.items()}
    return ho.HeldOutPredictions(arrays, tuple("abcdefg"), None, np.array([0, 1]), 1)


def test_held_out_predictions_are_averaged_as_probabilities_and_cut_as_scores():
    both = held(decision=DECISIONS, probabilities=PROBABILITIES)
    found = estimate("roc_auc", TopK(3), both)
    np.testing.assert_array_equal(found.distribution, estimate("roc_auc", TopK(3)).distribution)
    labels = held(labels=(PROBABILITIES > 0.5).astype(np.int32), decision=DECISIONS)
    cut = estimate("accuracy", Threshold(), labels)
    np.testing.assert_array_equal(cut.distribution, estimate("accuracy", Threshold(), DECISIONS).distribution)
    ranked = estimate("roc_auc", AverageRank(["roc_auc", "accuracy"]), labels)
    assert np.isfinite(ranked.value)


LABELS = (PROBABILITIES > 0.5).astype(int)
REFUSED = {
    "decisions": (lambda: estimate("roc_auc", TopK(3), DECISIONS), "roc_auc of an ensemble needs probabilities"),
    "held_decisions": (lambda: estimate("roc_auc", TopK(3), held(decision=DECISIONS)), "or predict probabilities"),
    "labels": (
        lambda: estimate("accuracy", GreedyEnsemble(3), LABELS),
        "labels have no average.*pass probabilities",
    ),
    "labels_cut": (lambda: estimate("accuracy", Threshold(), LABELS), "the predictions are labels; pass prob"),
    "labels_said": (lambda: estimate("accuracy", Threshold(), LABELS, response="labels"), "are labels"),
    "held_labels": (
        lambda: estimate("accuracy", Threshold(), held(labels=LABELS.astype(np.int32))),
        "accuracy at a tuned threshold needs decision or probabilities, but the predictions hold labels",
    ),
    "scores_cut": (lambda: estimate("roc_auc", Threshold()), "tunes where scores are cut into labels, but roc_auc"),
    "cut_twice": (lambda: estimate("accuracy", Threshold(), threshold=0.4), "`threshold=0.4` sets where to cut"),
    "three_classes": (
        lambda: ho.estimate(np.arange(9) % 3, np.zeros((9, 2)), metric="accuracy", selection=Threshold()),
        "is for binary tasks, and there are 3 classes",
    ),
    "cut_of_an_average_of_ranks": (lambda: estimate("roc_auc", TopK(3), threshold=0.4), "reads the scores"),
    "numbers": (
        lambda: ho.estimate(DECISIONS[:, 0], DECISIONS, metric="r2", selection="threshold"),
        "tunes where scores are cut",
    ),
    "no_metrics": (lambda: estimate("roc_auc", "average_rank"), r"name them: .average_rank\(metrics="),
    "no_folds": (lambda: estimate("roc_auc", "one_standard_error"), "give `folds=`, one label per row"),
    "no_params": (lambda: estimate("roc_auc", Within(0.1, complexity="depth")), "known only in a search"),
    "more_than_there_are": (lambda: estimate("roc_auc", "top_k"), "there are 7 configurations"),
    "bad_function": (lambda: estimate("roc_auc", lambda scores: 1 / 0), "failed on the scores: ZeroDivisionError"),
    "no_rule": (lambda: estimate("roc_auc", "worst"), "got 'worst'"),
    "compared": (
        lambda: ho.compare_configurations(Y, PROBABILITIES, metric="roc_auc", selection=TopK(3)),
        "chooses an ensemble",
    ),
}


@pytest.mark.parametrize("case", list(REFUSED))
def test_what_a_rule_is_not_for_is_refused(case):
    ask, said = REFUSED[case]
    with pytest.raises(InputError, match=said):
        ask()


def test_zeros_and_ones_may_be_declared_probabilities():
    hard = LABELS.astype(float)
    found = estimate("brier_score", TopK(3), hard, response="probabilities", method="cv")
    assert found.value == pytest.approx(np.mean((hard @ found.provenance["weights"] - Y) ** 2))


X, LABEL = load_breast_cancer(return_X_y=True)
X, LABEL = X[:150], LABEL[:150]


def search(selection, **more):
    settings = {"random_state": 0, "n_bootstraps": 40, "selection": selection} | more
    return ho.HeldOutSearchCV(DecisionTreeClassifier(), {"max_depth": [6, 3, 1, 2]}, **settings).fit(X, LABEL)


def test_a_search_takes_the_simplest_within_one_standard_error():
    found = search(OneStandardError("max_depth"))
    folds = np.array([found.cv_results_[f"split{i}_test_score"] for i in range(5)])
    means = folds.mean(axis=0)
    best = means.argmax()
    bound = means[best] - folds[:, best].std(ddof=1) / np.sqrt(5)
    depths = found.cv_results_["param_max_depth"]
    simplest = min(np.flatnonzero(means >= bound), key=lambda j: depths[j])
    assert found.best_index_ == simplest and found.best_params_ == {"max_depth": depths[simplest]}
    assert found.best_score_ == means[simplest]
    assert found.estimate_.selected == simplest and found.estimate_.uncorrected == pytest.approx(means[simplest])
    assert found.estimate_.provenance["selection"] == "one_standard_error"
    assert found.best_estimator_.get_depth() <= depths[simplest]


def test_a_search_ranks_over_its_scorers():
    scoring = ["accuracy", "roc_auc", "neg_log_loss"]
    found = search(AverageRank(), scoring=scoring, refit="roc_auc")
    ranks = np.sum([found.cv_results_[f"rank_test_{name}"] for name in scoring], axis=0)
    assert ranks[found.best_index_] == ranks.min()
    assert {estimate.selected for estimate in found.estimates_.values()} == {found.best_index_}
    with pytest.raises(InputError, match="which is not scored here; the scorers are"):
        search(AverageRank(["f1"]), scoring=scoring, refit="roc_auc")


def test_a_search_takes_functions_of_scores_and_of_parameters():
    worst = search(lambda scores: np.nanargmin(scores, axis=1))
    assert worst.best_score_ == worst.cv_results_["mean_test_score"].min()
    assert search(Within(1.0, complexity=lambda params: abs(params["max_depth"] - 3))).best_params_ == {
        "max_depth": 3
    }
    with pytest.raises(InputError, match="failed on the scores: ZeroDivisionError"):
        search(lambda scores: 1 / 0)
    with pytest.raises(InputError, match="`complexity='depth'` is not a parameter"):
        search(OneStandardError("depth"))


def test_what_a_search_cannot_refit_is_estimated_from_its_predictions():
    with pytest.raises(InputError, match=r"here one configuration must be chosen.*search\.predictions_"):
        search("greedy_ensemble")
    models = [
        ("near", KNeighborsClassifier(), {"n_neighbors": [1, 5, 15]}),
        ("line", LogisticRegression(max_iter=10_000), {"C": [1e-6, 1e-4]}),
    ]
    found = ho.HeldOutSearchCV(models, scoring=["neg_log_loss", "accuracy"], refit="neg_log_loss", n_bootstraps=40)
    found.fit(X, LABEL)
    for metric, rule in (("log_loss", "greedy_ensemble"), ("accuracy", TopK(2)), ("f1", Threshold())):
        estimate = ho.estimate(LABEL, found.predictions_, metric=metric, selection=rule)
        assert np.isfinite(estimate.value) and estimate.provenance["n_configurations"] == 5


def first_best(scores):
    """The rule "best", spelt out: the first of those that are as good as the best but for rounding."""
    return (scores >= scores.max(axis=1, keepdims=True) - 1e-9).argmax(axis=1)


def test_the_first_wins_a_tie_of_weighted_scores_that_differ_in_their_last_bits():
    y, weights = np.resize([0, 1], 8), np.array([1.0, 2, 3, 2, 3, 3, 2, 3])
    first = np.isin(np.arange(8), [0, 3, 4])  # weights of 6, and so are those of the second
    second = np.isin(np.arange(8), [2, 7])
    settings = {"metric": "accuracy", "sample_weight": weights, "n_bootstraps": 400, "random_state": 0}
    for right in ([first, second], [second, first]):
        labels = np.where(np.stack(right, axis=1), y[:, None], 1 - y[:, None])
        found = ho.estimate(y, labels, **settings)
        assert found.selected == 0
        spelt_out = ho.estimate(y, labels, selection=first_best, **settings)
        np.testing.assert_array_equal(found.distribution, spelt_out.distribution)


def test_the_first_wins_a_tie_of_means_over_classes():
    y = np.repeat(["a", "b", "c", "d"], 10)

    def with_recalls(right):
        hits = (np.arange(10)[None, :] < np.array(right)[:, None]).ravel()
        return np.where(hits, y, np.roll(["a", "b", "c", "d"], -1)[np.repeat(np.arange(4), 10)])

    for recalls in ([(10, 6, 7, 9), (10, 6, 9, 7)], [(10, 6, 9, 7), (10, 6, 7, 9)]):
        table = np.stack([with_recalls(right) for right in recalls], axis=1)
        assert ho.estimate(y, table, metric="balanced_accuracy", n_bootstraps=5, random_state=0).selected == 0


def test_whole_numbers_that_are_predicted_are_averaged_as_any():
    """They are labels in a classification only."""
    rng = np.random.default_rng(0)
    y = rng.normal(size=80) * 10
    whole = np.rint(y[:, None] + rng.normal(size=(80, 5))).astype(int)
    settings = {"metric": "mean_squared_error", "selection": "top_k(k=3)", "random_state": 0, "n_bootstraps": 50}
    assert ho.estimate(y, whole, **settings).value == ho.estimate(y, whole.astype(float), **settings).value
