"""``HeldOutOptunaSearchCV``: the trials of a hand-written loop, reproducible, with an estimate."""

import inspect
import pickle
from typing import Any

import numpy as np
import optuna
import pytest
from optuna.distributions import FloatDistribution, IntDistribution
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import GroupKFold, StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import heldout as ho
from heldout._streams import numpy_seed
from heldout.search.optuna.sampler import quiet

X, Y = load_iris(return_X_y=True)
X, Y = X[::2, :2], Y[::2]
TREE = DecisionTreeClassifier(random_state=0)
SPACE = {"max_depth": IntDistribution(1, 8), "ccp_alpha": FloatDistribution(1e-4, 0.1, log=True)}
SETTINGS: dict[str, Any] = {"cv": 3, "n_bootstraps": 20, "random_state": 0}


def search_of(space: Any = SPACE, n_trials: int = 14, **more: Any) -> Any:
    """A fitted search."""
    estimator = more.pop("estimator", TREE)
    return ho.HeldOutOptunaSearchCV(estimator, space, n_trials=n_trials, **{**SETTINGS, **more}).fit(X, Y)


@pytest.fixture(scope="module")
def found() -> Any:
    """The usual search; tests only read it."""
    return search_of()


def params_of(study: Any) -> list[dict[str, Any]]:
    return [trial.params for trial in study.trials]


@pytest.mark.parametrize("sampler", [None, optuna.samplers.RandomSampler()])
def test_trials_are_those_of_a_hand_written_loop(sampler: Any) -> None:
    with quiet():
        study = optuna.create_study(direction="maximize", sampler=clone(sampler, safe=False))
    for number in range(14):
        for part in (study.sampler, getattr(study.sampler, "_random_sampler", None)):
            if part is not None:
                part._rng.rng.seed(numpy_seed(0, "trial", number))
        trial = study.ask(SPACE)
        model = clone(TREE).set_params(**trial.params)
        study.tell(trial, cross_val_score(model, X, Y, cv=StratifiedKFold(3)).mean())
    search = search_of(sampler=sampler)
    assert params_of(search.study_) == params_of(study)
    assert search.best_params_ == study.best_params
    assert search.cv_results_["params"] == params_of(study)
    np.testing.assert_allclose(
        [trial.value for trial in search.study_.trials], [trial.value for trial in study.trials]
    )
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], [trial.value for trial in study.trials])
    assert search.best_score_ == pytest.approx(study.best_value, abs=1e-12)


def test_the_study_has_the_scores_of_the_splits(found: Any) -> None:
    for trial in found.study_.trials:
        row = trial.user_attrs["configuration"]
        of_splits = [found.cv_results_[f"split{fold}_test_score"][row] for fold in range(3)]
        np.testing.assert_allclose(list(trial.intermediate_values.values()), of_splits)
    assert len(found.study_.trials) == 14
    assert found.study_.direction.name == "MAXIMIZE"


def test_the_estimate_is_corrected_and_flagged(found: Any) -> None:
    assert ho.Flag("adaptive_search") in found.estimate_.flags
    assert found.corrected_score_ < found.best_score_
    assert found.predictions_.adaptive
    assert found.best_estimator_.get_params()["max_depth"] == found.best_params_["max_depth"]
    assert found.predict(X).shape == Y.shape


def equal_bits(one: Any, other: Any) -> None:
    """The same trials, table, winner and estimate."""
    assert params_of(one.study_) == params_of(other.study_)
    assert [trial.value for trial in one.study_.trials] == [trial.value for trial in other.study_.trials]
    assert [trial.state for trial in one.study_.trials] == [trial.state for trial in other.study_.trials]
    for name, column in one.cv_results_.items():
        if "time" not in name:
            np.testing.assert_array_equal(column, other.cv_results_[name], err_msg=name)
    assert one.best_index_ == other.best_index_
    assert one.estimate_.to_dict() == other.estimate_.to_dict()


def test_equal_seeds_give_equal_searches_for_any_n_jobs(found: Any) -> None:
    equal_bits(found, search_of(n_jobs=2))
    equal_bits(search_of(batch_size=4), search_of(batch_size=4, n_jobs=2))
    assert params_of(search_of(n_trials=2, random_state=1).study_) != params_of(found.study_)[:2]


