"""The frame of two-part methods: who chooses, who is scored, what is refused and what is flagged."""

import numpy as np
import pytest

import heldout as ho
from heldout.data.task import truth_of
from heldout.estimates import DeLong, Tilting, Wilson
from heldout.estimates.methods.two_part.template import split, split_at_random
from heldout.selection import CallableRefit


def ranked(n=200, columns=12, seed=0):
    """A binary target and scores that say something of it."""
    rng = np.random.default_rng(seed)
    y = np.resize([0, 1], n)
    return y, rng.normal(y[:, None] * 1.0, 1.0, size=(n, columns))


def area(y, scores):
    above = scores[y == 1][:, None] - scores[y == 0][None, :]
    return np.mean((above > 0) + 0.5 * (above == 0))


def test_split_is_stratified_disjoint_and_of_the_seed():
    truth = truth_of(np.repeat(["a", "b", "c"], [40, 21, 6]))
    parts = split(truth, 0.25, entropy=7)
    assert np.bincount(truth.values[parts.second]).tolist() == [10, 5, 2]  # 5.25 and 1.5, half up
    assert np.array_equal(np.sort(np.concatenate(parts)), np.arange(67))
    assert np.array_equal(split(truth, 0.25, entropy=7).second, parts.second)
    assert not np.array_equal(split(truth, 0.25, entropy=8).second, parts.second)
    assert len(split(truth, 1.0, entropy=7).first) == 0


def test_a_split_of_all_rows_leaves_each_class_in_both_parts_and_each_fold_in_the_first():
    y = np.repeat([0, 1], [37, 3])
    folds = np.arange(40) // 4
    rows = [np.flatnonzero(folds == k) for k in range(10)]
    counts = set()
    for entropy in range(40):
        first, second = split_at_random(truth_of(y), 0.25, entropy, rows)
        assert len(second) == 10 and np.union1d(first, second).size == 40
        assert 1 <= np.count_nonzero(y[second]) <= 2
        assert set(folds[first]) == set(range(10))
        counts.add(np.count_nonzero(y[second]))
    assert counts == {1, 2}  # of all rows, not of each class

    assert split_at_random(truth_of(y), 1.0, 0, rows).second.size == 40
    # Each of the folds of one row must stay in the first part, and the second takes a quarter.
    assert split_at_random(truth_of(y), 0.25, 0, [np.array([row]) for row in range(40)]) is None


def test_a_split_may_ignore_classes_and_has_no_value_where_no_draw_is_possible():
    y, scores = ranked()
    folds = np.arange(200) // 20
    method = DeLong(within_classes=False)
    _, second = split_at_random(truth_of(y), 0.25, 3, [np.flatnonzero(folds == k) for k in range(10)])
    found = ho.estimate(y, scores, metric="roc_auc", method=method, folds=folds, random_state=3)
    assert found.value == pytest.approx(area(y[second], scores[second, found.selected]), abs=1e-12)
    assert found.provenance["stratified"] is False
    with pytest.warns(
        ho.HeldoutWarning, match="no draw of 20 rows left each class in both parts, and in each fold"
    ):
        none = ho.estimate(
            y[:20], scores[:20], metric="accuracy", method=Tilting(within_classes=False), folds=np.arange(20),
            alternative="greater", response="decision",
        )  # fmt: skip
    assert np.isnan(none.value)


def test_the_first_part_chooses_pooled_where_folds_are_unknown():
    y, scores = ranked()
    first, second = split(truth_of(y), 0.25, entropy=3)
    found = ho.estimate(y, scores, metric="roc_auc", method="delong", random_state=3)
    best = int(np.argmax([area(y[first], column[first]) for column in scores.T]))
    assert found.selected == best
    assert found.value == pytest.approx(area(y[second], scores[second, best]), abs=1e-12)
    assert found.uncorrected == pytest.approx(area(y, scores[:, best]), abs=1e-12)
    assert found.optimism == found.uncorrected - found.value
    assert found.provenance["n_rows_choosing"] == 150 and found.provenance["n_rows_evaluated"] == 50


