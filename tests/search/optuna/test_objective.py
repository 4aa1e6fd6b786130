"""An objective for a study of a user keeps the predictions that ``ho.correct`` then reads."""

import gc
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pytest
from optuna.storages.journal import JournalFileBackend
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.tree import DecisionTreeClassifier
from stored_optuna import SPACE, CountedTree, X, Y

import heldout as ho
from heldout.search.optuna.sampler import quiet

TREE = DecisionTreeClassifier(random_state=0)


@pytest.fixture(autouse=True)
def _without_lines() -> Any:
    with quiet():
        yield


def suggest(trial: Any) -> dict[str, Any]:
    return {
        "max_depth": trial.suggest_int("max_depth", 1, 8),
        "ccp_alpha": trial.suggest_float("ccp_alpha", 0, 0.1),
    }


def new_study(direction: str = "maximize", **more: Any) -> Any:
    return optuna.create_study(direction=direction, sampler=optuna.samplers.TPESampler(seed=1), **more)


def objective_of(space: Any = suggest, estimator: Any = TREE, **more: Any) -> Any:
    return ho.optuna.objective(estimator, X, Y, space, **{"cv": 3, "random_state": 0, **more})


def test_trials_are_those_of_an_objective_with_cross_val_score() -> None:
    def by_hand(trial: Any) -> float:
        model = clone(TREE).set_params(**suggest(trial))
        return float(cross_val_score(model, X, Y, cv=StratifiedKFold(3)).mean())

    theirs, ours = new_study(), new_study()
    theirs.optimize(by_hand, n_trials=12)
    ours.optimize(objective_of(), n_trials=12)
    assert [trial.params for trial in ours.trials] == [trial.params for trial in theirs.trials]
    np.testing.assert_allclose([trial.value for trial in ours.trials], [trial.value for trial in theirs.trials])
    assert [len(trial.intermediate_values) for trial in ours.trials] == [3] * 12


def test_correct_reads_the_kept_predictions() -> None:
    study, objective = new_study(), objective_of()
    study.optimize(objective, n_trials=8)
    estimate = ho.correct(study, random_state=3, n_bootstraps=200)
    assert estimate.method == "shrinkage"
    assert ho.Flag("adaptive_search") in estimate.flags
    assert estimate.uncorrected == pytest.approx(study.best_value)
    assert estimate.value < estimate.uncorrected
    # The same as from a search over these configurations.
    tried = [{name: [value] for name, value in trial.params.items()} for trial in study.trials]
    of_grid = ho.HeldOutSearchCV(TREE, tried, cv=3, random_state=3, n_bootstraps=200).fit(X, Y)
    assert estimate.value == of_grid.corrected_score_
    assert ho.correct(study, method="bbc_f", random_state=3).method == "bbc_f"
    assert ho.Flag("adaptive_search") not in ho.correct(study, adaptive=False, random_state=3).flags
    with pytest.raises(ho.InputError, match="metric must be one of the search's scores"):
        ho.correct(study, metric="nonsense")


@pytest.mark.parametrize("has_store", [False, True])
def test_finish_gives_the_whole_evaluation(tmp_path: Path, has_store: bool) -> None:
    study, objective = new_study(), objective_of(store=tmp_path / "run.db" if has_store else None)
    study.optimize(objective, n_trials=6)
    found = objective.finish()
    assert found.configurations[found.winner].params == study.best_params
    assert found.model.predict(X).shape == Y.shape
    with pytest.raises(ho.InputError, match="this search is finished"):
        study.optimize(objective, n_trials=1)
    assert ho.correct(study).value == found.estimate.value


def test_another_study_has_only_its_scores() -> None:
    study = new_study()

    def by_hand(trial: Any) -> float:
        scores = cross_val_score(clone(TREE).set_params(**suggest(trial)), X, Y, cv=StratifiedKFold(3))
        for step, score in enumerate(scores):
            trial.report(float(score), step)
        return float(scores.mean())

    study.optimize(by_hand, n_trials=5)
    assert ho.correct(study, random_state=0).method == "bbc_f"


