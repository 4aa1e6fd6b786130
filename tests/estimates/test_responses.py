"""Which response predictions are: read where there is one way, asked back where there are two."""

import numpy as np
import pandas as pd
import pytest

import heldout as ho
from heldout.errors import InputError

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, 100)
P = np.clip(0.25 * Y[:, None] + 0.75 * RNG.random((100, 3)), 0, 1)
ALMOST = np.where(P == P.max(), 1.0000001, P)
HARD = np.where(RNG.random((100, 2)) < 0.9, Y[:, None], 1 - Y[:, None])
DECISIONS = RNG.normal(size=(100, 2)) + 2 * Y[:, None] - 1
TEXT = np.array(["no", "yes"])


def value(y, predictions, metric="accuracy", **settings):
    return ho.estimate(y, predictions, metric=metric, method="cv", **settings).value


def best(labels, y=Y):
    return (labels == y[:, None]).mean(axis=0).max()


# What is unambiguous


@pytest.mark.parametrize(
    "y, labels",
    [
        (Y, HARD),
        (Y, HARD.astype(float)),
        (Y, HARD.astype(bool)),
        (Y == 1, HARD),
        (Y + 1, HARD + 1.0),
        (2 * Y - 1, 2 * HARD - 1.0),
        (TEXT[Y], TEXT[HARD]),
        (TEXT[Y], TEXT[HARD].astype(object)),
        (Y, HARD.astype(object)),
        (pd.Series(Y, dtype="Int64"), pd.DataFrame(HARD).astype("Int64")),
        (pd.Series(Y == 1, dtype="boolean"), pd.DataFrame(HARD == 1).astype("boolean")),
        (pd.Series(TEXT[Y], dtype="category"), pd.DataFrame(TEXT[HARD])),
        (Y + 0.5, HARD + 0.5),
    ],
    ids=str,
)
def test_labels_are_labels_for_a_metric_on_labels(y, labels):
    classes = [0.5, 1.5] if np.asarray(y).dtype == float else None
    assert value(y, labels, classes=classes) == best(HARD)


@pytest.mark.filterwarnings("ignore::heldout.errors.HeldoutWarning")
def test_probabilities_and_decisions_are_distinguished_by_their_range():
    assert value(Y, P) == best(P > 0.5)
    assert value(Y, DECISIONS) == best(DECISIONS > 0)
    assert value(Y, np.column_stack([DECISIONS, np.full(100, np.nan)])) == best(DECISIONS > 0)


@pytest.mark.parametrize("predictions", [ALMOST, 100 * P, HARD, HARD + 1, DECISIONS])
def test_ranks_need_no_unit(predictions):
    from sklearn.metrics import roc_auc_score

    expected = max(roc_auc_score(Y, column) for column in predictions.T)
    assert value(Y, predictions, "roc_auc") == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    "predictions, threshold, expected",
    [
        (ALMOST, 0.5, best(P > 0.5)),
        (100 * P, 50, best(P > 0.5)),
        (HARD + 1.0, 1.5, best(HARD)),
        (HARD.astype(float), 0.3, best(HARD)),
        (np.column_stack([DECISIONS[:, 0], P[:, 0]]), 0.5, best(np.column_stack([DECISIONS[:, 0], P[:, 0]]) > 0.5)),
    ],
)
def test_a_threshold_that_is_passed_needs_no_response(predictions, threshold, expected):
    assert value(Y, predictions, threshold=threshold) == expected


def test_an_ambiguous_response_can_be_passed():
    assert value(Y, 100 * P, response="decision") == best(P > 0)
    assert value(Y, HARD.astype(float), pos_label=0, response="labels") == best(HARD)
    assert value(Y, HARD.astype(float), pos_label=0, response="probabilities") == best(1 - HARD)
    assert value(Y, np.clip(ALMOST, 0, 1)) == best(P > 0.5)


# What is asked back


@pytest.mark.parametrize(
    "predictions, said",
    [
        (ALMOST, r"1\.0000001, beyond \[0, 1\].*np\.clip.*`response=`"),
        (100 * P, "every row one label; if they are percentages, divide them by 100.*response='decision'"),
        (HARD + 1.0, "from 1 to 2, .*if labels, pass those of y_true.*response='decision'"),
        (np.log(np.clip(P, 0.01, 0.99)), "every row one label.*response='decision'"),
        (np.column_stack([DECISIONS[:, 0], np.exp(DECISIONS[:, 1]) + 1]), "configuration 1 holds .*`response="),
    ],
    ids=["a rounding error above 1", "percent", "labels of another coding", "log probabilities", "one of two"],
)
def test_numbers_on_one_side_of_zero_are_not_cut_there(predictions, said):
    with pytest.raises(InputError, match=said):
        value(Y, predictions)