def test_the_first_part_chooses_by_fold_means_where_folds_are_known():
    y, scores = ranked(seed=11)
    scores += np.repeat(np.arange(5), 40)[:, None] * np.linspace(0, 4, 12)  # comparable within folds only
    folds = np.repeat(np.arange(5), 40)
    first, second = split(truth_of(y), 0.25, entropy=3)

    def by_folds(column):
        return np.mean([area(y[rows], column[rows]) for k in range(5) if len(rows := first[folds[first] == k])])

    found = ho.estimate(y, scores, metric="roc_auc", method="delong", folds=folds, random_state=3)
    best = int(np.argmax([by_folds(column) for column in scores.T]))
    assert found.selected == best != int(np.argmax([area(y[first], column[first]) for column in scores.T]))
    assert found.value == pytest.approx(area(y[second], scores[second, best]), abs=1e-12)  # pooled


def test_a_share_sends_the_best_and_their_ties_and_the_second_part_chooses():
    y, scores = ranked(columns=20)
    scores[:, 15] = scores[:, 4]
    first, second = split(truth_of(y), 0.25, entropy=1)
    on_first = np.array([area(y[first], column[first]) for column in scores.T])
    order = np.argsort(-on_first, kind="stable")
    place = int(np.flatnonzero(order == 4)[0])  # of the twins 4 and 15, the first
    found = ho.estimate(y, scores, metric="roc_auc", method=DeLong(candidates=(place + 1) / 20), random_state=1)
    finalists = np.sort(order[: place + 2])  # both twins
    assert found.provenance["n_finalists"] == place + 2
    on_second = [area(y[second], scores[second, j]) for j in finalists]
    assert found.selected == finalists[int(np.argmax(on_second))]
    assert found.value == pytest.approx(max(on_second), abs=1e-12)
    assert f"best score among {place + 2} finalists" in found.flags["best_of_finalists"]


@pytest.mark.parametrize(("share", "finalists"), [(0.1, 3), (0.01, 1), (0.7, 21)])
def test_a_share_of_candidates_is_rounded_up(share, finalists):
    y, scores = ranked(columns=30)
    found = ho.estimate(y, scores, metric="roc_auc", method=DeLong(candidates=share), random_state=0)
    assert found.provenance["n_finalists"] == finalists


def test_several_finalists_are_paid_for_by_sidak():
    y, scores = ranked(columns=30)
    paid = ho.estimate(y, scores, metric="roc_auc", method=DeLong(candidates=0.1), random_state=0)
    level = 0.95 ** (1 / 3)
    assert paid.provenance["level_for_each"] == pytest.approx(level, abs=1e-12)
    second = split(truth_of(y), 0.25, entropy=0).second
    alone = ho.estimate(
        y[second], scores[second][:, [paid.selected]], metric="roc_auc", method=DeLong(evaluation_share=1.0),
        confidence_level=level,
    )  # fmt: skip
    assert list(paid.interval) == pytest.approx(list(alone.interval), abs=1e-12)
    assert paid.interval.confidence_level == 0.95


@pytest.mark.parametrize("named", [3, "configuration 3", np.int64(3)], ids=["index", "name", "numpy index"])
def test_a_configuration_named_beforehand_is_bounded_on_all_rows(named):
    y, scores = ranked()
    method = DeLong(evaluation_share=1.0, configuration=named)
    found = ho.estimate(y, scores, metric="roc_auc", method=method)
    assert found.selected == 3 and found.value == found.uncorrected == pytest.approx(area(y, scores[:, 3]))
    alone = ho.estimate(y, scores[:, [3]], metric="roc_auc", method=DeLong(evaluation_share=1.0))
    assert list(found.interval) == list(alone.interval)
    assert "named beforehand" in found.flags["other_configuration"]
    assert "named beforehand" in found.provenance["quantity"]


