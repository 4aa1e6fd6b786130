"""Overtuning: the curve by hand, the default configuration beside searches of every kind, and refusals."""

import warnings
from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import TimeSeriesSplit
from sklearn.neighbors import KNeighborsClassifier

import heldout as ho
from heldout.errors import InputError
from heldout.estimates.from_matrix import gather
from heldout.estimates.paired.overtuning import overtuning
from heldout.estimates.paired.scores import PairedScores, paired_scores
from heldout.report.facts import facts

X, Y = make_classification(120, 6, n_informative=3, flip_y=0.2, random_state=0)
GRID = {"C": [1e-4, 1e-2, 1.0, 100.0]}


def search(**settings: Any) -> ho.HeldOutSearchCV:
    settings = {"scoring": "accuracy", "random_state": 0, "n_bootstraps": 60} | settings
    return ho.HeldOutSearchCV(LogisticRegression(), settings.pop("grid", GRID), **settings)


class Halting(LogisticRegression):
    """Counts its fits, and fails where C is negative; no fit serves two configurations."""

    fits = 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        Halting.fits += 1
        return super().fit(X, y, sample_weight)


def test_the_curve_by_hand() -> None:
    """Two bootstraps of three configurations; the second is the default."""
    scores = PairedScores(
        in_bag=np.array([[0.6, 0.7, 0.8], [0.7, 0.6, 0.65]]),
        out_of_bag=np.array([[0.5, 0.9, 0.6], [0.8, 0.7, 0.9]]),
        observed=np.array([0.66, 0.64, 0.7]),
        chosen=np.array([2, 0]),
        winner=2,
    )
    found = overtuning(scores, "accuracy", greater_is_better=True, takes_control=False, default=1)
    # The best so far of the bootstraps: configurations 0, 1, 2 and 0, 0, 0.
    assert found.n_configurations.tolist() == [1, 2, 3]
    assert found.corrected == pytest.approx([(0.5 + 0.8) / 2, (0.9 + 0.8) / 2, (0.6 + 0.8) / 2])
    assert found.uncorrected == pytest.approx([0.66, 0.66, 0.7])
    assert found.overtuning == pytest.approx(0.85 - 0.7)
    assert found.enough == 2
    assert found.default.observed == pytest.approx(0.7 - 0.64)
    assert found.default.gain == pytest.approx(((0.6 - 0.9) + (0.8 - 0.7)) / 2)
    assert found.default.standard_error == pytest.approx(np.std([0.8 - 0.7, 0.65 - 0.6], ddof=1))
    assert np.isnan(found.default.probability_worse)  # the three differ by less than their noise
    assert "so which of the two is worse is not known" in found.sentence_on_default


@pytest.mark.parametrize(
    "settings",
    [
        {"scoring": "neg_log_loss"},
        {"repeats": 2, "aggregate": "pooled"},
        {"repeats": 3, "stop_when_width": 0.5},
        {"drop": "sequential"},
        {"cv": TimeSeriesSplit(4)},
    ],
    ids=str,
)
def test_a_default_beside_the_search_is_predicted_as_if_it_were_a_candidate(settings: dict[str, Any]) -> None:
    found = search(default={"C": 0.3}, **settings).fit(X, Y).evaluation_
    labels = found.folds_read.labels
    for response, of_search in found.predictions.responses.items():
        of_default = found.default.predictions.responses[response]
        assert of_default.shape[0] == of_search.shape[0] == len(labels)
        assert of_default.shape[2:] == of_search.shape[2:]
        known = of_default[:, 0] != -1 if of_default.dtype == np.int32 else ~np.isnan(of_default[:, 0])
        assert (known.reshape(*labels.shape, -1).all(axis=2) == (labels >= 0)).all()
    split = found.folds_read.splits[-1]
    model = LogisticRegression(C=0.3).fit(X[split.train], Y[split.train])
    column = found.folds_read.columns[split.repeat]
    for response, of_default in found.default.predictions.responses.items():
        if of_default.dtype == np.int32:
            assert (of_default[split.test, 0, column] == model.predict(X[split.test])).all(), response
    assert found.overtuning.default.name == "LogisticRegression (C=0.3)"
    assert len(found.overtuning.n_configurations) <= len(GRID["C"])


