"""Training, tuning and estimation rows: a hold-out inside a hold-out, against plain code and closed formulas."""

import math

import numpy as np
import pytest
from scipy.stats import beta, norm
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.neighbors import KNeighborsClassifier

import heldout as ho
from heldout.protocols import NestedEstimate

X, Y = load_breast_cancer(return_X_y=True)
ROWS = np.random.default_rng(0).permutation(len(Y))[:200]
X, Y = X[ROWS], Y[ROWS]
NEIGHBOURS = [1, 5, 15, 41]


def double(scoring: str = "accuracy", **settings: object) -> NestedEstimate:
    settings = {"cv": ho.protocols.hold_out(0.3), "inner": "holdout", "random_state": 4} | settings
    return ho.nested_cv(KNeighborsClassifier(), X, Y, {"n_neighbors": NEIGHBOURS}, scoring=scoring, **settings)


def parts(found: NestedEstimate) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Training, tuning and estimation rows."""
    (fold,) = found.outer_folds
    (split,) = found.evaluation.folds.splits
    assert sorted([*split.train, *split.test]) == sorted(fold.training_rows)
    assert sorted([*split.train, *split.test, *fold.test_rows]) == list(range(len(Y)))
    return split.train, split.test, fold.test_rows


@pytest.mark.parametrize(("scoring", "score"), [("accuracy", accuracy_score), ("roc_auc", roc_auc_score)])
def test_it_is_tuned_on_one_part_and_scored_once_on_another(scoring, score) -> None:
    found = double(scoring)
    training, tuning, estimation = parts(found)
    assert (len(training), len(tuning), len(estimation)) == (80, 60, 60)

    def scored(k: int, train: np.ndarray, test: np.ndarray) -> float:
        model = KNeighborsClassifier(n_neighbors=k).fit(X[train], Y[train])
        predicted = model.predict(X[test]) if scoring == "accuracy" else model.predict_proba(X[test])[:, 1]
        return score(Y[test], predicted)

    by_tuning = [scored(k, training, tuning) for k in NEIGHBOURS]
    winner = int(np.argmax(by_tuning))
    assert found.outer_folds[0].inner_scores == pytest.approx(by_tuning)
    assert found.selected == found.outer_folds[0].selected == found.outer_folds[0].tested == winner
    assert found.uncorrected == pytest.approx(max(by_tuning))
    assert found.value == pytest.approx(scored(NEIGHBOURS[winner], np.r_[training, tuning], estimation))
    assert found.n_fits == 4 + 1 + 1  # each configuration once, the winner on both parts, the winner on all rows
    deployed = KNeighborsClassifier(n_neighbors=NEIGHBOURS[winner]).fit(X, Y)
    np.testing.assert_array_equal(found.model.predict_proba(X), deployed.predict_proba(X))


def test_the_interval_of_an_accuracy_is_the_exact_binomial_one_of_the_estimation_rows() -> None:
    found = double(confidence_level=0.9)
    right = round(found.value * 60)
    assert found.interval.low == pytest.approx(beta.ppf(0.05, right, 60 - right + 1))
    assert found.interval.high == pytest.approx(beta.ppf(0.95, right + 1, 60 - right))
    assert found.provenance["interval"] == "test_part"
    assert found.provenance["interval_of_test_part"] == "clopper_pearson"
    assert "clopper1934" in found.provenance["sources"] and "one model" in found.provenance["quantity"]
    bound = double(confidence_level=0.9, alternative="greater")
    assert [*bound.interval] == pytest.approx([beta.ppf(0.1, right, 60 - right + 1), 1.0])
    assert set(found.flags) == {"incomplete_predictions"}


def test_the_interval_of_an_area_is_delongs() -> None:
    found = double("roc_auc")
    fold = found.outer_folds[0]
    model = KNeighborsClassifier(n_neighbors=NEIGHBOURS[fold.tested]).fit(
        X[fold.training_rows], Y[fold.training_rows]
    )
    scores, positive = model.predict_proba(X[fold.test_rows])[:, 1], Y[fold.test_rows] == 1
    right = (scores[positive][:, None] > scores[~positive][None]) + 0.5 * (
        scores[positive][:, None] == scores[~positive][None]
    )
    error = math.sqrt(
        right.mean(axis=1).var(ddof=1) / positive.sum() + right.mean(axis=0).var(ddof=1) / (~positive).sum()
    )
    assert found.value == pytest.approx(right.mean())
    assert found.standard_error == pytest.approx(error)
    reach = norm.ppf(0.975) * error
    assert [*found.interval] == pytest.approx([right.mean() - reach, min(right.mean() + reach, 1.0)])


@pytest.mark.parametrize("scoring", ["f1", "neg_log_loss"])
def test_other_metrics_are_bootstrapped_on_the_estimation_rows(scoring) -> None:
    found = double(scoring)
    assert found.provenance["interval_of_test_part"] == "naive_bootstrap"
    assert found.interval.low < found.value < found.interval.high
    assert found.to_dict() == double(scoring).to_dict()


def test_rows_that_are_no_independent_ones_are_drawn_in_their_groups_or_with_their_weights() -> None:
    groups = np.repeat(np.arange(50), 4)
    found = double(groups=groups)
    training, tuning, estimation = (set(groups[rows]) for rows in parts(found))
    assert not (training & tuning or training & estimation or tuning & estimation)
    assert found.provenance["interval_of_test_part"] == "naive_bootstrap"


def test_an_area_of_one_still_has_an_interval() -> None:
    column = np.linspace(0, 1, 60)[:, None]
    y = (column[:, 0] > 0.5).astype(int)
    found = ho.nested_cv(
        KNeighborsClassifier(), column, y, {"n_neighbors": [5, 7]}, scoring="roc_auc",
        cv=ho.protocols.hold_out(0.3), inner="holdout", random_state=0,
    )  # fmt: skip
    assert found.value == 1.0 and 0.5 < found.interval.low < 1.0
    assert found.provenance["interval_of_test_part"] == "naive_bootstrap"


def test_a_scorer_that_cannot_be_opened_has_no_interval_and_says_why() -> None:
    with pytest.warns(ho.HeldoutWarning, match="No bound"):
        found = double(lambda model, X, y: float(model.score(X, y)))
    assert found.value == double().value and np.isnan([*found.interval]).all() and "no_bound" in found.flags


def test_one_choice_for_all_outer_folds_is_that_of_the_only_one() -> None:
    found = double(across="all")
    assert "selection_uncorrected" not in found.flags and found.to_dict() == double().to_dict()


def test_repeated_hold_outs_have_a_tuning_part_each() -> None:
    found = double(cv=ho.protocols.repeated_hold_out(3, 0.3))
    assert found.n_fits == 3 * 4 + 3 + 4 + 1 and found.provenance["interval"] == "nadeau_bengio"


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"cv": ho.protocols.hold_out(0.5)}, "`inner='holdout'` holds out as many rows as the outer split tests"),
        ({"inner": "remaining"}, r"use another `cv`, or `inner='holdout'` \(a development set\) or `inner=3`"),
        ({"cv": 4, "interval": "test_part"}, "`interval='test_part'` is for a single outer split, and here are 4"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(settings, said) -> None:
    with pytest.raises(ho.InputError, match=said):
        double(**settings)