def test_where_nothing_was_chosen_nothing_is_called_optimism():
    """The area over all rows is bounded; the mean of the folds' areas, by which others are chosen, is another."""
    y, scores = ranked()
    folds = np.random.default_rng(0).integers(0, 4, len(y))
    scores += folds[:, None]  # the folds are on no common scale
    method = DeLong(evaluation_share=1.0, configuration=3)
    found = ho.estimate(y, scores, metric="roc_auc", method=method, folds=folds)
    by_fold = [area(y[folds == k], scores[folds == k, 3]) for k in range(4)]
    assert abs(np.mean(by_fold) - area(y, scores[:, 3])) > 0.05
    assert ">corrected<" not in found._repr_html_()
    assert found.value == found.uncorrected == pytest.approx(area(y, scores[:, 3])) and found.optimism == 0


def test_a_failed_configuration_cannot_be_named_and_is_no_finalist():
    y, scores = ranked(columns=4)
    scores[:, 1] = np.nan
    with pytest.warns(ho.HeldoutWarning, match="failed"):
        found = ho.estimate(y, scores, metric="roc_auc", method=DeLong(candidates=1.0), random_state=0)
    assert found.provenance["n_finalists"] == 3 and found.selected != 1
    with pytest.raises(ho.InputError, match="`configuration=1` is none of the 3 candidates"):
        ho.estimate(
            y, scores, metric="roc_auc", method=DeLong(evaluation_share=1.0, configuration=1), random_state=0
        )


REFUSED = {
    "metric": ({"metric": "f1", "method": "wilson"}, r"it bounds accuracy \(or zero_one_loss\), and this is f1"),
    "not an area": ({"metric": "accuracy", "method": "delong"}, "it bounds roc_auc of two classes"),
    "two-sided tilting": ({"method": "tilting"}, r"`alternative='greater'` \(got 'two-sided'\)"),
    "less by mabt": ({"method": "mabt", "alternative": "less"}, r"`alternative='greater'` \(got 'less'\)"),
    "groups": ({"method": "delong", "groups": np.arange(200) // 4}, "come in groups"),
    "weights": ({"method": "delong", "sample_weight": np.arange(200) + 1}, "does not allow sample_weight"),
    "all rows, nobody named": ({"method": DeLong(evaluation_share=1.0)}, "choose among 12 configurations"),
    "stranger": (
        {"method": DeLong(evaluation_share=1.0, configuration="svm")},
        "'svm'` is none of the 12 candidates",
    ),
    "a rule that is no score": (
        {"method": DeLong(candidates=0.1), "selection": CallableRefit(lambda results: 0)},
        "use `candidates='best'`",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_with_the_methods_that_fit(case):
    asked, reason = REFUSED[case]
    y, scores = ranked()
    if asked.get("metric") in ("f1", "accuracy"):
        scores = (scores > 0.5).astype(int)
    with pytest.raises(ho.InputError, match=rf"does not fit: .*{reason}.*; methods that do: .*bbc"):
        ho.estimate(y, scores, **{"metric": "roc_auc", "random_state": 0, **asked})


@pytest.mark.parametrize("method", ["wilson", "clopper_pearson"])
def test_counts_refuse_repeats(method):
    y, scores = ranked(columns=3)
    twice = (np.stack([scores, scores[:, ::-1]], axis=2) > 0.5).astype(int)
    with pytest.raises(ho.InputError, match="each has 2 predictions"):
        ho.estimate(y, twice, metric="accuracy", method=method)


def test_rows_that_lack_a_repeat_are_refused():
    y, scores = ranked(columns=3)
    twice = np.stack([scores, scores], axis=2)
    twice[:9, :, 1] = np.nan
    with pytest.raises(ho.InputError, match="every row predicted in every repeat"):
        ho.estimate(y, twice, metric="roc_auc", method="delong")


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"candidates": "all"}, "candidates must be a number above 0 and at most 1, got 'all'; .*'best'"),
        ({"candidates": 0.0}, "candidates must be"),
        ({"candidates": True}, "candidates must be"),
        ({"within_classes": "yes"}, "within_classes must be True or False, got 'yes'"),
        ({"evaluation_share": 1.5}, "evaluation_share must be a number above 0 and at most 1, got 1.5"),
        ({"configuration": 2}, r"use `evaluation_share=1.0` with it \(got 0.25\)"),
        ({"configuration": 2.5, "evaluation_share": 1.0}, "a name or an index, got 2.5"),
    ],
    ids=["word", "nothing", "boolean", "how it is drawn", "beyond", "named for nothing", "fraction"],
)
def test_settings_of_no_meaning_are_refused(settings, reason):
    with pytest.raises(ho.InputError, match=reason):
        DeLong(**settings)