@pytest.mark.parametrize("metric", ["roc_auc", "brier_score", "log_loss", "average_precision"])
@pytest.mark.parametrize("shift", [0, 1])
def test_hard_labels_are_not_read_as_scores_of_the_other_class(metric, shift):
    with pytest.raises(InputError, match=f"pass `response='{'decision' if shift else 'probabilities'}'` if"):
        value(Y + shift, HARD + shift, metric, pos_label=shift)


def test_the_order_of_classes_may_make_the_first_class_positive():
    with pytest.raises(InputError, match=r"scores of `pos_label=0`.*`response="):
        value(Y, HARD, "roc_auc", classes=[1, 0])


@pytest.mark.parametrize(
    "y, predictions",
    [
        (Y, HARD.astype(float)),
        (Y, np.where(np.arange(100)[:, None] < 3, np.nan, HARD)),
        (2 * Y - 1, 2 * HARD - 1.0),
    ],
    ids=["0 and 1", "0, 1 and NaN", "-1 and 1"],
)
def test_floats_that_could_be_labels_or_scores_of_the_first_class_are_refused(y, predictions):
    with pytest.raises(InputError, match=r"`response=.* or 'labels' if they are the classes themselves"):
        value(y, predictions, pos_label=y.min())


@pytest.mark.parametrize("metric", ["log_loss", "brier_score"])
def test_a_rounding_error_is_named_where_probabilities_are_needed(metric):
    for response in ("auto", "probabilities"):
        with pytest.raises(InputError, match=r"1\.0000001.*np\.clip"):
            value(Y, ALMOST, metric, response=response)
    cube = np.stack([1 - ALMOST, ALMOST], axis=-1)[:, :, None]
    with pytest.raises(InputError, match=r"np\.clip"):
        value(Y, cube, metric)


def test_the_greatest_of_several_classes_needs_no_unit():
    y = RNG.integers(0, 3, 100)
    cube = np.eye(3)[y][:, None, None] * 1.0000001
    assert value(y, cube) == 1.0


@pytest.mark.parametrize("metric", ["roc_auc", "log_loss"])
def test_text_is_no_score(metric):
    with pytest.raises(InputError, match="but the predictions are labels; pass those, or use a metric of labels"):
        value(Y, TEXT[HARD], metric)


# Settings that do nothing


@pytest.mark.parametrize(
    "y, predictions, metric, settings, said",
    [
        (
            Y,
            P,
            "roc_auc",
            {"threshold": 0.9},
            "`threshold=0.9` cuts scores into labels, but roc_auc reads the scores",
        ),
        (Y, P, "accuracy", {"threshold": np.nan}, "threshold must be a finite number, got nan"),
        (Y, P, "accuracy", {"threshold": np.inf}, "threshold must be a finite number, got inf"),
        (Y, P, "accuracy", {"threshold": "a"}, "threshold must be a finite number, got 'a'"),
        (Y, P, "accuracy", {"threshold": True}, "threshold must be a finite number, got True"),
        (Y, P, "accuracy", {"threshold": 5}, r"threshold must lie in \[0, 1\] for probabilities, got 5"),
        (Y, HARD, "accuracy", {"threshold": 0.5}, "predictions are labels; leave it out"),
        (Y, P, "mean_squared_error", {"threshold": 0.5}, "`threshold=0.5` is for classifications"),
        (
            Y,
            P,
            "mean_squared_error",
            {"response": "probabilities"},
            "`response='probabilities'` is for classifications",
        ),
        (Y, P, "mean_squared_error", {"pos_label": 1}, "`pos_label=1` is for labels"),
        (Y, P, "mean_squared_error", {"classes": [0, 1]}, r"`classes=\[0, 1\]` is for labels"),
        (np.arange(100) % 3, HARD, "accuracy", {"pos_label": 7}, "`pos_label=7` is for 2 classes, but there are 3"),
        (Y, P, "accuracy", {"response": "scores"}, "response must be one of auto, labels"),
        (Y, P, "accuracy", {"response": ["labels"]}, "response must be one of auto, labels"),
    ],
)
def test_a_setting_that_would_do_nothing_is_refused(y, predictions, metric, settings, said):
    with pytest.raises(InputError, match=said):
        value(y, predictions, metric, **settings)
