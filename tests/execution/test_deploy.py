"""``deploy="bounded"``: the model that one hold-out tested, and not one fitted on all rows."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

import heldout as ho
from heldout.errors import InputError

X, Y = load_breast_cancer(return_X_y=True)
GRID = {"n_neighbors": [1, 5, 15]}


def test_the_model_is_that_of_the_training_part() -> None:
    hold_out = ho.protocols.hold_out(0.3, random_state=1)
    search = ho.HeldOutSearchCV(
        KNeighborsClassifier(), GRID, cv=hold_out, method="hoeffding", deploy="bounded", random_state=0
    ).fit(X, Y)
    ((train, test),) = hold_out.split(X, Y)
    scores = [
        KNeighborsClassifier(n_neighbors=k).fit(X[train], Y[train]).score(X[test], Y[test])
        for k in GRID["n_neighbors"]
    ]
    assert search.best_index_ == int(np.argmax(scores))
    assert search.best_estimator_.n_samples_fit_ == len(train)
    # The bound is of this very model: its score on the test part, ± √(ln(2 · 3 / .05) / (2n)).
    assert search.best_estimator_.score(X[test], Y[test]) == search.estimate_.value
    half = np.sqrt(np.log(2 * 3 / 0.05) / (2 * len(test)))
    assert search.confidence_interval_.low == pytest.approx(search.estimate_.value - half, abs=1e-12)
    assert search.evaluation_.provenance["deploy"] == "bounded"
    whole = ho.HeldOutSearchCV(KNeighborsClassifier(), GRID, cv=hold_out, random_state=0).fit(X, Y)
    assert whole.best_estimator_.n_samples_fit_ == len(Y)
    assert whole.evaluation_.provenance["deploy"] == "all"


def test_random_models_are_those_that_were_tested() -> None:
    hold_out = ho.protocols.hold_out(0.3, random_state=1)
    search = ho.HeldOutRandomizedSearchCV(
        RandomForestClassifier(5), {"max_depth": [1, 3]}, n_iter=2, cv=hold_out, method=None, deploy="bounded"
    ).fit(X[:200], Y[:200])
    ((_, test),) = hold_out.split(X[:200], Y[:200])
    assert search.best_estimator_.score(X[test], Y[test]) == search.best_score_


def test_it_needs_one_split_and_a_model() -> None:
    with pytest.raises(InputError, match="deploys the model that one hold-out tested, and here are 5 splits"):
        ho.HeldOutSearchCV(KNeighborsClassifier(), GRID, deploy="bounded").fit(X, Y)
    with pytest.raises(InputError, match="needs a model to deploy, got `refit=False`"):
        ho.HeldOutSearchCV(
            KNeighborsClassifier(), GRID, cv=ho.protocols.hold_out(), deploy="bounded", refit=False
        ).fit(X, Y)
    with pytest.raises(ValueError, match="The 'deploy' parameter"):
        ho.HeldOutSearchCV(KNeighborsClassifier(), GRID, deploy="tested").fit(X, Y)


def test_a_protocol_refuses_it() -> None:
    search = ho.HeldOutSearchCV(KNeighborsClassifier(), GRID, cv=ho.protocols.hold_out(), deploy="bounded")
    for protocol in (ho.nested_cv, ho.bootstrap_search, ho.protocols.learning_curve):
        with pytest.raises(InputError, match="a protocol deploys the winner of its search on all rows"):
            protocol(search, X, Y)


def test_an_open_search_takes_it() -> None:
    run = ho.open_search(X, Y, cv=ho.protocols.hold_out(0.3, random_state=1), random_state=0, deploy="bounded")
    run.evaluate(KNeighborsClassifier(5))
    run.evaluate(KNeighborsClassifier(15))
    assert run.finish().model.n_samples_fit_ == 398


def test_nesting_with_development_sets_says_what_it_deploys() -> None:
    model, grid = LogisticRegression(), {"C": [0.1, 1.0]}
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2
    flagged = ho.nested_cv(model, X, y, grid, inner="holdout", random_state=0)
    assert "chosen by all 5 folds of the rows" in flagged.flags[ho.estimates.Flag.OTHER_CHOICE_DEPLOYED]
    for inner in ("remaining", 3):
        found = ho.nested_cv(model, X, y, grid, inner=inner, random_state=0)
        assert "other_choice_deployed" not in {str(flag) for flag in found.flags}