@pytest.mark.parametrize(("method", "metric"), [(Tilting, "roc_auc"), (Wilson, "accuracy")])
def test_one_configuration_has_a_flag_on_unused_rows(method, metric):
    y, scores = ranked(columns=1)
    predictions = scores if metric == "roc_auc" else (scores > 0.5).astype(int)
    asked = {"metric": metric, "alternative": "greater", "n_bootstraps": 200, "random_state": 0}
    found = ho.estimate(y, predictions, method=method(), **asked)
    assert found.flags["unused_rows"].endswith("`evaluation_share=1.0` uses all rows.")
    whole = ho.estimate(y, predictions, method=method(evaluation_share=1.0), **asked)
    assert "unused_rows" not in whole.flags
    assert whole.value - whole.interval.low < found.value - found.interval.low


def test_a_class_of_one_row_in_the_second_part_has_no_bound():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [36, 4])  # one of the four in the second part
    with pytest.warns(ho.HeldoutWarning, match="1 row of class 1"):
        found = ho.estimate(y, rng.normal(size=(40, 3)), metric="roc_auc", method="delong", random_state=0)
    assert np.isnan(list(found.interval)).all() and np.isfinite(found.value)
    assert found.to_dict()["interval"]["low"] is None


def test_too_few_rows_for_the_second_part():
    with pytest.warns(ho.HeldoutWarning, match="2 rows are too few to set 25% aside"):
        found = ho.estimate([0, 1], [[0.1], [0.3]], metric="roc_auc", method="delong")
    assert np.isnan(found.value)


def test_a_rule_that_fails_on_the_first_part_leaves_no_estimate():
    y, scores = ranked()

    def refit(results):
        if not np.isclose(np.max(results["mean_test_roc_auc"]), whole):
            raise ValueError("only the whole will do")
        return 0

    whole = max(area(y, column) for column in scores.T)
    with pytest.warns(ho.HeldoutWarning, match="only the whole will do"):
        found = ho.estimate(
            y, scores, metric="roc_auc", method="delong", selection=CallableRefit(refit), random_state=0
        )
    assert np.isnan(found.value) and "selection_not_replayable" in found.flags


def test_the_zero_one_loss_is_the_mirror_of_accuracy():
    y, scores = ranked(columns=10)
    labels = (scores > 0.5).astype(int)
    asked = {"method": "wilson", "random_state": 0}
    accuracy = ho.estimate(y, labels, metric="accuracy", **asked)
    loss = ho.estimate(y, labels, metric="zero_one_loss", **asked)
    negative = ho.estimate(y, labels, metric="neg_zero_one_loss", **asked)
    assert loss.selected == negative.selected == accuracy.selected
    assert loss.value == pytest.approx(1 - accuracy.value) and negative.value == pytest.approx(-loss.value)
    low, high = accuracy.interval
    assert list(loss.interval) == pytest.approx([1 - high, 1 - low])
    assert list(negative.interval) == pytest.approx([low - 1, high - 1])
    bound = ho.estimate(y, labels, metric="zero_one_loss", alternative="greater", **asked).interval
    assert bound.low == 0 and bound.high < loss.interval.high
    best = ho.estimate(y, labels, metric="accuracy_score", alternative="less", **asked).interval
    assert best.low == 0 and best.high < high