def test_a_batch_is_proposed_before_its_scores(found: Any) -> None:
    batch = search_of(batch_size=14)
    assert params_of(found.study_)[:10] == params_of(batch.study_)[:10]  # drawn at random
    assert params_of(found.study_) != params_of(batch.study_)


def suggest_model(trial: Any) -> Any:
    """Several models in one conditional space."""
    if trial.suggest_categorical("kind", ["svm", "neighbors"]) == "svm":
        return SVC(C=trial.suggest_float("C", 0.1, 10, log=True))
    return KNeighborsClassifier(trial.suggest_int("n_neighbors", 1, 20))


def test_a_function_may_return_estimators() -> None:
    search = search_of(suggest_model, n_trials=6)
    assert search.cv_results_["params"] == params_of(search.study_)
    kinds = {"svm": SVC, "neighbors": KNeighborsClassifier}
    assert type(search.best_estimator_) is kinds[search.best_params_["kind"]]
    for trial in search.study_.trials:
        model = suggest_model(optuna.trial.FixedTrial(trial.params))
        assert trial.value == pytest.approx(cross_val_score(model, X, Y, cv=StratifiedKFold(3)).mean())


def test_a_function_may_return_parameters() -> None:
    search = search_of(lambda trial: {"max_depth": 2 ** trial.suggest_int("power", 0, 3)}, n_trials=4)
    assert [params["max_depth"] for params in search.cv_results_["params"]] == [
        2 ** trial.params["power"] for trial in search.study_.trials
    ]


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


def test_several_models_are_searched_together() -> None:
    models = [("tree", TREE, SPACE), ("neighbors", KNeighborsClassifier(), {"n_neighbors": [1, 5, 9]})]
    search = search_of(None, estimator=models, n_trials=6)
    assert {params["model"] for params in search.cv_results_["params"]} == {"tree", "neighbors"}
    assert "neighbors__n_neighbors" in {name for params in params_of(search.study_) for name in params}


def test_trials_that_fail_are_told_so_and_the_search_goes_on() -> None:
    def suggest(trial: Any) -> Any:
        depth = trial.suggest_int("max_depth", 1, 8)
        if trial.number == 1:
            raise RuntimeError("out of order")
        return {"max_depth": -1 if trial.number == 3 else depth}

    with pytest.warns(UserWarning) as caught:
        search = search_of(suggest, n_trials=5)
    sentences = [str(each.message) for each in caught]
    assert any("1 of 4 configurations failed" in sentence for sentence in sentences)
    assert any("1 of 5 trials proposed nothing" in sentence for sentence in sentences)
    assert [trial.state.name for trial in search.study_.trials] == [
        "COMPLETE",
        "FAIL",
        "COMPLETE",
        "FAIL",
        "COMPLETE",
    ]
    assert "max_depth" in search.study_.trials[3].user_attrs["failure"]
    assert len(search.cv_results_["params"]) == 4


def test_if_all_fail_there_is_no_winner() -> None:
    with pytest.raises(ho.InputError, match=r"none of 3 trials proposed anything .*KeyError: 'no'"):
        search_of(lambda trial: {}["no"], n_trials=3)
    with pytest.raises(ho.InputError, match="all 3 configurations failed"):
        search_of({"max_depth": [-1, -2]}, n_trials=3)


def test_dropped_trials_are_pruned() -> None:
    models = [
        ("constant", DummyClassifier(), {}),
        ("tree", DecisionTreeClassifier(max_depth=3, random_state=0), {}),
    ]
    search = search_of(None, estimator=models, n_trials=6, drop="bootstrap", cv=10)
    states = [trial.state.name for trial in search.study_.trials]
    dropped = search.cv_results_["dropped_at_split"] >= 0
    assert [state == "PRUNED" for state in states] == dropped.tolist()
    assert dropped.any()
    assert {search.cv_results_["params"][row]["model"] for row in np.flatnonzero(dropped)} == {"constant"}
    for trial, number in zip(search.study_.trials, search.cv_results_["n_splits_evaluated"], strict=True):
        assert len(trial.intermediate_values) == number
        assert ("dropped" in trial.user_attrs) == (number < 10)