def test_predictions_live_as_long_as_their_study() -> None:
    study = new_study()
    study.optimize(objective_of(), n_trials=2)  # nobody else holds the objective
    gc.collect()
    assert ho.correct(study, n_bootstraps=20).method == "shrinkage"
    gone = weakref.ref(study)
    del study
    gc.collect()
    assert gone() is None


def test_dropped_trials_are_pruned_and_failed_ones_have_no_score() -> None:
    models = [("constant", DummyClassifier(), None), ("tree", TREE, {"max_depth": [3, -1]})]
    study = new_study()
    for params in (
        {"model": "tree", "tree__max_depth": 3},
        {"model": "constant"},
        {"model": "tree", "tree__max_depth": -1},
    ):
        study.enqueue_trial(params)
    study.optimize(objective_of(None, models, drop="bootstrap", cv=10), n_trials=3)
    assert [trial.state.name for trial in study.trials] == ["COMPLETE", "PRUNED", "FAIL"]
    assert "max_depth" in study.trials[2].user_attrs["failure"]
    assert study.trials[1].user_attrs["dropped"]
    with pytest.warns(UserWarning, match="1 of 3 configurations failed"):
        assert ho.correct(study, n_bootstraps=20).selected_name == "tree (max_depth=3)"


def test_it_keeps_the_predictions_of_one_study() -> None:
    study, objective = new_study(study_name="mine"), objective_of()
    study.optimize(objective, n_trials=2)
    with pytest.raises(ho.InputError, match="the predictions of one study, here 'mine', got 'other'; make another"):
        new_study(study_name="other").optimize(objective, n_trials=1)
    assert len(objective.finish().configurations) == 2


def test_another_objective_uses_the_store_of_a_closed_one(tmp_path: Path) -> None:
    study, store = new_study(), tmp_path / "run.db"
    first, second = objective_of(store=store), objective_of(store=store)
    study.optimize(first, n_trials=2)
    with pytest.raises(ho.InputError, match=r"which is this one; end the search that has it open by its finish"):
        study.optimize(second, n_trials=1)
    first.close()
    study.optimize(second, n_trials=2)  # with the trials of the first, although it could not read them at first
    assert len(second.finish().configurations) == 4


def test_threads_of_a_study_may_share_it() -> None:
    study, objective = new_study(), objective_of()
    study.optimize(objective, n_trials=6, n_jobs=2)
    assert sorted(trial.user_attrs["configuration"] for trial in study.trials) == list(range(6))


def test_a_study_that_is_loaded_again_reads_its_trials_from_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CountedTree, "n_fits", 0)
    storage = optuna.storages.JournalStorage(JournalFileBackend(str(tmp_path / "studies.log")))
    more = {"store": tmp_path / "run.db", "estimator": CountedTree()}
    new_study(storage=storage, study_name="s").optimize(objective_of(SPACE, **more), n_trials=5)
    assert CountedTree.n_fits == 5 * 3
    again = optuna.load_study(study_name="s", storage=storage, sampler=optuna.samplers.TPESampler(seed=2))
    objective = objective_of(SPACE, **more)
    again.optimize(objective, n_trials=2)
    assert CountedTree.n_fits == 7 * 3
    found = objective.finish()
    assert [one.params for one in found.configurations] == [trial.params for trial in again.trials]


def test_a_study_that_minimizes_is_refused() -> None:
    with pytest.raises(ho.InputError, match="study must maximize"):
        new_study("minimize").optimize(objective_of(), n_trials=2)


def test_an_error_of_suggest_is_raised_as_by_other_objectives() -> None:
    def broken(trial: Any) -> Any:
        raise RuntimeError("out of order")

    study = new_study()
    with pytest.raises(RuntimeError, match="out of order"):
        study.optimize(objective_of(broken), n_trials=2)
    study.optimize(objective_of(broken), n_trials=2, catch=RuntimeError)
    assert {trial.state.name for trial in study.trials} == {"FAIL"}


def test_folds_may_run_in_parallel() -> None:
    study, other = new_study(), new_study()
    study.optimize(objective_of(), n_trials=4)
    other.optimize(objective_of(n_jobs=2), n_trials=4)
    assert [trial.values for trial in study.trials] == [trial.values for trial in other.trials]
