"""Protocols repeat a search with Optuna as a whole, on the rows that they train on."""

import inspect
from typing import Any

import numpy as np
import optuna
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold, RandomizedSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from stored_optuna import X, Y

import heldout as ho
from heldout.search.optuna.sampler import quiet

SPACE = {
    "max_depth": optuna.distributions.IntDistribution(1, 8),
    "min_samples_leaf": optuna.distributions.IntDistribution(1, 9),
}
SEARCH = ho.HeldOutOptunaSearchCV(
    DecisionTreeClassifier(random_state=0), SPACE, n_trials=5, cv=3, n_bootstraps=20, random_state=0
)
FOLDS = KFold(3, shuffle=True, random_state=0)


@pytest.mark.parametrize("estimator", [SEARCH, make_pipeline(StandardScaler(), SEARCH)], ids=["search", "pipeline"])
def test_nested_cross_validation_repeats_the_whole_search(estimator: Any) -> None:
    nested = ho.nested_cv(estimator, X, Y, cv=FOLDS, random_state=0)
    scores = cross_val_score(clone(estimator), X, Y, cv=FOLDS)
    assert nested.value == pytest.approx(np.mean(scores))


def test_a_protocol_refuses_a_study_that_knows_other_rows() -> None:
    with quiet():
        study = optuna.create_study(direction="maximize")
    with pytest.raises(ho.InputError, match="leave study out"):
        ho.nested_cv(clone(SEARCH).set_params(study=study), X, Y, cv=FOLDS)


def test_it_has_every_parameter_of_the_random_search() -> None:
    random = inspect.signature(ho.HeldOutRandomizedSearchCV).parameters
    ours = inspect.signature(ho.HeldOutOptunaSearchCV).parameters
    # Proposals end by themselves, each after all its folds: no width of an interval stops them. Which of them
    # compete is known at the end, when the workers are gone.
    own = {"param_distributions", "n_iter", "stop_when_width", "training_size_correction"}
    assert set(random) - own <= set(ours)
    assert all(
        ours[name].default == each.default
        for name, each in random.items()
        if name in ours and name != "error_score"
    )


def test_a_user_of_the_random_search_changes_the_class() -> None:
    space = {"max_depth": [1, 2, 3, 4]}
    theirs = RandomizedSearchCV(DecisionTreeClassifier(random_state=0), space, n_iter=4, cv=3, random_state=0)
    ours = ho.HeldOutOptunaSearchCV(
        DecisionTreeClassifier(random_state=0), space, n_trials=12, cv=3, random_state=0
    )
    with quiet():
        ours.fit(X, Y)
    assert ours.best_score_ == pytest.approx(theirs.fit(X, Y).best_score_)  # all four were tried
    assert ours.corrected_score_ < ours.best_score_