def test_a_scorer_turned_round_is_refused():
    from sklearn.metrics import make_scorer, roc_auc_score

    y, scores = ranked()
    scorer = make_scorer(roc_auc_score, greater_is_better=False, response_method="decision_function")
    with pytest.raises(ho.InputError, match="this is neg_roc_auc"):
        ho.estimate(y, scores, metric=scorer, method="delong")


def test_what_was_noted_of_bags_is_left_out():
    y, scores = ranked(n=80)
    folds = np.arange(80) // 2 % 10
    asked = {"metric": "roc_auc", "folds": folds, "aggregate": "folds", "random_state": 0}
    assert (
        ho.estimate(y, scores, method="bbc", n_bootstraps=20, **asked).provenance["aggregate_out_of_bag"]
        == "within"
    )
    assert "aggregate_out_of_bag" not in ho.estimate(y, scores, method="delong", **asked).provenance


def test_pairs_within_folds_are_refused_where_all_rows_are_scored_together():
    y, scores = ranked(n=80)
    asked = {"folds": np.arange(80) // 2 % 10, "aggregate": "within", "random_state": 0}
    with pytest.raises(ho.InputError, match="it bounds the score of all rows of the second part together"):
        ho.estimate(y, scores, metric="roc_auc", method="delong", **asked)
    labels = (scores > 0).astype(int)  # a mean over rows is the same within folds
    assert ho.estimate(y, labels, metric="accuracy", method="wilson", **asked).interval is not None


@pytest.mark.parametrize("name", ["tilting", "mabt"])
def test_the_same_for_any_number_of_threads(name):
    y, scores = ranked(n=300, columns=20)
    asked = {"metric": "roc_auc", "method": name, "alternative": "greater", "n_bootstraps": 700, "random_state": 5}
    one = ho.estimate(y, scores, n_jobs=1, **asked)
    three = ho.estimate(y, scores, n_jobs=3, **asked)
    assert one.to_dict() == three.to_dict()


def searched(**asked):
    from sklearn.datasets import make_classification
    from sklearn.neighbors import KNeighborsClassifier

    X, y = make_classification(200, 8, flip_y=0.1, random_state=3)
    grid = {"n_neighbors": [1, 5, 9, 15, 25, 35]}
    return ho.HeldOutSearchCV(KNeighborsClassifier(), grid, random_state=0, **asked).fit(X, y)


def test_a_search_is_bounded_by_its_own_predictions():
    search = searched(method="delong", scoring="roc_auc")
    found, means = search.estimate_, search.cv_results_["mean_test_score"]
    assert found.provenance["n_rows_choosing"] == 150 and found.interval.low < found.value < found.interval.high
    assert found.uncorrected == pytest.approx(means[found.selected], abs=1e-12)  # its own aggregate, on all rows
    assert ("other_configuration" in found.flags) == (found.selected != search.best_index_)


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ({"method": "tilting", "scoring": "roc_auc"}, "it needs `alternative='greater'`, got 'two-sided'"),
        ({"method": "delong", "scoring": "f1"}, "it bounds roc_auc of two classes, and this is f1"),
        ({"method": "hoeffding", "scoring": "neg_log_loss"}, "ranges from -inf to -?0"),
    ],
    ids=["two-sided", "metric", "unbounded"],
)
def test_a_search_refuses_before_it_fits(asked, reason, monkeypatch):
    from sklearn.neighbors import KNeighborsClassifier

    def fit(self, X, y):
        raise AssertionError("nothing may be fitted")

    monkeypatch.setattr(KNeighborsClassifier, "fit", fit)
    with pytest.raises(ho.InputError, match=reason):
        searched(**asked)