def test_losses_and_several_scorers() -> None:
    search = search_of(scoring=["neg_log_loss", "accuracy"], refit="neg_log_loss", n_trials=4)
    assert search.study_.best_value == pytest.approx(search.best_score_)
    assert search.study_.best_value < 0
    assert set(search.estimates_) == {"neg_log_loss", "accuracy"}


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"space": {}}, "space is empty"),
        ({"n_trials": 0}, "'n_trials' parameter"),
        ({"timeout": 0}, "'timeout' parameter"),
        ({"batch_size": 0}, "'batch_size' parameter"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(more: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        search_of(**more)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("param_grid", "`param_grid=` is named `space=` here"),
        ("n_iter", "`n_iter=` is named `n_trials=` here"),
        ("pruner", "`pruner=` is no argument here; `drop='bootstrap'` prunes"),
    ],
)
def test_names_of_other_searches_are_refused(name: str, sentence: str) -> None:
    with pytest.raises(TypeError, match=sentence):
        ho.HeldOutOptunaSearchCV(TREE, **{name: 3})


def test_searches_are_cloned_and_pickled() -> None:
    search = search_of(sampler=optuna.samplers.TPESampler(n_startup_trials=3), n_trials=6)
    again = pickle.loads(pickle.dumps(search))
    assert params_of(again.study_) == params_of(search.study_)
    assert again.best_params_ == search.best_params_
    copy = clone(search)
    assert copy.get_params()["n_trials"] == 6
    assert not hasattr(copy, "study_")
    equal_bits(copy.fit(X, Y), search)
    first = copy.study_
    equal_bits(copy.fit(X, Y), search)
    assert copy.study_ is not first, "a new study for every fit"


def test_a_failed_fit_leaves_no_fitted_search() -> None:
    search = ho.HeldOutOptunaSearchCV(TREE, {"max_depth": [-1]}, n_trials=2, **SETTINGS)
    with pytest.raises(ho.InputError):
        search.fit(X, Y)
    assert not hasattr(search, "study_")


def test_what_optuna_plots_can_be_read(found: Any) -> None:
    from optuna.importance import get_param_importances
    from optuna.visualization._contour import _get_contour_info
    from optuna.visualization._intermediate_values import _get_intermediate_plot_info
    from optuna.visualization._optimization_history import _get_optimization_history_info_list
    from optuna.visualization._parallel_coordinate import _get_parallel_coordinate_info
    from optuna.visualization._slice import _get_slice_plot_info

    study = found.study_
    (history,) = _get_optimization_history_info_list(study, None, "score", False)
    assert history.values_info.values == [trial.value for trial in study.trials]
    assert len(_get_intermediate_plot_info(study).trial_infos) == 14
    assert len(_get_slice_plot_info(study, None, None, "score").subplots) == 2
    assert _get_contour_info(study).sorted_params == ["ccp_alpha", "max_depth"]
    assert len(_get_parallel_coordinate_info(study).dims_params) == 2
    with quiet():  # experimental in Optuna 4
        evaluator = optuna.importance.PedAnovaImportanceEvaluator()
    assert set(get_param_importances(study, evaluator=evaluator)) == set(SPACE)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "optuna", None)
    with pytest.raises(ImportError, match=r"A search with Optuna needs packages of the extra 'optuna'"):
        search_of()


def test_groups_and_weights_reach_folds_fits_and_scores_as_in_the_search_of_a_grid() -> None:
    more = {**SETTINGS, "cv": GroupKFold(3)}
    weights = {"sample_weight": np.linspace(0.5, 2, len(Y)), "groups": np.arange(len(Y)) % 15}
    search = ho.HeldOutOptunaSearchCV(TREE, SPACE, n_trials=3, **more).fit(X, Y, **weights)
    tried = [{name: [value] for name, value in params.items()} for params in params_of(search.study_)]
    of_grid = ho.HeldOutSearchCV(TREE, tried, **more).fit(X, Y, **weights)
    for name in ("split0_test_score", "mean_test_score"):
        np.testing.assert_array_equal(search.cv_results_[name], of_grid.cv_results_[name])
    assert search.corrected_score_ == of_grid.corrected_score_
    plain = ho.HeldOutOptunaSearchCV(TREE, SPACE, n_trials=3, **SETTINGS).fit(X, Y)
    assert list(plain.cv_results_["split0_test_score"]) != list(search.cv_results_["split0_test_score"])
