"""ho.estimate as a user meets it: shapes, labels, responses, what is refused, what is flagged."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics as sk

import heldout as ho
from heldout.errors import HeldoutWarning, InputError
from heldout.estimates.inputs import read_inputs

RNG = np.random.default_rng(5)
Y = RNG.permutation(np.repeat([0, 1], [60, 40]))
SCORES = RNG.normal(size=(100, 4)) + Y[:, None]
PROBABILITIES = 1 / (1 + np.exp(-SCORES))
FAST = {"n_bootstraps": 60, "random_state": 1}


def same(a, b):
    return a.value == b.value and np.array_equal(a.distribution, b.distribution) and a.interval == b.interval


@pytest.mark.parametrize(
    "labels", [np.array(["no", "yes"]), np.array([1, 2]), np.array([False, True]), np.array([-1, 1])]
)
@pytest.mark.parametrize("metric", ["accuracy", "log_loss"])
def test_labels_of_any_type_give_the_same_numbers(labels, metric):
    expected = ho.estimate(Y, PROBABILITIES, metric=metric, **FAST)
    found = ho.estimate(labels[Y], PROBABILITIES, metric=metric, **FAST)
    assert same(found, expected)
    assert found.provenance["pos_label"] == labels[1].item()


def test_pos_label_turns_the_scores_round():
    y = np.array(["a", "b"])[Y]
    expected = ho.estimate(Y, PROBABILITIES, metric="f1", **FAST)
    turned = ho.estimate(np.where(Y == 1, "a", "b"), PROBABILITIES, metric="f1", pos_label="a", **FAST)
    assert turned.value == pytest.approx(expected.value)
    with pytest.raises(InputError, match="pos_label must be one of the classes 'a', 'b', got 'c'"):
        ho.estimate(y, PROBABILITIES, metric="f1", pos_label="c")


def test_labels_probabilities_and_decisions_agree_where_they_mean_the_same():
    from_labels = ho.estimate(Y, (SCORES > 0).astype(int), metric="accuracy", **FAST)
    from_probabilities = ho.estimate(Y, PROBABILITIES, metric="accuracy", **FAST)
    from_decisions = ho.estimate(Y, SCORES, metric="accuracy", response="decision", **FAST)
    from_two_columns = ho.estimate(
        Y, np.stack([1 - PROBABILITIES, PROBABILITIES], axis=-1)[:, :, None], metric="accuracy", **FAST
    )
    assert same(from_labels, from_probabilities)
    assert same(from_labels, from_decisions)
    assert same(from_labels, from_two_columns)


def test_probabilities_are_cut_strictly_above_the_threshold():
    column = np.array([[0.5], [0.500001], [0.2], [0.9]])
    y = np.array([0, 1, 0, 1])
    assert ho.estimate(y, column, metric="accuracy", method="cv").value == 1.0
    assert ho.estimate(y, column, metric="accuracy", method="cv", threshold=0.6).value == 0.75


def test_a_table_names_its_configurations():
    frame = pd.DataFrame(PROBABILITIES, columns=list("abcd"))
    found = ho.estimate(pd.Series(Y), frame, metric="roc_auc", **FAST)
    assert found.selected_name == "abcd"[found.selected]


def test_several_classes():
    y = RNG.integers(0, 3, 120)
    cube = RNG.dirichlet([1, 1, 1], size=(120, 5)) + 0.5 * np.eye(3)[y][:, None]
    cube /= cube.sum(axis=-1, keepdims=True)
    found = ho.estimate(y, cube[:, :, None], metric="roc_auc_ovr", method="cv")
    expected = [sk.roc_auc_score(y, cube[:, j], multi_class="ovr") for j in range(5)]
    assert found.value == pytest.approx(max(expected), abs=1e-12)
    from_labels = ho.estimate(
        np.array(["x", "y", "z"])[y], np.array(["x", "y", "z"])[cube.argmax(-1)], metric="f1_macro", **FAST
    )
    from_cube = ho.estimate(y, cube[:, :, None], metric="f1_macro", **FAST)
    assert same(from_labels, from_cube)


def test_the_class_order_of_the_last_axis_can_be_passed():
    y = np.array(["low", "mid", "high"])[RNG.integers(0, 3, 60)]
    classes = ["low", "mid", "high"]
    hot = np.stack([(y == label) for label in classes], axis=-1).astype(float)[:, None, None]
    assert ho.estimate(y, hot, metric="accuracy", method="cv", classes=classes).value == 1.0
    assert ho.estimate(y, hot, metric="accuracy", method="cv").value < 1.0


def test_an_unseeded_estimate_can_be_repeated_from_its_provenance():
    first = ho.estimate(Y, PROBABILITIES, metric="roc_auc", n_bootstraps=50)
    again = ho.estimate(
        Y, PROBABILITIES, metric="roc_auc", n_bootstraps=50, random_state=first.provenance["entropy"]
    )
    assert same(first, again)


def test_a_constant_predictor_never_wins_and_nan_columns_are_no_candidates():
    table = np.column_stack([np.full(100, 0.5), np.full(100, np.nan), PROBABILITIES])
    with pytest.warns(HeldoutWarning, match="configuration 1 \\(it predicted no row\\)"):
        found = ho.estimate(Y, table, metric="roc_auc", **FAST)
    assert found.selected >= 2
    assert found.selection_frequency[1] == 0
    assert "failed_configurations" in found.flags and "configuration 1" in found.flags["failed_configurations"]
    alone = ho.estimate(Y, np.full((100, 1), 0.5), metric="roc_auc", **FAST)
    assert alone.value == 0.5


def test_groups_are_drawn_whole():
    groups = np.repeat(np.arange(25), 4)
    found = ho.estimate(Y, PROBABILITIES, metric="accuracy", groups=groups, **FAST)
    # Four copies of a row as one group are drawn as the row itself.
    y4, p4, g4 = np.repeat(Y, 4), np.repeat(PROBABILITIES, 4, axis=0), np.repeat(np.arange(100), 4)
    copies = ho.estimate(y4, p4, metric="accuracy", groups=g4, **FAST)
    assert same(copies, ho.estimate(Y, PROBABILITIES, metric="accuracy", **FAST))
    assert found.value != copies.value
    few = ho.estimate(Y, PROBABILITIES, metric="accuracy", groups=groups % 5, **FAST)
    assert "few_groups" in few.flags
    with pytest.raises(InputError, match="at least 2 groups"):
        ho.estimate(Y, PROBABILITIES, metric="accuracy", groups=np.zeros(100))
    with pytest.raises(InputError, match="is in several folds"):
        ho.estimate(Y, PROBABILITIES, metric="accuracy", groups=groups, folds=np.arange(100) % 5)


def test_equal_weights_change_nothing_and_others_do():
    plain = ho.estimate(Y, PROBABILITIES, metric="log_loss", **FAST)
    for weight in (1e-300, 2.0, 1e300):
        equal = ho.estimate(Y, PROBABILITIES, metric="log_loss", sample_weight=np.full(100, weight), **FAST)
        assert same(equal, plain)
    weights = RNG.uniform(0.1, 3, 100)
    weighted = ho.estimate(Y, PROBABILITIES, metric="log_loss", sample_weight=weights, method="cv")
    expected = [sk.log_loss(Y, column, sample_weight=weights) for column in PROBABILITIES.T]
    assert weighted.value == pytest.approx(min(expected), abs=1e-12)
    with pytest.raises(InputError, match="sample_weight must have shape"):
        ho.estimate(Y, PROBABILITIES, metric="log_loss", sample_weight=[1, 2])


@pytest.mark.parametrize("metric", ["roc_auc", "log_loss"])
def test_importance_weights_have_no_unit(metric):
    weights = RNG.uniform(0.1, 3, 100)
    expected = ho.estimate(Y, PROBABILITIES, metric=metric, sample_weight=weights, **FAST)
    for unit in (1e-300, 5e307):
        found = ho.estimate(Y, PROBABILITIES, metric=metric, sample_weight=weights * unit, **FAST)
        np.testing.assert_allclose(found.distribution, expected.distribution, rtol=0, atol=1e-12)


def test_tiny_folds_score_left_out_rows_together_and_say_so():
    asked = {"metric": "average_precision", "aggregate": "folds", "method": "bbc", **FAST}
    found = ho.estimate(Y, PROBABILITIES, folds=np.arange(100) % 10, **asked)
    assert "at least 8 rows" in found.flags["out_of_bag_pooled"]
    roomy = ho.estimate(Y, PROBABILITIES, folds=np.arange(100) % 2, **asked)
    assert "out_of_bag_pooled" not in roomy.flags


def test_a_fold_with_one_class_is_left_out_and_counted():
    folds = np.where(Y == 0, np.arange(100) % 3, np.arange(100) % 2)
    found = ho.estimate(Y, PROBABILITIES, metric="roc_auc", folds=folds, aggregate="folds", method="cv")
    expected = [
        np.mean([sk.roc_auc_score(Y[folds == k], column[folds == k]) for k in (0, 1)]) for column in PROBABILITIES.T
    ]
    assert found.value == pytest.approx(max(expected), abs=1e-12)
    assert "1 of 3 folds" in found.flags["undefined_folds"]


def test_an_estimate_is_shown_in_one_line_without_its_bootstraps():
    found = ho.estimate(Y, PROBABILITIES, metric="roc_auc", n_bootstraps=500, random_state=0)
    only = ho.estimate(Y, PROBABILITIES[:, :1], metric="roc_auc", **FAST)

    assert repr(found) == f"Estimate({found})" and len(repr(found)) < 120
    assert repr(only).endswith("; single_configuration)")


def test_to_dict_is_json_safe_and_html_escapes():
    frame = pd.DataFrame(PROBABILITIES, columns=["<b>", "b", "c", "d"])
    found = ho.estimate(Y, frame, metric="mean_squared_error", alternative="less", **FAST)
    text = json.dumps(found.to_dict(), allow_nan=False)
    assert json.loads(text)["interval"]["high"] is None
    assert json.loads(text)["value"] == found.value
    only = ho.estimate(Y, frame[["<b>"]], metric="roc_auc", **FAST)
    assert "&lt;b&gt;" in only._repr_html_() and "<b>" not in only._repr_html_()
    assert only.to_frame().loc[0, "value"] == only.value


REFUSED = {
    "one dimension": (Y, SCORES[:, 0], {"metric": "roc_auc"}, r"reshape\(-1, 1\)"),
    "rows": (Y, SCORES[:50], {"metric": "roc_auc"}, "a row for each of the 100 rows"),
    "empty": (Y, SCORES[:, :0], {"metric": "roc_auc"}, "none of them empty"),
    "all NaN": (Y, np.full((100, 2), np.nan), {"metric": "roc_auc"}, "all 2 configurations failed"),
    "text scores": (Y, np.full((100, 2), "x", dtype=object), {"metric": "log_loss"}, "predictions are labels"),
    "unknown label": (
        np.array(["a", "b"])[Y],
        np.full((100, 2), "c"),
        {"metric": "accuracy"},
        "'c'; its classes are 'a', 'b'",
    ),
    "whole numbers that are no classes": (
        Y,
        np.full((100, 2), 7),
        {"metric": "accuracy"},
        "labels that y_true lacks: 7",
    ),
    "one class": (np.zeros(100), SCORES, {"metric": "roc_auc"}, "at least 2 classes, got 1"),
    "NaN in y": (np.where(Y == 1, np.nan, 0.0), SCORES, {"metric": "roc_auc"}, "40 missing values"),
    "a class with one row": (np.eye(100)[0].astype(int), SCORES, {"metric": "roc_auc"}, "class 1 has 1 row,"),
    "mixed scales": (
        Y,
        np.column_stack([SCORES[:, 0], PROBABILITIES[:, 1]]),
        {"metric": "accuracy"},
        "say `response=",
    ),
    "probabilities out of range": (
        Y,
        SCORES,
        {"metric": "log_loss", "response": "probabilities"},
        r"lie in \[0, 1\]",
    ),
    "probabilities as repeats": (
        Y,
        np.stack([1 - PROBABILITIES, PROBABILITIES], -1),
        {"metric": "roc_auc"},
        "rows, configurations, repeats, classes",
    ),
    "unknown metric": (Y, SCORES, {"metric": "roc_ac"}, "roc_auc"),
    "unknown method": (Y, SCORES, {"metric": "roc_auc", "method": "magic"}, "method must be one of cv, tt, bbc"),
    "tt without folds": (Y, SCORES, {"metric": "roc_auc", "method": "tt"}, "give `folds=`"),
    "folds without folds": (Y, SCORES, {"metric": "roc_auc", "aggregate": "folds"}, "needs `folds=`"),
    "folds of the wrong length": (Y, SCORES, {"metric": "roc_auc", "folds": [1, 2]}, "folds must have shape"),
    "adaptive": (Y, SCORES, {"metric": "roc_auc", "adaptive": "yes"}, "adaptive must be True or False, got 'yes'"),
    "seed": (Y, SCORES, {"metric": "roc_auc", "random_state": -1}, "random_state must be from 0"),
    "text as numbers": (SCORES[:, 0], SCORES.astype(str), {"metric": "r2"}, "must be numbers, got values like '"),
    "complex values": (SCORES[:, 0], SCORES + 1j, {"metric": "r2"}, "predictions must be real numbers or labels"),
    "complex target": (SCORES[:, 0] + 1j, SCORES, {"metric": "r2"}, "the target must be real numbers or labels"),
    "dates": (
        SCORES[:, 0],
        SCORES.astype(int).astype("M8[D]"),
        {"metric": "r2"},
        "predictions must be .* got dates",
    ),
    "an object among numbers": (
        Y,
        np.where(np.eye(100, 4) > 0, object(), PROBABILITIES.astype(object)),
        {"metric": "roc_auc", "response": "probabilities"},
        "predictions must be numbers, got values like <object",
    ),
    "columns of two types": (
        np.array(["n", "y"])[Y],
        pd.DataFrame({"a": PROBABILITIES[:, 0], "b": np.array(["n", "y"])[Y]}),
        {"metric": "accuracy"},
        "predictions hold text in 'b' and numbers in other columns",
    ),
    "rows of different lengths": (Y, [[1, 2], [1]] * 50, {"metric": "accuracy"}, "rows of different lengths"),
    "fractions for a metric of labels": (
        SCORES[:, 0],
        SCORES,
        {"metric": "accuracy"},
        "'accuracy' is for labels, but y_true holds numbers with fractions .*metrics that fit: .*r2",
    ),
    "mixed folds": (Y, SCORES, {"metric": "roc_auc", "folds": ["a", 1] * 50}, "folds must be of one type"),
    "one number as folds": (Y, SCORES, {"metric": "roc_auc", "folds": 5}, r"folds must have shape \(100,\)"),
    "text as weights": (
        Y,
        SCORES,
        {"metric": "roc_auc", "sample_weight": ["a"] * 100},
        "must be numbers, got .*'a'",
    ),
    "no threads": (Y, SCORES, {"metric": "roc_auc", "n_jobs": 0}, "n_jobs must be .*, got 0"),
    "text as classes": (Y, SCORES, {"metric": "roc_auc", "classes": "ab"}, "classes must be a list of labels"),
    "a constant target": (np.ones(100), SCORES, {"metric": "r2"}, "but the target is constant"),
}


@pytest.mark.parametrize("case", list(REFUSED))
def test_what_cannot_be_used_is_refused_in_a_sentence(case):
    y, predictions, arguments, said = REFUSED[case]
    with pytest.raises(InputError, match=said):
        ho.estimate(y, predictions, **arguments)


def test_r2_counts_the_wrong_sign_as_wrong():
    y = RNG.normal(size=80)
    found = ho.estimate(y, np.column_stack([-y, 0.3 * y]), metric="r2", **FAST)
    assert found.selected == 1


@pytest.mark.parametrize("method", ["bbc", "shrinkage"])
def test_a_custom_metric_that_fails_now_and_then_is_counted_and_quoted(method):
    def mean_of_a_few(y_true, y_pred):
        if np.mean(y_true) > 0.45:
            raise ZeroDivisionError("too many ones")
        return float(np.mean(y_pred))

    metric = ho.metrics.custom(mean_of_a_few, greater_is_better=True, response="decision")
    found = ho.estimate(Y, SCORES, metric=metric, method=method, **FAST)
    assert np.isnan(found.distribution).any() and np.isfinite(found.value)
    assert "too many ones" in found.flags["undefined_bootstraps"]
    assert found.value == pytest.approx(np.nanmean(found.distribution))


@pytest.mark.filterwarnings("ignore::heldout.errors.HeldoutWarning")
def test_a_loss_beyond_float64_is_no_estimate_and_flagged():
    y = RNG.normal(size=40)
    for method in ("cv", "bbc", "shrinkage"):
        found = ho.estimate(y, np.full((40, 2), 1e200), metric="mean_squared_error", method=method, **FAST)
        assert np.isnan(found.value)
        assert {"undefined", "undefined_bootstraps"} & set(found.flags)


@pytest.mark.parametrize("method", ["bbc", "shrinkage"])
def test_warnings_of_a_metric_in_bootstraps_are_silenced(method):
    def warns(y_true, y_pred):
        warnings.warn("again", UserWarning, stacklevel=1)
        return float(np.mean(y_true == (y_pred > 0)))

    metric = ho.metrics.custom(warns, greater_is_better=True, response="decision")
    before = list(warnings.filters)
    found = ho.estimate(Y, SCORES, metric=metric, method=method, n_jobs=2, n_bootstraps=600, random_state=0)
    assert np.isfinite(found.value)
    assert list(warnings.filters) == before


def test_an_adaptive_search_is_flagged_with_what_is_known_of_its_size_and_changes_no_number():
    plain = ho.estimate(Y, SCORES, metric="roc_auc", **FAST)
    flagged = ho.estimate(Y, SCORES, metric="roc_auc", adaptive=True, **FAST)
    assert same(plain, flagged)
    assert flagged.flags.keys() - plain.flags.keys() == {ho.Flag.ADAPTIVE_SEARCH}
    sentence = flagged.flags[ho.Flag.ADAPTIVE_SEARCH]
    assert "among 4 configurations" in sentence
    for known in ("60 rows of pure noise", "200 trials", "0.683 uncorrected", "0.604 by bbc", "0.526"):
        assert known in sentence
    many = ho.estimate(np.tile(Y, 4), np.tile(SCORES, (4, 1)), metric="roc_auc", adaptive=True, **FAST)
    assert "60 rows" not in many.flags[ho.Flag.ADAPTIVE_SEARCH]  # which says nothing of 400 rows


def test_predictions_of_an_adaptive_search_say_so_themselves_whichever_method_reads_them():
    folds = np.arange(100) % 5
    held = read_inputs(Y, SCORES, metric="roc_auc", folds=folds, adaptive=True).predictions
    compared = ho.compare_estimates(Y, held, metric="roc_auc", methods=["cv", "bbc", "tt", "bbc_f"], **FAST)
    assert not compared.refused
    assert all(ho.Flag.ADAPTIVE_SEARCH in found.flags for found in compared.values())
    assert ho.Flag.ADAPTIVE_SEARCH in ho.compare_configurations(Y, held, metric="roc_auc", **FAST).flags
    one = ho.estimate(Y, SCORES[:, :1], metric="roc_auc", adaptive=True, **FAST)
    assert "among 1 configuration," in one.flags[ho.Flag.ADAPTIVE_SEARCH]


def test_too_few_bootstraps_for_the_level_are_flagged():
    assert "few_bootstraps" not in ho.estimate(Y, SCORES, metric="roc_auc", n_bootstraps=40, random_state=0).flags
    assert "few_bootstraps" in ho.estimate(Y, SCORES, metric="roc_auc", n_bootstraps=39, random_state=0).flags
    one_sided = ho.estimate(Y, SCORES, metric="roc_auc", n_bootstraps=20, alternative="greater", random_state=0)
    assert "few_bootstraps" not in one_sided.flags


def test_methods_that_are_suggested_accept_the_rows():
    y = np.repeat([0, 1], [39, 1])
    scores = np.random.default_rng(0).normal(size=(40, 3))
    with pytest.raises(InputError, match=r"class 1 has 1 row, .*; methods that do: cv, delong, hanley_mcneil\.$"):
        ho.estimate(y, scores, metric="roc_auc", method="bbc", **FAST)
    with pytest.raises(InputError, match=r"this is roc_auc; methods that do: cv, delong, hanley_mcneil\.$"):
        ho.estimate(y, scores, metric="roc_auc", method="wilson", **FAST)
