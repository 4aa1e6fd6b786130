"""Results of ``cross_validate`` of several models are corrected as a search over these models would have been."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import (
    HalvingRandomSearchCV,
    KFold,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    cross_validate,
)
from sklearn.tree import DecisionTreeClassifier

import heldout as ho

X, Y = make_classification(120, 8, n_informative=3, flip_y=0.2, random_state=0)
MODELS = {f"depth {depth}": DecisionTreeClassifier(max_depth=depth, random_state=0) for depth in (1, 2, 3, 5)}
ASKED: dict[str, Any] = {"n_bootstraps": 60, "random_state": 3}


def results(cv: Any = StratifiedKFold(5), **settings: Any) -> dict[str, Any]:  # noqa: B008 - it keeps no state
    return {name: cross_validate(model, X, Y, cv=cv, **settings) for name, model in MODELS.items()}


def test_it_is_the_estimate_of_a_search_over_these_models() -> None:
    searched = ho.HeldOutSearchCV(
        [(name, model, {}) for name, model in MODELS.items()], cv=StratifiedKFold(5), method="bbc_f", **ASKED
    ).fit(X, Y)
    found, theirs = ho.correct(results(), **ASKED), searched.estimate_
    assert (found.value, found.interval, found.selected) == (theirs.value, theirs.interval, theirs.selected)
    assert found.uncorrected == theirs.uncorrected and found.selected_name == list(MODELS)[found.selected]
    assert ho.correct(results(), method="tt").uncorrected == theirs.uncorrected


def test_the_metric_selects_where_there_are_several() -> None:
    several = results(scoring=["accuracy", "roc_auc"])
    by_auc = ho.correct(several, metric="roc_auc", **ASKED)
    means = {name: result["test_roc_auc"].mean() for name, result in several.items()}
    assert by_auc.metric == "roc_auc" and by_auc.selected_name == max(means, key=lambda name: means[name])
    with pytest.raises(ho.InputError, match="several scores, 'accuracy', 'roc_auc'; name the one that selects"):
        ho.correct(several)
    with pytest.raises(ho.InputError, match="metric must be one of the search's scores"):
        ho.correct(several, metric="f1")


def test_indices_tell_repeats_and_models_on_other_rows() -> None:
    repeated = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    told = results(repeated, return_indices=True)
    assert ho.correct(told, **ASKED).provenance["n_repeats"] == 2
    assert ho.correct(results(repeated), **ASKED).provenance["n_repeats"] == 1
    shuffled = cross_validate(
        MODELS["depth 1"], X, Y, cv=KFold(6, shuffle=True, random_state=1), return_indices=True
    )
    with pytest.raises(
        ho.InputError, match=r"other was tested on other rows than depth 1; give every model the same"
    ):
        ho.correct({**told, "other": shuffled})


def test_a_halving_by_random_draws_is_corrected_by_its_last_rung() -> None:
    search = HalvingRandomSearchCV(
        DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2, 3, 4, 5, 6]}, cv=4, factor=2, n_candidates=6,
        min_resources=40, random_state=0,
    ).fit(X, Y)  # fmt: skip
    found = ho.correct(search, method="tt")
    assert found.uncorrected == pytest.approx(search.best_score_) and ho.Flag.ADAPTIVE_SEARCH in found.flags
    assert found.provenance["n_configurations"] == int(
        (search.cv_results_["iter"] == search.n_iterations_ - 1).sum()
    )


ONE = {"test_score": np.array([0.5, 0.6])}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            ONE,
            r"the results of one model, which was not selected among others; give .* as \{'name': cross_validate\(",
        ),
        ({}, "a mapping of several names is needed, got"),
        ({"a": 5}, "the results of a are 5; give"),
        ({"a": {"fit_time": [1.0]}}, r"the results of a hold no test_\* scores"),
        ({"a": {"test_score": ["x", "y"]}}, "test_score of a must hold a number for each split"),
        (
            {"a": ONE, "b": {"test_score": [0.5, 0.6, 0.7]}},
            "b has 3 splits and a has 2; give every model the same cv",
        ),
        ({"a": ONE, "b": {"test_f1": [0.5, 0.6]}}, "the models have no score in common"),
        ({"a": {**ONE, "indices": 3}}, "the indices of a must be those of return_indices=True, got 3"),
        ({1: ONE, "1": ONE}, "a mapping of several names is needed"),
    ],
)
def test_what_cannot_be_compared_is_refused(given: Any, message: str) -> None:
    with pytest.raises(ho.InputError, match=message):
        ho.correct(given)


def test_splits_that_are_not_known_to_be_the_same_are_flagged() -> None:
    unseeded = ho.correct(results(KFold(5, shuffle=True)), **ASKED)
    assert "the results came without indices" in unseeded.flags[ho.Flag.SPLITS_UNKNOWN]
    known = results(return_indices=True)
    assert ho.Flag.SPLITS_UNKNOWN not in ho.correct(known, **ASKED).flags
    known["depth 2"].pop("indices")
    assert "those of 'depth 2' came without indices" in ho.correct(known, **ASKED).flags[ho.Flag.SPLITS_UNKNOWN]
    with pytest.raises(ho.InputError, match="tested on other rows"):
        ho.correct(results(KFold(5, shuffle=True), return_indices=True), **ASKED)