def test_a_default_among_the_candidates_takes_no_fit() -> None:
    named, passed = search(default={"C": 1.0}).fit(X, Y), search().fit(X, Y)
    assert named.n_fits_ == passed.n_fits_ == 20
    assert named.evaluation_.default.position == 2
    # The estimator as it was passed has C=1 too.
    assert named.evaluation_.overtuning.default == passed.evaluation_.overtuning.default
    assert search(grid={"C": [1e-4, 5.0]}).fit(X, Y).evaluation_.overtuning.default is None


def test_a_default_that_an_adaptive_search_proposes_too_is_its_own() -> None:
    pytest.importorskip("optuna")
    space = {"n_neighbors": [3, 5, 9]}
    made = ho.HeldOutOptunaSearchCV(
        KNeighborsClassifier(), space, n_trials=9, random_state=0, n_bootstraps=50, default={"n_neighbors": 3}
    ).fit(X, Y)
    of = made.evaluation_.default
    assert made.evaluation_.configurations[of.position].params == {"n_neighbors": 3}
    places = [place for place, each in enumerate(made.cv_results_["params"]) if each == {"n_neighbors": 3}]
    assert of.position == places[0] and made.evaluation_.overtuning.default is not None


@pytest.mark.parametrize("missing", ["dropped", "failed"])
def test_a_default_without_a_score_says_why(missing: str) -> None:
    if missing == "dropped":
        model, grid, default = Halting(), {"C": [0.1, 1.0, 10.0, 1e-7]}, {"C": 1e-7}
    else:
        model, grid, default = Halting(), {"C": [0.1, 1.0, -1.0]}, {"C": -1.0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = ho.HeldOutSearchCV(
            model, grid, scoring="neg_log_loss", drop=ho.dropping.Aggressive(min_predictions=10), random_state=0,
            n_bootstraps=50, default=default,
        ).fit(X, Y)  # fmt: skip
    found = made.evaluation_.overtuning
    assert found.default is not None and np.isnan(found.default.gain)
    said = found.sentence_on_default
    assert said.startswith("The winner is not compared with the default configuration, Halting (C=")
    assert found.default.reason in said and len(found.default.reason) > 10


def test_a_rule_chooses_among_the_candidates_alone() -> None:
    """A default beside them, which the rule would often choose, does not change what it chooses."""
    grid, rule = {"C": [1e-4, 1e-3, 3e-3, 1e-2]}, "one_standard_error(complexity='C')"
    made = search(grid=grid, selection=rule, scoring="neg_log_loss", default={"C": 10.0}).fit(X, Y).evaluation_
    whole = search(grid={"C": [*grid["C"], 10.0]}, scoring="neg_log_loss").fit(X, Y).evaluation_
    alone, every = (paired_scores(gather(of.task.truth, of.predictions, of.question())) for of in (made, whole))
    lanes = np.arange(len(alone.chosen))
    gain = (every.out_of_bag[lanes, alone.chosen] - every.out_of_bag[lanes, 4]).mean()
    assert made.overtuning.default.gain == pytest.approx(gain, abs=1e-12)


def test_nothing_is_fitted_for_a_search_that_is_refused() -> None:
    Halting.fits = 0
    with pytest.raises(InputError, match="hoeffding_race"):
        ho.HeldOutSearchCV(
            Halting(), {"C": [0.1, 1.0]}, scoring="roc_auc", drop="hoeffding_race", default={"C": 3.0}
        ).fit(X, Y)
    assert Halting.fits == 0


def test_the_end_of_the_curve_is_bbc_of_the_same_draws() -> None:
    found = search(n_bootstraps=80, aggregate="pooled", scoring="neg_log_loss", method="bbc").fit(X, Y)
    assert found.evaluation_.overtuning.corrected[-1] == pytest.approx(found.estimate_.value, abs=1e-12)


def test_the_order_of_a_grid_means_nothing_and_that_of_a_random_search_does() -> None:
    """The mean over all orders, from the ranks, is that of all 24 orders one by one."""
    values = [1.0, 1e-4, 100.0, 1e-2]
    found, other = (search(grid={"C": grid}).fit(X, Y).evaluation_.overtuning for grid in (GRID["C"], values))
    assert not found.in_order
    assert found.corrected == pytest.approx(other.corrected, abs=1e-12)
    assert found.uncorrected == pytest.approx(other.uncorrected, abs=1e-12)
    assert found.sentence == other.sentence
    drawn = ho.HeldOutRandomizedSearchCV(
        LogisticRegression(), {"C": values}, n_iter=4, scoring="accuracy", random_state=0, n_bootstraps=60
    ).fit(X, Y)
    in_order = drawn.evaluation_.overtuning
    assert in_order.in_order
    best = np.maximum.accumulate(drawn.evaluation_.fold_scores["score"].values.mean(axis=0))
    assert in_order.uncorrected == pytest.approx(best)

    rng = np.random.default_rng(0)
    left_out, in_bag = rng.random((30, 4)), rng.random((30, 4))
    scores = PairedScores(in_bag.mean(axis=0), in_bag, left_out, in_bag.argmax(axis=1), 0)
    settings: dict[str, Any] = {"greater_is_better": True, "takes_control": False}
    mean = overtuning(scores, "accuracy", in_order=False, **settings)
    orders = [
        overtuning(
            PairedScores(scores.observed[each], in_bag[:, each], left_out[:, each], np.zeros(30, dtype=int), 0),
            "accuracy", **settings,
        )
        for each in map(list, permutations(range(4)))
    ]  # fmt: skip
    assert mean.corrected == pytest.approx(np.mean([each.corrected for each in orders], axis=0))
    assert mean.uncorrected == pytest.approx(np.mean([each.uncorrected for each in orders], axis=0))


def test_the_report_shows_what_further_search_gained_and_no_second_level() -> None:
    made = search(grid={"C": [*np.logspace(-5, 3, 12)]}).fit(X, Y)
    found, curve = made.evaluation_.overtuning, facts(made.evaluation_).overtuning
    assert curve.uncorrected[0] == curve.corrected[0] == 0
    assert curve.corrected == pytest.approx(found.corrected - found.corrected[0])
    assert "corrected" not in " ".join(curve.sentences)
    flat = replace(found, corrected=np.full(12, 0.77), in_order=False)
    assert flat.enough == 1
    assert "the best of 1 of 12 configurations (the mean over all ways to take them) was as good" in flat.sentence
    assert "0.77" not in flat.sentence


def test_a_regression_and_the_direction_of_a_loss() -> None:
    rng = np.random.default_rng(0)
    y = X @ rng.normal(size=6) + rng.normal(size=len(X))
    grid = {"alpha": [1.0, 1e4]}
    found = ho.HeldOutSearchCV(
        Ridge(), grid, scoring="neg_mean_squared_error", random_state=0, n_bootstraps=60, default={"alpha": 1e5}
    ).fit(X, y)
    against = found.evaluation_.overtuning.default
    assert against.gain > 0.5
    assert against.probability_worse < 0.01
    assert (
        "better than that of the default configuration, Ridge (alpha="
        in found.evaluation_.overtuning.sentence_on_default
    )


@pytest.mark.parametrize(
    ("default", "said"),
    [
        ([], "default must be a dict of parameters"),
        ("C", "default must be a dict of parameters"),
        ({"c": 1}, "the parameters do not fit the estimator: Invalid parameter 'c'"),
        ({"C": -1}, "the default configuration, LogisticRegression \\(C=-1\\), fails"),
    ],
)
def test_a_wrong_default_is_refused_in_a_sentence(default: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        search(default=default).fit(X, Y)
